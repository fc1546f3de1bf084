"""How vLLM groups the layers of a model, so that one pool of equal blocks holds what all of them cache.

    grouped({full: 10, windowed: 52})        7 groups of 10 layers: 8 of the 70 places are padding

A block has room for some tokens in every layer of a group. Layers that need equally many blocks share a group; groups
of different kinds are of one size. These are the rules of vLLM 0.26 to 0.33: `get_kv_cache_groups` and
`unify_kv_cache_spec_page_size` in vllm/v1/core/kv_cache_utils.py, `max_memory_usage_bytes` of each kind of layer in
vllm/v1/kv_cache_interface.py, and `_align_hybrid_block_size` in vllm/platforms/interface.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

from archcalc.core.errors import InputError

BLOCK = 16  # tokens: CacheConfig.DEFAULT_BLOCK_SIZE, and the steps that FlashAttention's blocks grow in
LATENT_BLOCK = 128  # the steps of latent attention beside recurrent layers
STATES = 2  # blocks of a recurrent layer beside attention: prefix caching, on since 0.26, keeps an earlier state too


class Kind(Enum):
    """What decides how many blocks a layer needs."""

    FULL = "full-attention"
    WINDOW = "sliding-window"
    CHUNK = "chunked-attention"
    CROSS = "cross-attention"
    STATE = "recurrent"


@dataclass(frozen=True)
class Layer:
    """What a layer caches of one sequence. Layers that are equal in all of this may share a group."""

    kind: Kind
    bytes: int  # of a token, or of the state
    shapes: tuple[tuple[int, ...], ...]  # of a token's keys and values, or of the parts of the state
    positions: int = 0  # tokens in the sequence
    reach: int = 0  # of a window or a chunk


@dataclass(frozen=True)
class Placed:
    """Equal layers in the layout. `places` includes the padding that fills their last group up. A block has room for
    `tokens`, and takes `page` bytes in each layer; a recurrent layer needs `states` blocks, however many tokens."""

    layer: Layer
    layers: int
    places: int
    tokens: int
    page: int
    states: int = 0

    def blocks(self, in_flight: int) -> int:
        """What vLLM sets aside for a sequence, if so many tokens are computed at a time. Only then is freed what lies
        before a window; and a window may start within a block."""
        layer, positions = self.layer, self.layer.positions
        if layer.kind is Kind.WINDOW:
            return -(-min(layer.reach - 1 + in_flight, positions) // self.tokens) + 1
        if layer.kind is Kind.CHUNK:
            return -(-min(layer.reach + in_flight, positions) // self.tokens)
        return self.states or -(-positions // self.tokens)


@dataclass(frozen=True)
class Layout:
    """All layers of a model, in groups of `size`."""

    placed: tuple[Placed, ...]
    groups: int
    size: int

    def logged(self, room: int) -> int:
        """The tokens that vLLM's log counted in so many bytes before 0.20.1: as if every group held all of them."""
        tokens = min((one.tokens for one in self.placed if one.tokens), default=0)
        block = sum(one.page * one.places for one in self.placed) // self.groups
        return room // block // self.groups * tokens

    def __str__(self) -> str:
        """`10 full-attention and 52 sliding-window layers as 7 groups of 10 with 8 padding layers`."""
        numbers: Counter[Kind] = Counter()
        for one in self.placed:
            numbers[one.layer.kind] += one.layers
        *first, last = (f"{numbers[kind]:,} {kind.value}" for kind in Kind if kind in numbers)
        listed = f"{', '.join(first)} and {last}" if first else last
        into = f"{self.groups} groups of {self.size}" if self.groups > 1 else "one group"
        number = sum(one.places - one.layers for one in self.placed)
        padding = {0: "", 1: " with a padding layer"}.get(number, f" with {number} padding layers")
        return f"{listed} layers as {into}{padding}"


def grouped(numbers: Mapping[Layer, int], states: int = STATES) -> Layout:
    """The layout of so many layers of each kind; a recurrent one beside attention keeps so many `states`."""
    are_alike = len({(layer.kind, layer.reach) for layer in numbers}) == 1
    tokens, states = (BLOCK, 1) if are_alike else (_tokens(numbers), states)
    fewest, most = min(numbers.values()), max(numbers.values())
    # the most layers of a kind if that is less than half as many again as the fewest, as fewer places stay empty
    size = most if 2 * most < 3 * fewest else fewest
    placed: list[Placed] = []
    for layer, number in numbers.items():
        places = number if are_alike else size * -(-number // size)
        if layer.kind is Kind.STATE:
            placed.append(Placed(layer, number, places, 0, layer.bytes, states))
        else:
            placed.append(Placed(layer, number, places, tokens, layer.bytes * tokens))
    if are_alike:
        return Layout(tuple(placed), 1, sum(numbers.values()))  # of any width: a block is as wide as all of them
    page = max(one.page for one in placed)
    # narrower layers get more tokens into a block where that comes out even, and padding where it does not
    more = [page // one.page if page % one.page == 0 else 1 for one in placed]
    widened = [replace(one, tokens=one.tokens * each, page=page) for one, each in zip(placed, more, strict=True)]
    return Layout(tuple(widened), sum(one.places for one in placed) // size, size)


def _tokens(numbers: Mapping[Layer, int]) -> int:
    """Room of an attention layer's block: a recurrent layer's state, if there is one, must fit into a block too."""
    state = max((layer.bytes for layer in numbers if layer.kind is Kind.STATE), default=0)
    if not state:
        return BLOCK
    attention = [layer for layer in numbers if layer.kind is not Kind.STATE]
    widths = {layer.bytes for layer in attention}
    if len(widths) > 1:
        fact = "how vLLM caches recurrent layers beside attention layers of several widths is not known here"
        raise InputError(fact, "choose another rule, such as --kv-rule full", field="--kv-rule")
    # of latent attention all heads share one vector, where other attention caches one for each head
    shapes = [layer.shapes for layer in attention if layer.kind is Kind.FULL]
    step = LATENT_BLOCK if any(all(len(shape) == 1 for shape in each) for each in shapes) else BLOCK
    return step * -(-state // (step * widths.pop()))
