"""How much of a model is counted: the whole of it, or a part, with the names of the parts that are left out.

A checkpoint that sees images or predicts several tokens at once may be read in part. Every report carries its scope, so
that no count of a part passes for the model's size.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from archcalc.core.assumptions import Assumption, Topic
from archcalc.spec.units import rounded

WHOLE_MODEL = "whole model"
TRACED = "`params --trace` counts all that transformers builds"


class LeftOut(NamedTuple):
    """A part that is not counted, its parameters where they are known, and what it is needed for.

    `copies` are parameters that checkpoints may hold once more beside it: the tables of multi-token prediction."""

    part: str
    parameters: int | None = None
    needed: str = "always"
    copies: int | None = None

    def record(self) -> dict[str, Any]:
        copies = {} if self.copies is None else {"copies": self.copies}
        return {"part": self.part, "parameters": self.parameters, "needed": self.needed, **copies}

    def words(self) -> str:
        return f"{self.part} ({rounded(self.parameters)})" if self.parameters else self.part


def listed(parts: Iterable[LeftOut]) -> str:
    """`vision encoder and projector (407.5 M) and multi-token prediction (1 layer)`."""
    *first, last = (each.words() for each in parts)
    return f"{', '.join(first)} and {last}" if first else last


@dataclass(frozen=True)
class Scope:
    """`part` of the model called `of` is counted; without one, all of it is."""

    part: str = ""
    of: str = ""
    left_out: tuple[LeftOut, ...] = ()  # none of a whole model
    remedy: str = ""  # what counts the whole
    is_doubted: bool = False  # what was read takes something for granted, which the notes of a report say

    @property
    def name(self) -> str:
        """`text model of qwen3_vl`."""
        if not self.left_out:
            return WHOLE_MODEL
        return f"{self.part} of {self.of}" if self.of else self.part

    @property
    def runs_whole(self) -> bool:
        """Whether all is counted that inference needs: engines load layers that draft tokens only where asked to."""
        return all(each.needed == "drafts" for each in self.left_out)

    def headline(self) -> str:
        """One line shown with the answer; empty for a whole model."""
        if not self.left_out:
            return ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"partial count: only the {self.name}; not counted: {self.without()}{remedy}"

    def without(self) -> str:
        return listed(self.left_out)

    def exact(self, noun: str) -> Assumption:
        """`every count is exact`, or for a partial model what the count covers."""
        text = f"every {noun} is exact"
        if self.left_out:
            text = f"exact for the {self.name}; the parts left out are in no {noun}"
        if self.is_doubted:
            text += ", provided that what the notes take for granted is so"
        return Assumption(Topic.EXACTNESS, text)

    def record(self) -> dict[str, Any]:
        """For programs: the same keys for a whole model and for a part."""
        return {"scope": self.name, "left_out": [each.record() for each in self.left_out]}

    def columns(self) -> dict[str, str]:
        """For spreadsheets: two further columns, of a part alone."""
        return {"scope": self.name, "left_out": self.without()} if self.left_out else {}


WHOLE = Scope()
