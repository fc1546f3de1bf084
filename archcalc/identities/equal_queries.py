"""Several heads with equal queries over shared keys: the same output again and again, and nothing to average."""

from __future__ import annotations

import torch

from archcalc.identities.finding import Findings, corrected, measured_at, right, sampling, wrong
from archcalc.identities.measure import gap
from archcalc.identities.noisy_keys import SAMPLES, SIZES, A, B, factors, moments, pointed_at, weight_on_a

HEADS = 2


def equal_queries() -> Findings:
    """Noise that is in the keys reaches every head that reads those keys."""
    query = pointed_at(A, B)
    shared = factors()
    single = weight_on_a(query, shared)
    averaged = torch.stack([weight_on_a(query, shared) for _ in range(HEADS)]).mean(0)
    apart = torch.stack([weight_on_a(query, factors(seed)) for seed in range(1, HEADS + 1)]).mean(0)
    one, several, own = moments(single), moments(averaged), moments(apart)
    bound = sampling(one.variance_error, SAMPLES)
    fewer = wrong("H equal queries have 1/H of the variance", abs(several.variance - one.variance / HEADS), bound)
    same = corrected("they give one output H times", gap(averaged, single), of=fewer)
    independent = right("they have 1/H of the variance", abs(own.variance - one.variance / HEADS), bound)
    return measured_at(
        f"{SIZES}, H = {HEADS}",
        fewer,
        same.showing(*several.values()),
        independent.only_if("each head has keys of its own, drawn independently").showing(*own.values()),
    )
