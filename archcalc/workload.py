"""What the model is given to compute: how many sequences, how long."""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.errors import InputError
from archcalc.spec import ModelSpec

USUAL_LENGTH = 2048


@dataclass(frozen=True)
class Longest:
    """The longest sequence a model takes: what it was made for, and whether a table ends there."""

    length: int | None = None
    hard: bool = False
    fixed: str = ""  # not to be chosen: what it follows from, and what to change instead


@dataclass(frozen=True)
class Workload:
    batch: int
    lengths: dict[str, int]  # `seq`, or `src_seq` and `tgt_seq`
    assumptions: tuple[str, ...] = ()


def workload(
    spec: ModelSpec,
    longest: dict[str, Longest],
    *,
    batch: int | None = None,
    seq: int | None = None,
    src_seq: int | None = None,
    tgt_seq: int | None = None,
) -> Workload:
    """What the caller asks for, else what the spec says, else the usual, which is then said among the assumptions."""
    asked = {"src_seq": src_seq, "tgt_seq": tgt_seq}
    for name, length in asked.items():
        if length and name not in longest:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} is for models with an encoder and a decoder", "use --seq", field=option)
    if seq and not longest:
        raise InputError("this model reads no sequence", "leave it out; --batch says how much is read", field="--seq")
    lengths, assumptions = {}, []
    for name, length in {"seq": seq, **asked}.items():
        _check_chosen(name, length, longest.get(name))
    for name, limit in longest.items():
        if limit.fixed and limit.length:
            lengths[name] = limit.length
            continue
        lengths[name] = asked.get(name) or seq or spec.seq or min(limit.length or USUAL_LENGTH, USUAL_LENGTH)
        if not (asked.get(name) or seq or spec.seq):
            assumptions.append(f"{name} {lengths[name]:,}: the spec names none; --{name.replace('_', '-')} changes it")
        _check_length(name, lengths[name], limit)
    if not (batch or spec.batch):
        assumptions.append("batch 1: the spec names none; --batch changes it")
    return Workload(batch or spec.batch or 1, lengths, tuple(assumptions))


def _check_length(name: str, length: int, limit: Longest) -> None:
    if limit.hard and limit.length is not None and length > limit.length:
        fact = f"{length:,} positions asked for, but the position table has {limit.length:,}"
        raise InputError(fact, f"use --seq {limit.length}, or --set position.length={length}", field=name)


def _check_chosen(name: str, length: int | None, limit: Longest | None) -> None:
    """A length that follows from something else, such as an image, cannot be asked for."""
    if length and limit and limit.fixed:
        option = f"--{name.replace('_', '-')}"
        raise InputError(f"{length:,} asked for, but the sequence is {limit.length:,} long", limit.fixed, field=option)
