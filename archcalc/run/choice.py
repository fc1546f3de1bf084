"""One value of a run, and where it comes from: asked for, or filled in for a reason.

    Choice("precision", "fp32", "fp32", Reason.MODEL, "everything in fp32, as the model's files say")

The choices of a run are its first line: what was asked for or stands in the model's files, then what was assumed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from archcalc.core.assumptions import Assumption, Topic
from archcalc.spec.option import flag_of

MODE_WORDS = {"train": "training", "infer": "inference", "forward": "forward pass"}  # as the first line names a mode


class Reason(StrEnum):
    """Why a run has a value."""

    ASKED = "asked"
    MODEL = "model"  # the model's own files or spec say so
    CODE = "code"  # the default of the engine or of the training code
    DEVICE = "device"  # what the device can do
    ARCHCALC = "archcalc"  # nobody says so: archcalc's choice


@dataclass(frozen=True)
class Choice:
    """`words` stand in the first line of an answer, where they are of use there, and `text` in its notes."""

    name: str  # of the option that sets it
    value: str | int | None
    words: str
    reason: Reason
    text: str = ""
    topic: Topic | None = None  # of the note, where it is not called as the option
    is_fixed: bool = False  # whether no option changes it

    def assumption(self) -> Assumption:
        """The note about it, with the option that changes it."""
        option = "" if self.is_fixed or self.reason is Reason.ASKED else flag_of(self.name)
        return Assumption(self.topic or Topic(self.name), self.text, self.value, option)

    def record(self) -> dict[str, Any]:
        """As programs read it."""
        return {"name": self.name, "value": self.value, "reason": str(self.reason), "text": self.text}


def notes_of(choices: Iterable[Choice]) -> tuple[Assumption, ...]:
    """The choices that have something to explain."""
    return tuple(each.assumption() for each in choices if each.text)


def run_line(subject: Iterable[str], choices: Iterable[Choice], cards: str = "") -> str:
    """`Llama 3 8B · training · batch 4 · LoRA r16 · 1 × rtx-4090 · assumed: seq 2,048, bf16 autocast, …`."""
    shown = [each for each in choices if each.words]
    said = (Reason.ASKED, Reason.MODEL)  # by the user, or by the model's files
    known = [each.words for each in shown if each.reason in said]
    assumed = ", ".join(each.words for each in shown if each.reason not in said)
    parts = (*subject, *known, cards, assumed and f"assumed: {assumed}")
    return " · ".join(filter(None, parts))


def run_record(line: str, choices: Iterable[Choice]) -> dict[str, Any]:
    """The run as programs read it: its first line, and every value with its reason."""
    return {"line": line, "choices": {each.name: each.record() for each in choices}}
