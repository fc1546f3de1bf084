"""The cache of a decoder as vLLM lays it out: every layer in blocks, hybrid models in groups of layers.

    in_groups(root, work, formats, in_flight, states)        as `decode_cache.cached`, with padding of groups behind
    said(layout, run)                                what a report says of it

Which kind of layer a module is follows from the positions of what it appends to the cache.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from archcalc.analyze.memory.decode_cache import Cached, CacheFormats, appended, grows, positions_read
from archcalc.analyze.memory.vllm_groups import Kind, Layer, Layout, Placed, grouped
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Region, Tensor
from archcalc.core.positions import GROWING, Positions
from archcalc.core.tree import enclosing

if TYPE_CHECKING:
    from archcalc.run.resolved import Run
    from archcalc.spec.workload import Workload

BATCH = 8192  # tokens that vllm serve computes at a time on an H100 or H200 (EngineArgs.get_batch_defaults)
STATES = "recurrent state in {}, convolution states of kernel − 1 positions in {}"  # by format
REACHES = {Kind.WINDOW: "window", Kind.CHUNK: "chunk"}


def in_groups(root: Module, work: Workload, formats: CacheFormats, in_flight: int, states: int) -> list[Cached]:
    """Everything in the cache for sequences of that length, tensor by tensor, then the padding. `in_flight` tokens of a
    sequence are scheduled and not yet computed, at most; a recurrent layer beside attention keeps so many `states`."""
    owned = _owned(root, work, formats)
    numbers, examples = Counter[Layer](), dict[Layer, _Part]()
    for layer, (first, *_) in owned:
        numbers[layer] += first.times
        examples[layer] = first
    if not numbers:
        return []
    layout, sizes, padding = grouped(numbers, states), dict[Layer, int](), list[Cached]()
    for one in layout.placed:
        blocks = work.batch * one.blocks(in_flight)
        if formats.prefix:
            blocks -= _spared(one, work.batch, formats.prefix)
        size = sizes[one.layer] = blocks * one.page
        like, empty = examples[one.layer], one.places - one.layers  # places in a group that no layer takes
        if empty:
            own = like.tensor, like.module, empty * size, grows(like.tensor)
            padding.append(Cached(*own, layout, is_padding=True))
    found: list[Cached] = []
    for layer, parts in owned:  # its bytes in all its runs are dealt out to its tensors by their widths
        size, whole, before, taken = parts[0].times * sizes[layer], sum(part.bytes for part in parts), 0, 0
        for part in parts:
            before += part.bytes
            share = size * before // whole - taken
            taken += share
            found.append(Cached(part.tensor, part.module, share, grows(part.tensor), layout))
    return [*found, *padding]


def _spared(placed: Placed, sequences: int, prefix: int) -> int:
    """Whole blocks of a prefix are shared by all sequences; a recurrent state is one sequence's."""
    if placed.layer.kind is Kind.STATE:
        return 0
    if placed.layer.kind is not Kind.FULL:
        fact = f"how vLLM shares a prefix in {placed.layer.kind.value} layers is not known here"
        raise InputError(fact, "choose another rule, such as --kv-rule full", field="--shared-prefix")
    return (sequences - 1) * (min(prefix, placed.layer.positions) // placed.tokens)


class _Part(NamedTuple):
    """One tensor of what a layer caches, in the `times` runs of its module, which are as many layers."""

    tensor: Tensor
    module: Module
    times: int
    kind: Kind
    shape: tuple[int, ...]  # of one sequence on one GPU; of keys and values for one token
    bytes: int
    positions: int = 0
    reach: int = 0


def _owned(root: Module, work: Workload, formats: CacheFormats) -> list[tuple[Layer, list[_Part]]]:
    """A convolution's tail and the state behind it are one layer's, as the keys and the values of a module are."""
    found: dict[tuple[Module, Kind, int], list[_Part]] = {}
    for tensor, module, times in appended(root):
        part, holder = _part(tensor, module, times, work, formats), module
        if part.kind is Kind.STATE:  # of the part of a block that the module belongs to
            inside = takewhile(lambda above: above.region != Region.BLOCK, module.ancestry)
            holder = [module, *inside][-1]
        if part.bytes:  # a convolution of one position remembers none
            found.setdefault((holder, part.kind, part.reach), []).append(part)
    owned: list[tuple[Layer, list[_Part]]] = []
    for (_, kind, reach), parts in found.items():
        size, shapes = sum(part.bytes for part in parts), tuple(part.shape for part in parts)
        owned.append((Layer(kind, size, shapes, parts[0].positions, reach), parts))
    return owned


def _part(tensor: Tensor, module: Module, times: int, work: Workload, formats: CacheFormats) -> _Part:
    """vLLM caches attention and state-space layers of blocks."""
    segment = any(dim.positions is Positions.SEGMENT for dim in tensor.dims)
    if segment or not enclosing(module, Region.BLOCK):
        what = "a memory of hidden states" if segment else "the states of a recurrent network"
        raise InputError(f"vLLM has no cache for {what}", "leave --kv-rule out", field="--kv-rule")
    shape = formats.shape(tensor)
    size = formats.of(tensor).bytes_of(prod(shape))
    along = next((dim for dim in tensor.dims if dim.positions in GROWING), None)
    if along is None:
        return _Part(tensor, module, times, Kind.STATE, shape, size)
    size = -(-size // along.every)  # of one position, where a place stands for several
    kind, length, reach = Kind.FULL, positions_read(work), along.reach.positions if along.reach else 0
    if along.positions is Positions.SEQUENCE:  # of another sequence, which was read at once
        kind, length = Kind.CROSS, along.size.at(**work.lengths)
    elif along.reach:
        kind = Kind.CHUNK if along.reach.chunked else Kind.WINDOW
    return _Part(tensor, module, times, kind, shape, size, length, reach)


def said(layout: Layout, run: Run) -> Iterator[Assumption]:
    """The groups with their padding, then what a window keeps besides itself while a prompt is read."""
    rules = run.engine.rules
    text = f"KV cache as {rules.title if rules.kv_rule == 'vllm' else 'vLLM 0.26 to 0.31'} lays it out: {layout}"
    tokens = sorted({one.tokens for one in layout.placed if one.tokens})
    if tokens:
        text += f", in blocks of {' or '.join(f'{number:,}' for number in tokens)} tokens"
        states = {one.states for one in layout.placed if one.states}
        text += "".join(f", {number} of them for each recurrent layer" for number in states)
    yield Assumption(Topic.KV_CACHE, text, "vllm", "--kv-rule")
    # a long prompt is read in batches; activations are those of such batches only where a user says how long
    longer = [one.layer for one in layout.placed if one.layer.positions > one.layer.reach > 0]
    batch, number = run.prefill or BATCH, rules.blocks.in_flight
    batches = f"{number} batches" if number > 1 else "a batch"
    for kind, layer in {layer.kind: layer for layer in longer if run.mode != "decode"}.items():
        text = f"beside its {REACHES[kind]}, a {kind.value} layer keeps up to {batches} of {batch:,} tokens"
        text += " that are being computed"
        if not run.prefill:
            at_once = "; activations here are of the whole prompt at once" if layer.positions > BATCH else ""
            text += f" (vllm serve's default on an H100{at_once})"
        yield Assumption(Topic.KV_CACHE, text, number * batch, "--prefill")
