"""The notes of a model's modules: what a report on it must say."""

from __future__ import annotations

from archcalc.core.assumptions import Assumption
from archcalc.core.ir import Module, walk


def notes_of(module: Module) -> tuple[Assumption, ...]:
    """Notes that every report about the model must show."""
    return tuple(note for node, _ in walk(module) for note in node.words.notes)


def doubts_of(module: Module) -> tuple[Assumption, ...]:
    """Why its parameter counts are not exact; empty if they are."""
    return tuple(doubt for node, _ in walk(module) for doubt in node.words.doubts)


def work_notes_of(module: Module) -> tuple[Assumption, ...]:
    """Notes for reports of FLOPs, memory or time, without repetition."""
    return tuple(dict.fromkeys(note for node, _ in walk(module) for note in node.words.work_notes))


def memory_notes_of(module: Module) -> tuple[Assumption, ...]:
    """Further notes for reports of memory, without repetition."""
    return tuple(dict.fromkeys(note for node, _ in walk(module) for note in node.words.memory_notes))
