"""Two towers in one space: their outputs are compared across the batch."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.core.errors import InputError

WIDTH = 12


def spec(*, bias: bool = False, **text: Any) -> dict[str, Any]:
    head = {"kind": "classifier", "classes": WIDTH, "bias": False}
    sizes = {"d_model": 16, "heads": 2, "ffn": 32}
    vision = {"reads": "image", **sizes, "embedding": {"patch": 4}, "encoder": 1}
    words = {"reads": "text", **sizes, "vocab": 9, "decoder": 1}
    return {
        "inputs": {"image": "3 × 8 × 8", "text": "tokens"},
        "parts": {
            "vision": {**vision, "head": {**head, "pool": "class"}},
            "words": {**words, "head": {**head, "pool": "last", **text}},
        },
        "similarity": {"of": ["words", "vision"], "bias": bias},
    }


def test_a_learned_factor_and_a_bias() -> None:
    count = archcalc.load(spec()).params().total
    assert archcalc.load(spec(bias=True)).params().total == count + 1


def test_every_text_meets_every_image() -> None:
    """A product of (batch, width) and (width, batch)."""
    few, more = (archcalc.load(spec()).flops(batch=batch, seq=5).forward for batch in (1, 4))
    assert more - 4 * few == 2 * WIDTH * (4 * 4 - 4 * 1)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"of": ["words"]}, "1 parts to compare"),
        ({"of": ["words", "visoin"]}, "no part called visoin"),
    ],
)
def test_what_is_compared_must_be_two_parts(change: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        archcalc.load({**spec(), "similarity": change})


def test_vectors_of_unlike_widths_or_positions_are_refused() -> None:
    with pytest.raises(InputError, match="vectors of 5 and of 12 numbers"):
        archcalc.load(spec(classes=5))
    with pytest.raises(InputError, match="not a vector for each sample"):
        archcalc.load(spec(pool="each"))


def test_towers_that_are_compared_write_no_token() -> None:
    """A causal text tower keeps no keys and values, and no engine that serves tokens runs it."""
    model = archcalc.load({**spec(), "transformers": "clip"})
    assert model.memory(mode="infer").record()["parts"]["kv_cache"] == 0
    with pytest.raises(InputError, match="the model has no decode step"):
        model.memory(mode="decode")
    assert model.fit(["rtx-4090"]).rows[0].verdict.value == "fits"
