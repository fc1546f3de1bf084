"""Batch and lengths as choices of a run: asked for, from the model's files, or assumed."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from archcalc.run.choice import Choice, Reason
from archcalc.spec.workload import Workload


def size_choices(work: Workload, given: Collection[str]) -> Iterator[Choice]:
    """`batch 1`, `seq 2,048`; `given` are the options that were."""
    assumed = {str(note.topic) for note in work.assumptions if note.option}
    sizes = shown_sizes(work.batch, work.lengths, work.context, decodes=work.decodes)
    last = next(reversed(work.lengths), "")  # whose length is the context of a decode step
    for name, size in sizes.items():
        names = {name, last} if name == "context" else {name}
        reason = Reason.MODEL
        if not names.isdisjoint(assumed):
            reason = Reason.ARCHCALC
        elif not names.isdisjoint(given) or (name != "batch" and not {"seq", "context"}.isdisjoint(given)):
            reason = Reason.ASKED
        yield Choice(name, size, f"{name} {size:,}", reason)


def shown_sizes(batch: int, lengths: dict[str, int], context: int, *, decodes: bool) -> dict[str, int]:
    """By the names of their options; of a decode step the context in the place of the one token that is computed."""
    sizes = {"batch": batch, **lengths}
    return {**dict(list(sizes.items())[:-1]), "context": context} if decodes else sizes


def with_sizes(choices: tuple[Choice, ...], work: Workload, given: Collection[str]) -> tuple[Choice, ...]:
    """The choices with the sizes of another workload in the place of theirs."""
    sizes = {each.name: each for each in size_choices(work, given)}
    return tuple(sizes.get(each.name, each) for each in choices)
