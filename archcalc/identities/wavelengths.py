"""Sinusoids come back: the wavelength of each pair of coordinates, and how alike far positions look."""

from __future__ import annotations

from math import pi

import torch
from torch import Tensor, cosine_similarity

from archcalc.identities.finding import HUNDREDTH, Bound, Findings, Value, corrected, measured_at, right, wrong
from archcalc.identities.measure import gap
from archcalc.identities.position import encoding, frequencies

D, WIDE = 512, 4096
LENGTH = 100
FAR, FARTHEST = 1_000, 2**17  # beyond two of the longest wavelengths
WIDTHS = (8, 16, 64, 512)
ALIKE = Bound(0.1, "alike is taken to mean: a cosine of 0.9 and more")


def wavelengths(d: int) -> Tensor:
    """2π·10000^(2i/d) positions, for each pair of coordinates."""
    return 2 * pi * 10_000.0 ** (torch.arange(0, d, 2, dtype=torch.float64) / d)


def returned(d: int) -> float:
    """How far any pair is from itself one wavelength of its own later."""
    t, theta = torch.arange(LENGTH, dtype=torch.float64), frequencies(d)
    pairs = zip(theta[:, None], wavelengths(d), strict=True)
    return max(gap(encoding(t, one), encoding(t + period, one)) for one, period in pairs)


def sinusoid_wavelengths() -> Findings:
    """sin tθ and cos tθ repeat after 2π/θ positions: the fastest after 2π, the slowest after nearly 2π·10000."""
    longest = {d: float(wavelengths(d)[-1]) for d in (64, D, WIDE)}
    nearly = right("the longest comes back after 2π·10000", abs(longest[WIDE] / (20_000 * pi) - 1), HUNDREDTH)
    return measured_at(
        f"d = {D}, t < {LENGTH}",
        right("pair i comes back after 2π·10000^(2i/d)", returned(D)),
        nearly.only_if("d is large: it is 2π·10000^(1−2/d)")
        .at(f"d = {WIDE:,}")
        .showing(*(Value(f"d = {d:,}", round(length)) for d, length in longest.items())),
    )


def similarity(d: int, distances: Tensor) -> Tensor:
    """The cosine of E_0 and E_k, for each distance k."""
    start = encoding(torch.zeros(1, dtype=torch.float64), frequencies(d))
    return torch.cat([cosine_similarity(start, encoding(k, frequencies(d))) for k in distances.chunk(32)])


def farthest_alike(d: int) -> Value:
    """The largest similarity from FAR on, and where it is found."""
    found = similarity(d, torch.arange(FAR, FARTHEST, dtype=torch.float64))
    return Value(f"d = {d}, k = {FAR + int(found.argmax()):,}", float(found.max()))


def sinusoid_similarity() -> Findings:
    """A sum of cosines: it falls at first, then rises and falls; in few dimensions it nearly comes back to 1."""
    k, theta = torch.arange(FAR, dtype=torch.float64), frequencies(D)
    found = similarity(D, k)
    cosines = (k[:, None] * theta).cos().mean(1)
    largest = [farthest_alike(d) for d in WIDTHS]
    assert isinstance(largest[0].number, float)
    alike = right(f"positions {FAR:,} and more apart look alike", 1 - largest[0].number, ALIKE).showing(*largest)
    return measured_at(
        f"d = {D}, k < {FAR:,}",
        wrong("the further apart, the less alike", float((found - found.cummin(0).values).max())),
        corrected("cos(E_t, E_{t+k}) = (2/d)·Σ_i cos(kθ_i)", gap(found, cosines)),
        alike.only_if("d is small").at(f"d = {WIDTHS[0]}, {FAR:,} ≤ k < {FARTHEST:,}; largest cosine of each d"),
    )
