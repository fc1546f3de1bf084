"""Batch and lengths as choices of a run: asked for, from the spec, or assumed."""

from __future__ import annotations

from collections.abc import Iterator

from archcalc.run.choice import Choice, Reason
from archcalc.spec.workload import Workload


def size_choices(work: Workload) -> Iterator[Choice]:
    """`batch 1`, `seq 2,048`; of a decode step the context in the place of the one token that is computed."""
    assumed = {str(note.topic) for note in work.assumptions if note.option}
    for name, size in shown_sizes(work.batch, work.lengths, work.context, decodes=work.decodes).items():
        is_assumed = name in assumed or (name == "context" and not assumed.isdisjoint(work.lengths))
        reason = Reason.ARCHCALC if is_assumed else Reason.ASKED
        yield Choice(name, size, f"{name} {size:,}", reason)


def shown_sizes(batch: int, lengths: dict[str, int], context: int, *, decodes: bool) -> dict[str, int]:
    """By the names of their options."""
    sizes = {"batch": batch, **lengths}
    return {**dict(list(sizes.items())[:-1]), "context": context} if decodes else sizes


def with_sizes(choices: tuple[Choice, ...], work: Workload) -> tuple[Choice, ...]:
    """The choices with the sizes of another workload in the place of theirs."""
    sizes = {each.name: each for each in size_choices(work)}
    return tuple(sizes.get(each.name, each) for each in choices)
