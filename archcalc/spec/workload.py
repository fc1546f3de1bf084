"""The workload: batch size, sequence lengths, mode (train, forward, prefill, decode) and attention kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from archcalc.core.assumptions import Assumption, Topic, without
from archcalc.core.count import Count
from archcalc.core.errors import InputError
from archcalc.core.style import PLAIN, Style
from archcalc.spec.option import flag_of
from archcalc.spec.option_checks import chosen
from archcalc.spec.sizes import Sizes

if TYPE_CHECKING:
    from archcalc.spec.model_spec import ModelSpec

USUAL_LENGTH = 2048
MODES = ("train", "forward", "prefill", "decode")
ATTENTION = ("eager", "flash")
UNSAID = "the spec names none"


class Longest(NamedTuple):
    """The longest sequence of a model: what it was trained for, and whether that is a hard limit (a position table)."""

    length: int | None = None
    hard: bool = False
    fixed: str = ""  # not to be chosen: what it follows from, and what to change instead
    least: int = 1  # positions that it must have
    because: str = ""  # why it has no fewer
    usual: int | None = None  # taken where nobody asks for a length


@dataclass(frozen=True)
class Workload:
    """`mode` is train, forward (alone, without a cache or a loss), prefill (the same, keeping a cache) or decode: one
    more token for each sequence, after `context` that are cached. `attention` is eager, which stores the scores, or
    flash, one kernel that does not."""

    batch: int
    lengths: dict[str, int]  # `seq`, or `src_seq` and `tgt_seq`; of a decode step 1 for what is decoded
    assumptions: tuple[Assumption, ...] = ()
    mode: str = "train"
    context: int = 0
    attention: str = "eager"
    style: Style = PLAIN  # how layers are computed

    def of_encoder(self) -> Workload:
        """An encoder has no cache: outside training it is a plain forward pass."""
        if self.trains:
            return self
        return replace(self, mode="forward", context=0)

    @property
    def trains(self) -> bool:
        """A forward pass with dropout and a loss, then a backward pass."""
        return self.mode == "train"

    @property
    def decodes(self) -> bool:
        """One token at a time, with a cache."""
        return self.mode == "decode"

    @property
    def positions(self) -> Count:
        """That a decode step looks at: what is cached, and the new token."""
        return Count.named("context", self.context) + 1

    @property
    def keeps_cache(self) -> bool:
        """Whether keys and values are cached for later tokens."""
        return self.mode in ("prefill", "decode")


Lengths = Mapping[str, Longest]  # of a model, in the order in which it reads them: what is decoded is the last


def workload(
    spec: ModelSpec, longest: Lengths, sizes: Sizes, *, mode: str = "train", attention: str = "eager"
) -> Workload:
    """Sizes from the caller, else from the spec, else defaults, which are listed as assumptions."""
    chosen(mode, MODES, "--mode")
    chosen(attention, ATTENTION, "--attention")
    _check_asked(sizes, longest, mode)
    asked: dict[str, int | None] = {name: getattr(sizes, name) or sizes.seq for name in longest}
    last = next(reversed(asked), "")  # what is decoded
    if sizes.context:
        asked[last] = sizes.context
    lengths: dict[str, int] = {}
    told: list[tuple[str, int, str, str]] = []  # sizes that were not simply given: what is said, and the option
    for name, limit in longest.items():
        wanted = asked[name] or spec.seq or limit.usual
        lengths[name] = length = wanted or min(limit.length or USUAL_LENGTH, USUAL_LENGTH)
        is_context = mode == "decode" and name == last  # which one more token follows
        if limit.fixed and limit.length:
            lengths[name] = limit.length
        elif limit.hard and limit.length is not None and length > limit.length and not is_context:
            fact = f"{length:,} positions asked for, but the position table has {limit.length:,}"
            hint = f"use --seq {limit.length}, or --set position.length={length}"
            raise InputError(fact, hint, field=name)
        elif length < limit.least and not is_context:
            fact = f"{limit.because or f'this model needs {limit.least:,} positions'}, and {length:,} asked for"
            raise InputError(fact, f"use {flag_of(name)} {limit.least} or more", field=name)
        elif not wanted:
            told.append((name, length, UNSAID, flag_of(name)))
        elif limit.length and not limit.hard and length > limit.length:
            told.append((name, length, f"longer than the {limit.length:,} that the model was trained for", ""))
    batch = sizes.batch or spec.batch
    if not batch:
        told.append(("batch", 1, UNSAID, "--batch"))
    assumed = (
        Assumption(Topic(name) if option else Topic.EXACTNESS, f"{name} {size:,}: {said}", size, option)
        for name, size, said, option in told
    )
    work = Workload(batch or 1, lengths, tuple(assumed), mode, attention=attention)
    return _decoding(work, longest, asked) if mode == "decode" else work


def _check_asked(sizes: Sizes, longest: Lengths, mode: str) -> None:
    """Refuse lengths that the model does not have, that follow from something else, or that contradict each other."""
    for name in ("src_seq", "tgt_seq"):
        if getattr(sizes, name) and name not in longest:
            option = flag_of(name)
            raise InputError(f"{option} is for models with an encoder and a decoder", "use --seq", field=option)
    if sizes.seq and not longest:
        raise InputError("this model reads no sequence", "leave it out; use --batch for more samples", field="--seq")
    for name, limit in longest.items():
        length = getattr(sizes, name)
        if length and limit.fixed:  # such as by the image size
            fact = f"{length:,} asked for, but the sequence is {limit.length:,} long"
            raise InputError(fact, limit.fixed, field=flag_of(name))
    if sizes.context:
        _check_context(sizes, longest, mode)


def _check_context(sizes: Sizes, longest: Lengths, mode: str) -> None:
    if mode == "train":
        raise InputError("a training step has no KV cache", "use --seq, or --mode decode", field="--context")
    if not longest:
        raise InputError("this model reads no sequence", "leave --context out", field="--context")
    *others, last = longest
    own = getattr(sizes, last) or (None if others else sizes.seq)
    if own and own != sizes.context:
        option = flag_of(last)
        fact = f"{option} {own} and --context {sizes.context} both set the sequence length"
        raise InputError(fact, f"leave {option} or --context out", field="--context")


# Decoding


def _decoding(work: Workload, longest: Lengths, asked: Mapping[str, int | None]) -> Workload:
    """Turn the last length into the context of a decode step, which computes a single position."""
    if not longest:
        hint = "use --mode train or prefill"
        raise InputError("this model generates no tokens, so it has no decode step", hint, field="--mode")
    name = [*longest][-1]
    limit, cached = longest[name], work.lengths[name]
    if limit.hard and cached == limit.length and not asked[name]:
        cached -= 1  # of a default, so that the new token takes the last row of the position table
        text = f"context {cached:,}: the new token then takes the last row of the position table"
        shorter = Assumption(Topic.CONTEXT, text, cached, "--context")
        work = replace(work, assumptions=(shorter, *without(work.assumptions, Topic(name))))
    if limit.hard and limit.length is not None and cached >= limit.length:
        fact = f"{cached:,} positions and a new one asked for, but the position table has {limit.length:,}"
        raise InputError(fact, f"use --context {limit.length - 1}", field="--context")
    return replace(work, lengths={**work.lengths, name: 1}, context=cached)
