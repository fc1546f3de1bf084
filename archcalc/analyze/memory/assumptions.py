"""The assumptions of a memory report, and the option that changes each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from archcalc.analyze.memory import overhead, vllm_words
from archcalc.analyze.memory.decode_cache import Cached, grows, is_tail, window_of
from archcalc.core.assumptions import Assumption, Topic, without
from archcalc.core.ir import Module, Region, Tensor, walk
from archcalc.core.precision import BYTES
from archcalc.run.option_words import KV_RULES
from archcalc.storage.checkpoint import Checkpoint
from archcalc.storage.places import Place

if TYPE_CHECKING:
    from archcalc.run.resolved import Run

SOFTMAX = {  # what eager attention stores of it in 16 bits
    "act": "eager attention: softmax in the activations' 16 bits; `softmax: fp32` in the spec counts it in fp32",
    "fp32": "eager attention: softmax in fp32 and cast to 16 bits, as this model's class in transformers does",
}

STATES = (
    "recurrent state in {}; convolution states of kernel − 1 positions (transformers and llama.cpp"
    " use fp32, and transformers mostly one position more)"
)


def assumptions(
    run: Run, chosen: Iterable[Assumption], root: Module, cache: Iterable[Cached], *, of_file: bool
) -> Iterator[Assumption]:
    """In the order in which a report has them. `chosen` are those of the run's choices; `of_file`: the model is a list
    of weights."""
    yield from (Assumption(Topic.ESTIMATE, f"estimate: {reason}") for reason in run.estimates)
    if of_file:
        yield from without((*chosen, *run.assumptions), Topic.PRECISION)  # nothing is computed in it
        left_out = "activations are not counted" if root.body else "neither a cache nor activations"
        yield Assumption(Topic.SCOPE, f"weights file: {left_out}, since it does not describe the computation")
    else:
        yield from (*chosen, *run.assumptions)
    yield from _of_softmax(run, root)
    yield from _of_format(run, root)
    yield from _of_cache(run, cache)
    if run.overhead is None:
        yield overhead.assumption(run)


def _of_softmax(run: Run, root: Module) -> Iterator[Assumption]:
    """The number format of eager attention's softmax."""
    used = run.attention
    stored = {op.traits.softmax for module, _ in walk(root) if module.region == Region.CORE for op in module.ops}
    if BYTES[run.activations] < BYTES["fp32"] and stored & set(SOFTMAX):
        yield Assumption(Topic.ATTENTION, SOFTMAX["fp32" if "fp32" in stored else "act"], used)


def _of_format(run: Run, root: Module) -> Iterator[Assumption]:
    """Notes on a format that quantises nothing in this model, and on excluded modules that are not found."""
    kept = run.format
    places = [Place(param, 1) for module, _ in walk(root) for param in module.params.values()]
    if kept.is_quantised and not any(kept.holds(place) for place in places):
        text = f"{kept.name} applies to layers that this model does not have: no weights are quantised"
        yield Assumption(Topic.WEIGHTS, text, kept.name)
        return
    names = kept.unfound(places) if isinstance(kept, Checkpoint) else []
    if names:
        text = f"{kept.source} excludes module {names[0]} from quantisation, but no module here has that name"
        yield Assumption(Topic.WEIGHTS, text, names[0])


def _of_cache(run: Run, cache: Iterable[Cached]) -> Iterator[Assumption]:
    cache = list(cache)
    kept, layout = [one.tensor for one in cache], next((one.layout for one in cache if one.layout), None)
    if layout:
        yield from vllm_words.said(layout, run)
    elif any(map(window_of, kept)):
        rule = run.kv_rule
        yield Assumption(Topic.KV_CACHE, f"KV cache of sliding-window layers: {KV_RULES[rule]}", rule, "--kv-rule")
    if run.shared_prefix and kept:
        yield _of_prefix(run, kept, in_blocks=layout is not None)
    if any(map(is_tail, kept)) and run.state_format:
        stored = run.state_format.name
        text = vllm_words.STATES.format(stored, run.activations) if layout else STATES.format(stored)
        yield Assumption(Topic.STATE, text, stored, "--state-dtype")


def _of_prefix(run: Run, kept: list[Tensor], *, in_blocks: bool) -> Assumption:
    how = " in whole blocks" if in_blocks else ""
    rest = "" if all(map(grows, kept)) else "; recurrent states are kept for every sequence"
    text = f"the first {run.shared_prefix:,} tokens are the same in all sequences, and cached once{how}{rest}"
    return Assumption(Topic.KV_CACHE, text, run.shared_prefix)
