"""What a report says of vLLM's layout of the cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from archcalc.analyze.memory.vllm_cache import BATCH, BATCHES, in_flight
from archcalc.analyze.memory.vllm_groups import Kind, Layer, Layout
from archcalc.core.assumptions import Assumption, Topic

if TYPE_CHECKING:
    from archcalc.run.resolved import Run

STATES = "recurrent state in {}, convolution states of kernel − 1 positions in {}"  # by format
REACHES = {Kind.WINDOW: "window", Kind.CHUNK: "chunk"}


def said(layout: Layout, run: Run) -> Iterator[Assumption]:
    """The groups with their padding, then what a window keeps besides itself while a prompt is read."""
    text = f"KV cache as vLLM 0.26 to 0.28 lays it out: {layout}"
    tokens = sorted({one.tokens for one in layout.placed if one.tokens})
    if tokens:
        text += f", in blocks of {' or '.join(f'{number:,}' for number in tokens)} tokens"
        states = {one.states for one in layout.placed if one.states}
        text += "".join(f", {number} of them for each recurrent layer" for number in states)
    yield Assumption(Topic.KV_CACHE, text, "vllm", "--kv-rule")
    if run.mode != "decode":
        longer = [one.layer for one in layout.placed if one.layer.positions > one.layer.reach > 0]
        yield from (_in_flight(layer, run.prefill) for layer in {layer.kind: layer for layer in longer}.values())


def _in_flight(layer: Layer, prefill: int | None) -> Assumption:
    """vLLM reads a long prompt in batches; activations are those of such batches only where a user says how long."""
    tokens = in_flight(prefill, decodes=False)
    batches = f"{BATCHES} batches of {tokens // BATCHES:,} tokens that are being computed"
    text = f"beside its {REACHES[layer.kind]}, a {layer.kind.value} layer keeps up to {batches}"
    if not prefill:
        at_once = "; activations here are of the whole prompt at once" if layer.positions > BATCH else ""
        text += f" (vllm serve's default on an H100{at_once})"
    return Assumption(Topic.KV_CACHE, text, tokens, "--prefill")
