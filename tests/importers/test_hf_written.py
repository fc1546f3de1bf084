"""A translator makes a spec like any other: printed as YAML it counts the same; nonsense is told, not raised."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.hf_random import files
from support.hf_random_whole import WHOLE, whole
from support.hf_truth import tensors_of

from archcalc.core.errors import InputError
from archcalc.importers.files import of_bytes
from archcalc.importers.hf import translators
from archcalc.importers.hf._helpers.reading import described
from archcalc.model import Model
from archcalc.spec.yaml_reader import read

DRAWS = 24  # some of which are refused
TYPES = sorted(name for name in translators() if described(name)["classes"])


def a_config(model_type: str, seed: int) -> dict[str, Any]:
    """Of several parts, with sizes that fit together; any of its classes."""
    rng, classes = random.Random(f"written {model_type} {seed}"), described(model_type)["classes"]
    if model_type in WHOLE:
        return {**whole(model_type, rng), "architectures": [rng.choice(sorted(classes))]}
    return next(files(model_type, rng, classes))


@pytest.mark.wide(20)
@pytest.mark.parametrize("model_type", TYPES)
def test_the_yaml_counts_the_same(model_type: str) -> None:
    """Every tensor, though the YAML leaves out what follows from the rest."""
    counted = 0
    for seed in range(DRAWS):
        if counted == 2:
            break
        raw = json.dumps(a_config(model_type, seed)).encode()
        try:
            model = Model.from_document(of_bytes(raw, "config.json"), "model")
        except InputError:
            continue
        again = Model.from_document(read(model.yaml().encode(), "shown.yaml"), "model")
        assert tensors_of(again) == tensors_of(model)
        counted += 1
    assert counted == 2


NONSENSE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.integers(), max_size=3),
    st.lists(st.text(max_size=5), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
)


@settings(max_examples=400)
@given(st.sampled_from(TYPES), st.integers(0, 3), st.data())
def test_nonsense_is_told_and_never_raised(model_type: str, seed: int, data: st.DataObject) -> None:
    """Any value in any field either counts or is an InputError."""
    said = a_config(model_type, seed)
    keys = sorted({*said, *described(model_type)["defaults"]} - {"model_type"})
    said[data.draw(st.sampled_from(keys))] = data.draw(NONSENSE)
    try:
        Model.from_document(of_bytes(json.dumps(said).encode(), "config.json"), "model").params()
    except InputError as error:
        assert str(error)
