"""What people read of a module: its names, its notes, its equations, and the shares of it that they ask for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from archcalc.core.assumptions import Assumption
from archcalc.core.count import Count

if TYPE_CHECKING:
    from archcalc.core.equations import System


@dataclass(frozen=True)
class Part:
    """A share of a module, such as one head's W_Q: shown, but outside every sum.

    `of` names the children that `copies` such shares make up, where they do.
    """

    name: str
    elements: Count
    shape: tuple[int, ...] | None = None
    of: tuple[str, ...] = ()
    copies: Count = field(default_factory=lambda: Count(1))


@dataclass(eq=False)
class Words:
    """Of one module: the names by which people ask for it, and what they are told of it."""

    title: str  # as a heading
    term: str  # as a term of a sum
    called: str = ""  # its full name, where there is room: the title may be shorter
    about: str = ""  # its output in a few words, beside the shape
    stands_for: tuple[str, ...] = ()  # the layers, by their names, in whose place it is
    whole_sequence: str = ""  # what in it reads other positions by another way than keys and values of a kernel
    equations: System | None = None  # what it computes
    parts: list[Part] = field(default_factory=list)
    notes: list[Assumption] = field(default_factory=list)  # shown under every report on the model
    doubts: list[Assumption] = field(default_factory=list)  # why a count of its parameters is not exact
    work_notes: list[Assumption] = field(default_factory=list)  # under reports of what it costs to run
    memory_notes: list[Assumption] = field(default_factory=list)  # and under reports of memory alone

    @property
    def full_name(self) -> str:
        """As textbooks call it: `masked self-attention`."""
        return self.called or self.title
