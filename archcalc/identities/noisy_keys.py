"""A query between two keys of which one is noisy, k_a = γμ_a: one query for both, one for each, equal ones."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import torch
from torch import Tensor, softmax

from archcalc.identities.finding import Findings, Value, corrected, measured_at, right, sampling, wrong
from archcalc.identities.measure import gap, gaussian

KEYS, BETA, SAMPLES = 6, 20.0, 200_000
VARIANCE = 0.5  # of γ, a normal number of mean 1
DRAWS = f"β = {BETA:.0f}, γ ~ N(1, ½), {SAMPLES:,} samples"
SIZES = f"keys γμ_a, μ_b and {KEYS - 2} others, orthonormal μ; {DRAWS}"
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
        SIZES,
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
        f"{SIZES}, H = {HEADS}",
        wrong("H equal queries have 1/H of the variance", abs(several.variance - one.variance / HEADS), bound),
        corrected("they give one output H times", gap(averaged, single)).showing(*several.values()),
        independent.only_if("each head has keys of its own, drawn independently").showing(*own.values()),
    )
