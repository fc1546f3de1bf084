"""PyTorch's CUDA caching allocator, simulated: what it reserves on the device for the blocks that a program asks for.

    allocator = Allocator(expandable=False)
    place = allocator.malloc(4096)
    allocator.free(place)
    allocator.reserved, allocator.allocated         bytes now

A request is rounded up to 512 bytes and served by the smallest free piece that is large enough, of its own stream and
of its own pool (up to 1 MiB, or larger). Of a larger piece the rest is split off; neighbours that are free are merged.
If no piece is large enough, a segment comes from the device: 2 MiB for small pieces, 20 MiB for those below 10 MiB,
else whole 2 MiB. An expandable segment grows by pages of 2 MiB (small) or 20 MiB instead. Nothing is given back.
Source: PyTorch, c10/cuda/CUDACachingAllocator.cpp.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from dataclasses import dataclass, field

MIB = 2**20
ROUNDING = 512  # kMinBlockSize
SMALL = MIB  # kSmallSize: the largest request of the small pool
SMALL_SEGMENT = 2 * MIB  # kSmallBuffer
LARGE_SEGMENT = 20 * MIB  # kLargeBuffer
WHOLE_FROM = 10 * MIB  # kMinLargeAlloc: from here on a segment is made for the request
WHOLE_STEP = 2 * MIB  # kRoundLarge
ADDRESSES = 2**44  # of one expandable segment: more than any device has


@dataclass(eq=False, slots=True)
class Piece:
    """A part of a segment: allocated, free, or (of an expandable segment) not mapped yet."""

    pool: Pool
    size: int
    address: int
    is_mapped: bool = True
    before: Piece | None = None
    after: Piece | None = None
    is_free: bool = True
    requested: int = 0


@dataclass(eq=False)
class Pool:
    """The free pieces of one stream, small or large, by size and then by address."""

    stream: int
    split_from: int  # bytes that are left of a piece, and become one
    page: int  # by which an expandable segment grows
    free: list[tuple[int, int, Piece]] = field(default_factory=list)
    end: Piece | None = None  # of its expandable segment, not mapped


@dataclass
class Allocator:
    """The state of one device. `requested` are the bytes asked for, `allocated` those of the pieces given out."""

    expandable: bool = False
    pools: dict[tuple[int, bool], Pool] = field(default_factory=dict)  # by stream, and whether pieces are small
    requested: int = 0
    allocated: int = 0
    reserved_on: dict[int, int] = field(default_factory=lambda: defaultdict(int))  # by stream
    allocated_on: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    next_address: int = 0

    @property
    def reserved(self) -> int:
        return sum(self.reserved_on.values())

    def malloc(self, size: int, stream: int = 0) -> Piece:
        """The smallest free piece, or one from the device; what is left of it becomes a piece of its own."""
        rounded = -(-(size or 1) // ROUNDING) * ROUNDING
        is_small = rounded <= SMALL
        pool = self.pools.get((stream, is_small))
        if pool is None:
            split_from = ROUNDING if is_small or self.expandable else SMALL + 1
            pool = Pool(stream, split_from, SMALL_SEGMENT if is_small else LARGE_SEGMENT)
            self.pools[stream, is_small] = pool
        free = pool.free
        place = bisect_left(free, (rounded,))
        if self.expandable:  # a piece that can grow counts as what it can grow to
            while place + 1 < len(free) and _grown(free[place + 1][2]) < _grown(free[place][2]):
                place += 1
        piece = free.pop(place)[2] if place < len(free) else self._from_device(pool, rounded)
        if piece.size - rounded >= pool.split_from:
            rest = Piece(pool, piece.size - rounded, piece.address + rounded, before=piece, after=piece.after)
            if rest.after:
                rest.after.before = rest
            piece.size, piece.after = rounded, rest
            insort(free, (rest.size, rest.address, rest))
        piece.is_free, piece.requested = False, size
        self.requested += size
        self.allocated += piece.size
        self.allocated_on[stream] += piece.size
        return piece

    def free(self, piece: Piece) -> None:
        """Its neighbours that are free are merged with it."""
        free, whole, stream = piece.pool.free, piece, piece.pool.stream
        self.requested -= piece.requested
        self.allocated -= piece.size
        self.allocated_on[stream] -= piece.size
        piece.is_free = True
        if piece.before and piece.before.is_free:
            whole = piece.before
            del free[bisect_left(free, (whole.size, whole.address))]
        while (after := whole.after) and after.is_free and after.is_mapped:
            if after is not piece:
                del free[bisect_left(free, (after.size, after.address))]
            whole.size, whole.after = whole.size + after.size, after.after
            if after.after:
                after.after.before = whole
        insort(free, (whole.size, whole.address, whole))

    def _from_device(self, pool: Pool, size: int) -> Piece:
        """A segment for small pieces, one for those below 10 MiB, or one for the request alone. Of an expandable
        segment as many pages as are missing are mapped, behind its last piece or, if that is free, as more of it."""
        if not self.expandable:
            made = segment(size)
            self.reserved_on[pool.stream] += made
            piece = Piece(pool, made, self.next_address)
            self.next_address += made + WHOLE_STEP  # segments are never neighbours
            return piece
        if pool.end is None:
            pool.end = Piece(pool, ADDRESSES, self.next_address, is_mapped=False)
            self.next_address += ADDRESSES + WHOLE_STEP
        end, last = pool.end, pool.end.before
        if last and last.is_free:
            piece = last
            del pool.free[bisect_left(pool.free, (piece.size, piece.address))]
        else:
            piece = end.before = Piece(pool, 0, end.address, before=last, after=end)
            if last:
                last.after = piece
        mapped = -(-(size - piece.size) // pool.page) * pool.page
        piece.size, end.address, end.size = piece.size + mapped, end.address + mapped, end.size - mapped
        self.reserved_on[pool.stream] += mapped
        return piece


def segment(size: int) -> int:
    """What a request takes from the device where no piece is free; a message says this size where there is no room."""
    if size < WHOLE_FROM:
        return SMALL_SEGMENT if size <= SMALL else LARGE_SEGMENT
    return -(-size // WHOLE_STEP) * WHOLE_STEP


def _grown(piece: Piece) -> int:
    """The size of a piece with what is not mapped behind it."""
    after = piece.after
    return piece.size + (after.size if after and not after.is_mapped else 0)
