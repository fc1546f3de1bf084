"""What the model is given to compute: how many sequences, how long, for what, and by which kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace

from archcalc.core.assumptions import Assumption, Topic, without
from archcalc.core.errors import InputError
from archcalc.spec.node import ModelSpec
from archcalc.spec.option_checks import checked, chosen

USUAL_LENGTH = 2048
MODES = ("train", "prefill", "decode")
ATTENTION = ("eager", "flash")


@dataclass(frozen=True)
class Longest:
    """The longest sequence a model takes: what it was made for, and whether a table ends there."""

    length: int | None = None
    hard: bool = False
    fixed: str = ""  # not to be chosen: what it follows from, and what to change instead


@dataclass(frozen=True)
class Workload:
    """`mode` is train, prefill (forward alone, keeping a cache) or decode: one more token for each sequence, after
    `context` that are cached. `attention` is eager, which stores the scores, or flash, one kernel that does not."""

    batch: int
    lengths: dict[str, int]  # `seq`, or `src_seq` and `tgt_seq`; of a decode step 1 for what is decoded
    assumptions: tuple[Assumption, ...] = ()
    mode: str = "train"
    context: int = 0
    attention: str = "eager"

    def of_encoder(self) -> Workload:
        """An encoder has no cache: outside training it is a plain forward pass."""
        return self if self.trains else replace(self, mode="encode", context=0)

    @property
    def trains(self) -> bool:
        """A forward pass with dropout and a loss, then a backward pass."""
        return self.mode == "train"

    @property
    def decodes(self) -> bool:
        """One token at a time, with a cache."""
        return self.mode == "decode"

    @property
    def keeps_cache(self) -> bool:
        """Keys and values are kept for later tokens."""
        return self.mode in ("prefill", "decode")


@checked()
def workload(
    spec: ModelSpec,
    longest: dict[str, Longest],
    *,
    batch: int | None = None,
    seq: int | None = None,
    src_seq: int | None = None,
    tgt_seq: int | None = None,
    mode: str = "train",
    context: int | None = None,
    attention: str = "eager",
) -> Workload:
    """What the caller asks for, else what the spec says, else the usual, which is then said among the assumptions."""
    chosen(mode, MODES, "--mode")
    chosen(attention, ATTENTION, "--attention")
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
            assumptions.append(_usual(name, lengths[name]))
        if limit.length and not limit.hard and lengths[name] > limit.length:
            text = f"{name} {lengths[name]:,}: longer than the {limit.length:,} that it was made for"
            assumptions.append(Assumption(Topic(name), text, lengths[name]))
        becomes_context = mode == "decode" and context is None and name == list(longest)[-1]
        if not becomes_context:  # that is checked below, with the new token
            _check_length(name, lengths[name], limit)
    if not (batch or spec.batch):
        assumptions.append(_usual("batch", 1))
    work = Workload(batch or spec.batch or 1, lengths, tuple(assumptions), mode, attention=attention)
    if work.decodes and not longest:
        hint = "use --mode train or prefill"
        raise InputError("this model makes no tokens to decode one by one", hint, field="--mode")
    if not work.decodes:
        return work
    *_, name = longest
    if context is None and not (asked.get(name) or seq):
        work = _with_room(work, name, longest[name])
    return _one_more_token(work, name, context, longest[name])


def _usual(name: str, size: int) -> Assumption:
    """A size that neither the caller nor the spec names."""
    return Assumption(Topic(name), f"{name} {size:,}: the spec names none", size, f"--{name.replace('_', '-')}")


def _with_room(work: Workload, name: str, limit: Longest) -> Workload:
    """Where nobody asks for a context and the usual one fills the table, it ends one earlier: the new token is last."""
    if not limit.hard or work.lengths[name] != limit.length:
        return work
    context = limit.length - 1
    text = f"context {context:,}: a new token is then the last of the position table"
    shorter = Assumption(Topic.CONTEXT, text, context, "--context")
    others = without(work.assumptions, Topic(name))
    return replace(work, lengths={**work.lengths, name: context}, assumptions=(shorter, *others))


def _one_more_token(work: Workload, name: str, context: int | None, limit: Longest) -> Workload:
    """The last length is what is decoded: it becomes the context, unless that is given, and a single position."""
    cached = work.lengths[name] if context is None else context
    if limit.hard and limit.length is not None and cached >= limit.length:
        fact = f"{cached:,} positions and a new one asked for, but the position table has {limit.length:,}"
        raise InputError(fact, f"use --context {limit.length - 1}", field="--context")
    return replace(work, lengths={**work.lengths, name: 1}, context=cached)


def _check_length(name: str, length: int, limit: Longest) -> None:
    if limit.hard and limit.length is not None and length > limit.length:
        fact = f"{length:,} positions asked for, but the position table has {limit.length:,}"
        raise InputError(fact, f"use --seq {limit.length}, or --set position.length={length}", field=name)


def _check_chosen(name: str, length: int | None, limit: Longest | None) -> None:
    """A length that follows from something else, such as an image, cannot be asked for."""
    if length and limit and limit.fixed:
        option = f"--{name.replace('_', '-')}"
        raise InputError(f"{length:,} asked for, but the sequence is {limit.length:,} long", limit.fixed, field=option)
