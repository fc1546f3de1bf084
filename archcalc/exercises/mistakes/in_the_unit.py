"""Right figures in another unit: bits for bytes, MiB for bytes, multiply-adds for FLOPs, per sample or per token."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

_MEMORY = (
    ("bits for bytes", Fraction(8), "this is in bits: a byte has eight"),
    ("kB for bytes", Fraction(1, 10**3), "this is in kB, not in bytes"),
    ("MB for bytes", Fraction(1, 10**6), "this is in MB (10⁶ bytes), not in bytes"),
    ("GB for bytes", Fraction(1, 10**9), "this is in GB (10⁹ bytes), not in bytes"),
    ("KiB for bytes", Fraction(1, 2**10), "this is in KiB, not in bytes"),
    ("MiB for bytes", Fraction(1, 2**20), "this is in MiB (2²⁰ bytes), not in bytes"),
    ("GiB for bytes", Fraction(1, 2**30), "this is in GiB (2³⁰ bytes), not in bytes"),
    ("MB for MiB", Fraction(10**6, 2**20), "MB (10⁶ bytes) and MiB (2²⁰ bytes) are mixed up"),
    ("MiB for MB", Fraction(2**20, 10**6), "MB (10⁶ bytes) and MiB (2²⁰ bytes) are mixed up"),
)
_FLOPS = (
    ("multiply-adds for FLOPs", Fraction(1, 2), "a multiplication with its addition is two FLOPs"),
    ("training for forward", Fraction(3), "forward and backward together: the forward pass alone is asked"),
)
_PARAMETERS = (
    ("bytes for parameters", Fraction(4), "4 bytes for each parameter: their number is asked, not their bytes"),
    ("bytes for parameters", Fraction(2), "2 bytes for each parameter: their number is asked, not their bytes"),
)
ONE_SAMPLE = "one sample for the batch"
UNITS = {"params": _PARAMETERS, "memory": _MEMORY, "flops": _FLOPS}


def factors(question: str, batch: int) -> Iterator[tuple[str, Fraction, str]]:
    """What a right answer is multiplied by in each of them."""
    yield from UNITS.get(question, ())
    if question == "flops" and batch > 1:
        yield ONE_SAMPLE, Fraction(1, batch), f"the batch of {batch:,} is missing"
