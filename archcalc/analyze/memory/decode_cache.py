"""The cache of a decoder from one token to the next: keys and values, or a recurrent state.

    cached(root, work, CacheFormats.plain("bf16"))      what `work` leaves in it, whatever sizes `root` was traced at

Forward code records `append` for every cached tensor; this module lists them. What one position of one sequence takes
follows from the tree, and how many positions are kept from the workload.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from archcalc.analyze.memory.vllm_groups import Layout
from archcalc.core.ir import Module, Tensor
from archcalc.core.mesh import Plan
from archcalc.core.positions import GROWING, Positions
from archcalc.storage.format import Format, plain

if TYPE_CHECKING:
    from archcalc.spec.workload import Workload

PAGED = "window+batch"  # the rule of llama.cpp
SGLANG_WINDOWED = 80  # percent, its --swa-full-tokens-ratio (server_args.py)
LLAMA_CPP_BATCH = 512  # its --ubatch-size, unless a prompt is read in other pieces
LLAMA_CPP_PAGE = 256  # to a multiple of which it pads what a window keeps (llama-kv-cache-iswa.cpp)


@dataclass(frozen=True)
class CacheFormats:
    """The formats of keys, values and recurrent states on one GPU, and the rule for sliding windows. `tails` is that of
    a convolution's last positions, where it is not that of the states."""

    keys: Format
    states: Format
    rule: str = "window"
    prefill: int | None = None
    plan: Plan = field(default_factory=Plan)
    tails: Format | None = None
    prefix: int = 0  # first positions that all sequences share, cached once
    values: Format | None = None  # where they are not in the format of keys
    others: dict[str, Format] = field(default_factory=dict, compare=False)  # by the name of a vector's dimension

    @classmethod
    def plain(cls, precision: str) -> CacheFormats:
        """Everything in one precision, on a single GPU."""
        return cls(plain(precision), plain(precision))

    def of(self, tensor: Tensor) -> Format:
        """The format of keys or of values; of a recurrent layer's state, or of a convolution's last positions. Engines
        round keys and values as they are told, and keep recurrent states apart."""
        if grows(tensor):
            if tensor.dims[-1].name in self.others:
                return self.others[tensor.dims[-1].name]
            return self.values if self.values and tensor.of_values else self.keys
        is_tail = any(dim.positions is Positions.TAIL for dim in tensor.dims)
        return self.tails if self.tails and is_tail else self.states

    def shape(self, tensor: Tensor) -> tuple[int, ...]:
        """Of one sequence on one GPU; of keys and values for one position."""
        sizes = zip(tensor.dims, self.plan.sizes(tensor), strict=True)
        return tuple(size for dim, size in sizes if dim.name != "batch" and dim.positions not in GROWING)

    def bytes_of(self, tensor: Tensor, work: Workload) -> int:
        """One run's. Of what a window keeps, as many positions as the rule says; those that all sequences share, once.

        Engines differ: transformers' StaticCache keeps the window, its DynamicCache one less, llama.cpp a batch
        more."""
        each = work.batch * prod(self.shape(tensor))
        along = next((dim for dim in tensor.dims if dim.positions in GROWING), None)
        if along is None:
            return self.of(tensor).bytes_of(each)
        kept = length = positions_read(work)
        if window := window_of(tensor, length):
            limits = {"window": window, "window-1": window - 1, "full": length}
            limits["sglang"] = max(window, -(-SGLANG_WINDOWED * length // 100))
            rule = self.rule
            kept = min(limits[rule], length) if rule in limits else in_pages(length, window, self.prefill)
        kept //= along.every
        # of another sequence, which was read at once, as many as it has
        size = each * (along.size.at(**work.lengths) if along.positions is Positions.SEQUENCE else kept)
        if self.prefix and kept:
            own = min(
                kept, max(0, length - self.prefix) // along.every
            )  # of what is kept, the last positions are a sequence's alone
            size -= size // (work.batch * kept) * (work.batch - 1) * (kept - own)
        return self.of(tensor).bytes_of(size)


def in_pages(length: int, window: int, piece: int | None) -> int:
    """Positions of llama.cpp's cache: of a window with a batch more, of all of them otherwise, in whole pages."""
    return -(-min(window + (piece or LLAMA_CPP_BATCH), length) // LLAMA_CPP_PAGE) * LLAMA_CPP_PAGE


@dataclass(frozen=True)
class Cached:
    """What one op of a module caches for later tokens, in all its runs."""

    tensor: Tensor
    module: Module
    bytes: int
    grows: bool  # with every position: keys and values, and no state
    layout: Layout | None = None  # of vLLM, which caches in blocks
    is_padding: bool = False  # of places that are like this one's, and that no layer takes


def cached(root: Module, work: Workload, formats: CacheFormats) -> list[Cached]:
    """Everything in the cache after `work`, op by op, with its bytes on one GPU."""
    return [
        Cached(tensor, module, times * formats.bytes_of(tensor, work), grows(tensor))
        for tensor, module, times in appended(root)
    ]


def appended(module: Module, times: int = 1) -> Iterator[tuple[Tensor, Module, int]]:
    """Every cached tensor, with its module and number of runs, in the order of computation."""
    times *= int(module.runs)
    for item in module.body if times else ():
        if isinstance(item, Module):
            yield from appended(item, times)
        elif item.output.role == "cache" and not item.output.of:
            yield item.output, module, times


def positions_read(work: Workload) -> int:
    """By a decoder, the token of this step included."""
    *_, last = work.lengths.values()
    return work.context + last


def window_of(tensor: Tensor, length: int) -> int | None:
    """The number of cached positions, if a window or chunk limits it at this length."""
    reaches = (dim.reach.positions for dim in tensor.dims if dim.reach)
    return next((reach for reach in reaches if reach <= length), None)


def grows(tensor: Tensor) -> bool:
    """Keys and values: one for each position, where a recurrent state is as big for any number of them."""
    return any(dim.positions in GROWING for dim in tensor.dims)
