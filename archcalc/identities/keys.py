"""A query halfway between two keys gives the mean of their values, if both keys have equal norm.

Then one of them is noisy, k_a = γμ_a: one query for both, one for each, equal ones.
"""

from __future__ import annotations

from itertools import product
from math import sqrt
from typing import NamedTuple

import torch
from torch import Tensor, softmax

from archcalc.identities.finding import Findings, Value, corrected, measured_at, right, sampling, wrong
from archcalc.identities.measure import gap, gaussian

N, D = 6, 8
A_DIMS, B_DIMS = 3, 2  # directions of v_a and v_b, where those are taken apart again
SHARP = 100.0  # β: a score ahead by only 0.5 then has e⁵⁰ times the weight
SIZES = f"N = {N} keys of width {D}, β = {SHARP:.0f}"


def attend(q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """One query's output: the values, weighed by the softmax of qᵀk."""
    return softmax(keys @ q, dim=0) @ values


def two_keys() -> Findings:
    """q = β(k_a + k_b) scores β(‖k_a‖² + k_aᵀk_b) with k_a, so the two tie exactly when their norms agree."""
    normal = gaussian(seed=8)
    values = normal(N, D)
    mean = (values[0] + values[1]) / 2

    def miss(keys: Tensor) -> float:
        return gap(attend(SHARP * (keys[0] + keys[1]), keys, values), mean)

    orthonormal = torch.linalg.qr(normal(D, D)).Q[:N]
    longer = orthonormal.clone()
    longer[0] *= 1.5
    slanted = orthonormal.clone()  # as long as the others, and no longer orthogonal to k_b
    slanted[0] = 0.6 * orthonormal[0] + 0.8 * orthonormal[1]
    rival = orthonormal.clone()
    rival[2] = orthonormal[0] + orthonormal[1]
    weaker = orthonormal.clone()
    weaker[2] = (orthonormal[0] + orthonormal[1]) / 4

    unrivalled = corrected("(v_a+v_b)/2 beside weaker keys", miss(weaker))
    return measured_at(
        SIZES,
        right("q = β(k_a+k_b) gives (v_a+v_b)/2", miss(orthonormal)).only_if("the keys are orthonormal, β ≫ 0"),
        wrong("(v_a+v_b)/2 also if ‖k_a‖ = 1.5, ‖k_b‖ = 1", miss(longer)),
        corrected("(v_a+v_b)/2, even at k_aᵀk_b = 0.8", miss(slanted)).only_if("‖k_a‖ = ‖k_b‖, β ≫ 0"),
        wrong("(v_a+v_b)/2 also beside a better third key", miss(rival)),
        unrivalled.only_if("every other key has qᵀk < qᵀk_a, β ≫ 0"),
    )


def averaged_heads() -> Findings:
    """A key k_a = γ·u whose factor γ is drawn by the toss of a coin makes one head jump between v_a and v_b."""
    heads = 4
    normal = gaussian(seed=9)
    keys, values = torch.linalg.qr(normal(D, D)).Q[:N], normal(N, D)
    mean = (values[0] + values[1]) / 2

    def output(q: Tensor, factor: float) -> Tensor:
        return attend(q, torch.cat([factor * keys[:1], keys[1:]]), values)

    def pointed(factors: tuple[float, ...]) -> Tensor:
        """Two heads, averaged, each with a query that points at one key; γ·qᵀu > 0 only where γ is positive."""
        return torch.stack([(output(SHARP * keys[0], f) + output(SHARP * keys[1], f)) / 2 for f in factors])

    positive, of_both_signs = (0.5, 1.5), (-0.5, 2.5)  # each of mean 1
    single = torch.stack([output(SHARP * (keys[0] + keys[1]), factor) for factor in positive])
    tosses = product(range(len(positive)), repeat=heads)  # each head with a key of its own: all 2⁴ cases
    averaged = torch.stack([single[list(toss)].mean(0) for toss in tosses])
    share = spread(averaged) * heads / spread(single)
    any_sign = wrong("heads βu and βk_b: no variance for any γ", spread(pointed(of_both_signs)))
    own_keys = "each head has keys of its own, drawn independently"
    return measured_at(
        f"{SIZES}, k_a = γu, γ = 1 ± ½, H = {heads} heads",
        right("one head βu + βk_b: its mean is (v_a+v_b)/2", gap(single.mean(0), mean)),
        right("the average of H heads keeps the mean", gap(averaged.mean(0), mean)),
        right("their average has 1/H of the variance", abs(share - 1)).only_if(own_keys),
        right("heads βu and βk_b: the same mean", gap(pointed(positive).mean(0), mean)).only_if("γ > 0"),
        any_sign.at(f"{SIZES}, γ = 1 ± 1½"),
        corrected("heads βu and βk_b: no variance", spread(pointed(positive))).only_if("γ > 0"),
    )


def spread(outcomes: Tensor) -> float:
    """The variance of a vector that takes each of these values equally often, summed over its entries."""
    return float(((outcomes - outcomes.mean(0)) ** 2).sum(1).mean())


def projection_coordinates() -> Findings:
    """A has a column for each direction of v_a, B for v_b; Aᵀ has as many rows as there are coordinates."""
    normal = gaussian(seed=29)
    basis = torch.linalg.qr(normal(D, D)).Q
    a, b = basis[:, :A_DIMS], basis[:, A_DIMS : A_DIMS + B_DIMS]
    coordinates = normal(A_DIMS)
    v_a, v_b = a @ coordinates, b @ normal(B_DIMS)
    projected = a.T @ (v_a + v_b)
    slanted = normal(D, A_DIMS)  # a basis too, but not orthonormal
    skewed = slanted @ coordinates
    return measured_at(
        f"vectors of {D}, v_a in {A_DIMS} and v_b in {B_DIMS} directions",
        wrong("M = Aᵀ: M(v_a+v_b) = v_a", gap(torch.cat([projected, torch.zeros(D - A_DIMS)]), v_a)),
        corrected("Aᵀ(v_a+v_b) = c, the coordinates: v_a = A·c", gap(projected, coordinates)),
        right("A·Aᵀ(v_a+v_b) = v_a", gap(a @ projected, v_a)).only_if("A is orthonormal and orthogonal to B"),
        wrong("A·Aᵀ·v_a = v_a for every basis A", gap(slanted @ slanted.T @ skewed, skewed)),
        corrected("A·A⁺·v_a = v_a for every basis A", gap(slanted @ torch.linalg.pinv(slanted) @ skewed, skewed)),
    )


KEYS, BETA, SAMPLES = 6, 20.0, 200_000
VARIANCE = 0.5  # of γ, a normal number of mean 1
DRAWS = f"β = {BETA:.0f}, γ ~ N(1, ½), {SAMPLES:,} samples"
NOISY = f"keys γμ_a, μ_b and {KEYS - 2} others, orthonormal μ; {DRAWS}"
A, B = 0, 1
HEADS = 2  # with equal queries


class Moments(NamedTuple):
    """Mean and variance of samples, each with its standard error."""

    mean: float
    mean_error: float
    variance: float
    variance_error: float

    def values(self) -> tuple[Value, Value]:
        """As they are shown."""
        return Value("mean", self.mean, self.mean_error), Value("variance", self.variance, self.variance_error)


def moments(samples: Tensor) -> Moments:
    """With standard errors from the samples themselves."""
    centred, n = samples - samples.mean(), len(samples)
    variance, fourth = float((centred**2).mean()), float((centred**4).mean())
    return Moments(float(samples.mean()), sqrt(variance / n), variance, sqrt((fourth - variance**2) / n))


def factors(seed: int = 1) -> Tensor:
    """γ, a draw for each sample."""
    return 1 + sqrt(VARIANCE) * gaussian(seed)(SAMPLES)


def pointed_at(*directions: int, keys: int = KEYS) -> Tensor:
    """A query: β times the sum of these directions μ, which are the unit vectors."""
    query = torch.zeros(keys, dtype=torch.float64)
    query[list(directions)] = BETA
    return query


def weight_on_a(query: Tensor, gamma: Tensor) -> Tensor:
    """The weight of v_a among keys γμ_a, μ_b, …, for each γ: its score is γ·qᵀμ_a, the others' are qᵀμ."""
    scores = query.repeat(len(gamma), 1)
    scores[:, A] *= gamma
    return softmax(scores, dim=1)[:, A]


def one_each(gamma: Tensor, keys: int = KEYS) -> Tensor:
    """The average of two heads, q₁ = βμ_a and q₂ = βμ_b."""
    first, second = pointed_at(A, keys=keys), pointed_at(B, keys=keys)
    return (weight_on_a(first, gamma) + weight_on_a(second, gamma)) / 2


def integrated(weight: Tensor, gamma: Tensor) -> tuple[float, float]:
    """Mean and variance of a weight by integration over γ, on the fine grid that `gamma` is."""
    density = torch.exp(-((gamma - 1) ** 2) / (2 * VARIANCE))
    share = density / density.sum()
    mean = float(share @ weight)
    return mean, float(share @ (weight - mean) ** 2)


def noisy_keys() -> Findings:
    """One query jumps between v_a and v_b with γ; a query for each keeps v_b, and loses v_a only where γ is small."""
    gamma, grid = factors(), torch.linspace(-7, 9, 20_001, dtype=torch.float64)
    both = pointed_at(A, B)
    single, double, alone = (moments(w) for w in (weight_on_a(both, gamma), one_each(gamma), one_each(gamma, keys=2)))
    _, variance = integrated(weight_on_a(both, grid), grid)
    mean_of_two, variance_of_two = integrated(one_each(grid), grid)
    mean_alone, _ = integrated(one_each(grid, keys=2), grid)

    close = [sampling(each.mean_error, SAMPLES) for each in (single, double, alone)]
    spread = [sampling(each.variance_error, SAMPLES) for each in (single, double)]
    half = right("q = β(μ_a+μ_b): v_a has weight ½ in the mean", abs(single.mean - 0.5), close[0])
    less = corrected("it is ½·E[1/(1 + 5·e^−βγ)]", abs(double.mean - mean_of_two), close[1])
    without_others = right("it is ½·E[1/(1 + e^−βγ)]", abs(alone.mean - mean_alone), close[2])
    return measured_at(
        NOISY,
        half.showing(*single.values()),
        right("its variance is the integral over γ", abs(single.variance - variance), spread[0]),
        wrong("q₁ = βμ_a, q₂ = βμ_b: the mean is ½ too", abs(double.mean - 0.5), close[1]),
        less.showing(*double.values()),
        right("their variance is the integral over γ", abs(double.variance - variance_of_two), spread[1]),
        without_others.only_if("there are no other keys").at(f"keys γμ_a and μ_b; {DRAWS}").showing(*alone.values()),
    )


def equal_queries() -> Findings:
    """Noise that is in the keys reaches every head that reads those keys, and there is nothing to average."""
    query = pointed_at(A, B)
    shared = factors()
    single = weight_on_a(query, shared)
    averaged = torch.stack([weight_on_a(query, shared) for _ in range(HEADS)]).mean(0)
    apart = torch.stack([weight_on_a(query, factors(seed)) for seed in range(1, HEADS + 1)]).mean(0)
    one, several, own = moments(single), moments(averaged), moments(apart)
    bound = sampling(one.variance_error, SAMPLES)
    independent = right("they have 1/H of the variance", abs(own.variance - one.variance / HEADS), bound)
    return measured_at(
        f"{NOISY}, H = {HEADS}",
        wrong("H equal queries have 1/H of the variance", abs(several.variance - one.variance / HEADS), bound),
        corrected("they give one output H times", gap(averaged, single)).showing(*several.values()),
        independent.only_if("each head has keys of its own, drawn independently").showing(*own.values()),
    )
