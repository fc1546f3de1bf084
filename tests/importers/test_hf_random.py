"""Every model type, with random sizes, switches and patterns, counts what transformers builds, tensor by tensor.

A few configs of each type here; `python benchmarks/coverage.py` takes fifty.
"""

from __future__ import annotations

import random

import pytest
from support.hf_random import files
from support.hf_small import NAMED
from support.hf_truth import judge

from archcalc.importers.hf import translators
from archcalc.importers.hf._helpers.reading import described


def test_every_named_type_has_a_translator() -> None:
    assert set(NAMED.split()) <= set(translators())


BUILT = sorted(name for name in translators() if described(name)["classes"])  # others are parts of larger ones


@pytest.mark.wide(20)
@pytest.mark.parametrize("model_type", BUILT)
def test_random_configs_are_exact(model_type: str) -> None:
    """As a sparse, a full and a diff file; what transformers cannot build does not count. No named type is refused."""
    exact = 0
    for seed in range(3 if model_type in NAMED.split() else 1):
        rng = random.Random(f"{model_type} {seed}")
        for said in files(model_type, rng, described(model_type)["classes"]):
            verdict = judge(said)
            assert verdict.outcome != "wrong", f"{verdict}\n{said}"
            assert verdict.outcome != "refused" or model_type not in NAMED.split(), f"{verdict}\n{said}"
            exact += verdict.outcome == "exact"
    assert exact or model_type not in NAMED.split()
