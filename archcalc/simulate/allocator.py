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

MIB = 2**20
ROUNDING = 512  # kMinBlockSize
SMALL = MIB  # kSmallSize: the largest request of the small pool
SMALL_SEGMENT = 2 * MIB  # kSmallBuffer
LARGE_SEGMENT = 20 * MIB  # kLargeBuffer
WHOLE_FROM = 10 * MIB  # kMinLargeAlloc: from here on a segment is made for the request
WHOLE_STEP = 2 * MIB  # kRoundLarge
ADDRESSES = 2**44  # of one expandable segment: more than any device has


class Piece:
    """A part of a segment: allocated, free, or (of an expandable segment) not mapped yet."""

    __slots__ = ("address", "after", "before", "is_free", "is_mapped", "pool", "requested", "size")

    def __init__(self, pool: Pool, size: int, address: int, *, is_mapped: bool = True) -> None:
        self.pool, self.size, self.address, self.is_mapped = pool, size, address, is_mapped
        self.before: Piece | None = None
        self.after: Piece | None = None
        self.is_free = True
        self.requested = 0


class Pool:
    """The free pieces of one stream, small or large, by size and then by address."""

    def __init__(self, stream: int, *, is_small: bool, is_fine: bool) -> None:
        self.stream, self.is_small = stream, is_small
        self.split_from = ROUNDING if is_fine else SMALL + 1  # bytes that are left of a piece, and become one
        self.free: list[tuple[int, int, Piece]] = []
        self.unmapped: list[Piece] = []  # ends of expandable segments

    def add(self, piece: Piece) -> None:
        insort(self.free, (piece.size, piece.address, piece))

    def remove(self, piece: Piece) -> None:
        del self.free[bisect_left(self.free, (piece.size, piece.address))]

    @property
    def page(self) -> int:
        """By which an expandable segment grows."""
        return SMALL_SEGMENT if self.is_small else LARGE_SEGMENT


class Allocator:
    """The state of one device. `requested` are the bytes asked for, `allocated` those of the pieces given out."""

    def __init__(self, *, expandable: bool = False) -> None:
        self.expandable = expandable
        self.pools: dict[tuple[int, bool], Pool] = {}
        self.requested = self.allocated = 0
        self.reserved_on: dict[int, int] = defaultdict(int)  # by stream
        self.allocated_on: dict[int, int] = defaultdict(int)
        self._next_address = 0

    @property
    def reserved(self) -> int:
        return sum(self.reserved_on.values())

    def malloc(self, size: int, stream: int = 0) -> Piece:
        rounded = round_up(size or 1, ROUNDING)
        pool = self._pool(stream, is_small=rounded <= SMALL)
        piece = self._best_fit(pool, rounded) or self._from_device(pool, rounded)
        if piece.size - rounded >= pool.split_from:
            self._split(piece, rounded)
        piece.is_free, piece.requested = False, size
        self.requested += size
        self.allocated += piece.size
        self.allocated_on[stream] += piece.size
        return piece

    def free(self, piece: Piece) -> None:
        self.requested -= piece.requested
        self.allocated -= piece.size
        self.allocated_on[piece.pool.stream] -= piece.size
        piece.is_free = True
        self._insert(piece)

    def _pool(self, stream: int, *, is_small: bool) -> Pool:
        found = self.pools.get((stream, is_small))
        if found is None:
            is_fine = is_small or self.expandable
            found = self.pools[stream, is_small] = Pool(stream, is_small=is_small, is_fine=is_fine)
        return found

    def _best_fit(self, pool: Pool, size: int) -> Piece | None:
        """The smallest free piece; one that can grow counts as what it can grow to."""
        place, free = bisect_left(pool.free, (size,)), pool.free
        if place == len(free):
            return None
        if self.expandable:
            while place + 1 < len(free) and _grown(free[place + 1][2]) < _grown(free[place][2]):
                place += 1
        return free.pop(place)[2]

    def _from_device(self, pool: Pool, size: int) -> Piece:
        if self.expandable:
            return self._grow(pool, size)
        segment = segment_size(size)
        self.reserved_on[pool.stream] += segment
        return Piece(pool, segment, self._addresses(segment))

    def _addresses(self, size: int) -> int:
        start = self._next_address
        self._next_address += round_up(size, WHOLE_STEP) + WHOLE_STEP  # segments are never neighbours
        return start

    def _split(self, piece: Piece, size: int) -> None:
        split = Piece(piece.pool, piece.size - size, piece.address + size)
        _link(piece, split)
        piece.size = size
        piece.pool.add(split)

    def _insert(self, piece: Piece) -> Piece:
        """Put a free piece into its pool, merged with its free neighbours."""
        pool, before, after = piece.pool, piece.before, piece.after
        if before and before.is_free and before.is_mapped:
            pool.remove(before)
            piece = _merged(before, piece)
        if after and after.is_free and after.is_mapped:
            pool.remove(after)
            piece = _merged(piece, after)
        pool.add(piece)
        return piece

    # expandable segments

    def _grow(self, pool: Pool, size: int) -> Piece:
        """Map as many pages as are missing behind the last free piece of the segment."""
        end = pool.unmapped[0] if pool.unmapped else self._new_segment(pool)
        before = end.before
        there = before.size if before and before.is_free else 0
        piece = self._map(pool, end, size - there)
        pool.remove(piece)
        return piece

    def _new_segment(self, pool: Pool) -> Piece:
        end = Piece(pool, ADDRESSES, self._addresses(ADDRESSES), is_mapped=False)
        pool.unmapped.append(end)
        return end

    def _map(self, pool: Pool, end: Piece, size: int) -> Piece:
        """Map whole pages at the start of the unmapped end, as a free piece merged with the one before."""
        mapped = Piece(pool, round_up(size, pool.page), end.address)
        if end.before:
            _link(end.before, mapped)
        mapped.after, end.before = end, mapped
        end.address, end.size = end.address + mapped.size, end.size - mapped.size
        self.reserved_on[pool.stream] += mapped.size
        return self._insert(mapped)


def round_up(size: int, step: int) -> int:
    return -(-size // step) * step


def segment_size(size: int) -> int:
    """What is taken from the device for a request that no free piece can serve."""
    if size <= SMALL:
        return SMALL_SEGMENT
    return LARGE_SEGMENT if size < WHOLE_FROM else round_up(size, WHOLE_STEP)


def _grown(piece: Piece) -> int:
    """The size of a piece with what is not mapped behind it."""
    after = piece.after
    return piece.size + (after.size if after and not after.is_mapped else 0)


def _link(piece: Piece, new: Piece) -> None:
    """Put a new piece behind this one."""
    new.before, new.after = piece, piece.after
    if piece.after:
        piece.after.before = new
    piece.after = new


def _merged(first: Piece, second: Piece) -> Piece:
    first.size += second.size
    first.after = second.after
    if second.after:
        second.after.before = first
    return first
