"""PyTorch's caching allocator, rule by rule. Source: c10/cuda/CUDACachingAllocator.cpp."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from archcalc.simulate.allocator import MIB, Allocator, Piece


@pytest.mark.parametrize(
    ("asked", "allocated", "reserved"),
    [
        (1, 512, 2 * MIB),  # whole 512 bytes, of a segment of 2 MiB
        (513, 1024, 2 * MIB),
        (MIB, MIB, 2 * MIB),
        (MIB + 1, MIB + 512, 20 * MIB),  # more than 1 MiB: of a segment of 20 MiB
        (10 * MIB - 512, 10 * MIB - 512, 20 * MIB),
        (10 * MIB, 10 * MIB, 10 * MIB),  # from 10 MiB on a segment of its own, in whole 2 MiB
        (11 * MIB, 12 * MIB, 12 * MIB),  # a rest of 1 MiB is not split off a large piece, and counts as allocated
        (11 * MIB - 512, 11 * MIB - 512, 12 * MIB),  # a rest of more than 1 MiB is
    ],
)
def test_a_single_request(asked: int, allocated: int, reserved: int) -> None:
    allocator = Allocator()
    allocator.malloc(asked)
    assert (allocator.requested, allocator.allocated, allocator.reserved) == (asked, allocated, reserved)


def test_small_and_large_pieces_have_pools_of_their_own() -> None:
    """A free piece of 20 MiB serves no request of 1 MiB."""
    allocator = Allocator()
    allocator.free(allocator.malloc(5 * MIB))
    allocator.malloc(MIB)
    assert allocator.reserved == (20 + 2) * MIB


def test_streams_lend_each_other_nothing() -> None:
    allocator = Allocator()
    allocator.free(allocator.malloc(40 * MIB, stream=0))
    allocator.malloc(40 * MIB, stream=1)
    assert allocator.reserved_on == {0: 40 * MIB, 1: 40 * MIB}
    assert allocator.allocated_on == {0: 0, 1: 40 * MIB}


def test_the_smallest_piece_that_is_large_enough_is_taken() -> None:
    allocator = Allocator()
    pieces = [allocator.malloc(size * MIB) for size in (60, 40, 80)]
    for piece in pieces:
        allocator.free(piece)
    assert allocator.malloc(38 * MIB) is pieces[1]
    assert allocator.reserved == 180 * MIB


def test_a_freed_piece_is_merged_with_its_free_neighbours() -> None:
    """Three parts of one segment of 90 MiB; what is left of it serves the whole again."""
    allocator = Allocator()
    allocator.free(allocator.malloc(90 * MIB))
    parts = [allocator.malloc(30 * MIB) for _ in range(3)]
    assert allocator.reserved == 90 * MIB
    for part in (parts[0], parts[2], parts[1]):
        allocator.free(part)
    allocator.malloc(90 * MIB)
    assert allocator.reserved == 90 * MIB


def test_a_hole_that_is_too_small_stays_unused() -> None:
    """Fragmentation: 30 MiB are free in each of two segments, and 60 MiB have to come from the device."""
    allocator = Allocator()
    for _ in range(2):
        allocator.free(allocator.malloc(50 * MIB))
        allocator.malloc(20 * MIB)
        hole = allocator.malloc(30 * MIB)
    assert allocator.reserved == 100 * MIB
    allocator.free(hole)
    allocator.malloc(60 * MIB)
    assert allocator.reserved == (100 + 60) * MIB


def test_expandable_segments_grow_by_pages_and_leave_no_such_hole() -> None:
    """Pages of 20 MiB: 50 MiB take three, and the next 50 MiB take two more behind them."""
    allocator = Allocator(expandable=True)
    first = allocator.malloc(50 * MIB)
    assert allocator.reserved == 60 * MIB
    second = allocator.malloc(50 * MIB)
    assert allocator.reserved == 100 * MIB
    allocator.free(first)
    allocator.free(second)
    allocator.malloc(110 * MIB)
    assert allocator.reserved == 120 * MIB


def test_an_expandable_segment_of_small_pieces_grows_by_2_mib() -> None:
    allocator = Allocator(expandable=True)
    for _ in range(3):
        allocator.malloc(MIB)
    assert allocator.reserved == 4 * MIB


@pytest.mark.parametrize("expandable", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_pieces_never_overlap_and_numbers_add_up(expandable: bool, seed: int) -> None:
    """Whatever is asked for and freed: every byte is in one piece, free neighbours are merged, and all is merged again
    at the end."""
    random, allocator = Random(seed), Allocator(expandable=expandable)
    there: list[Piece] = []
    for _ in range(400):
        if there and random.random() < 0.45:
            allocator.free(there.pop(random.randrange(len(there))))
        else:
            there.append(allocator.malloc(random.choice((100, 5_000, 3 * MIB, 9 * MIB, 70 * MIB)), random.randrange(2)))
        assert allocator.allocated == sum(piece.size for piece in there)
        assert allocator.requested <= allocator.allocated <= allocator.reserved
    _check_layout(there)
    for piece in there:
        allocator.free(piece)
    assert allocator.allocated == 0
    assert sum(size for pool in allocator.pools.values() for size, _, _ in pool.free) == allocator.reserved


def _check_layout(there: list[Piece]) -> None:
    ordered = sorted(there, key=lambda piece: piece.address)
    assert all(one.address + one.size <= other.address for one, other in pairwise(ordered))
    assert all(not (one.is_free and one.before and one.before.is_free) for one in there)
