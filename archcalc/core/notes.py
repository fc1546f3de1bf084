"""The notes of a model's modules: what a report on it must say."""

from __future__ import annotations

from typing import Literal

from archcalc.core.assumptions import Assumption
from archcalc.core.ir import Module, walk

Listed = Literal["notes", "doubts", "work_notes", "memory_notes"]  # lists of `Words`, which says when each is shown


def notes_of(module: Module, *lists: Listed) -> tuple[Assumption, ...]:
    """All of these lists, one after the other and each note once; those of every report if none is named."""
    every = [node.words for node, _ in walk(module)]
    return tuple(dict.fromkeys(note for name in lists or ("notes",) for one in every for note in getattr(one, name)))
