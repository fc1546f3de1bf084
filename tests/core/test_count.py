"""Count: an int that remembers its working."""

from __future__ import annotations

import json
import pickle

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from archcalc.core.count import Count, product, total

D_MODEL, HEAD_DIM = Count.named("d_model", 1024), Count.named("head_dim", 192)
HEADS = Count.named("heads", 4, copies=True)
KV_HEADS = Count.named("kv_heads", 2, copies=True)


def test_it_is_an_int_everywhere() -> None:
    """Formatting, hashing, comparing and JSON see an int."""
    count = D_MODEL * HEAD_DIM
    assert f"{count:,}" == "196,608"
    assert json.dumps({"count": count}) == '{"count": 196608}'
    assert hash(count) == hash(1024 * 192)
    assert count == 1024 * 192 < count + 1


def test_products_and_sums_read_as_they_were_made() -> None:
    """The working of one head's projection."""
    count = D_MODEL * HEAD_DIM + HEAD_DIM
    assert count.worked() == "1024 × 192 + 192"
    assert count.worked(names=True) == "d_model × head_dim + head_dim"


def test_copies_stand_in_front_and_equal_terms_are_counted() -> None:
    """Three projections of four heads are 4 × 3 × (…), not a flat sum of six products."""
    projection = total([product([D_MODEL, HEADS, HEAD_DIM]), product([HEADS, HEAD_DIM])])
    assert total([projection] * 3).worked() == "4 × 3 × (1024 × 192 + 192)"
    assert total([projection] * 3).worked(names=True) == "heads × 3 × (d_model × head_dim + head_dim)"


def test_different_copies_stay_apart() -> None:
    """Grouped-query attention has fewer key-value heads."""
    q, k = product([D_MODEL, HEADS, HEAD_DIM]), product([D_MODEL, KV_HEADS, HEAD_DIM])
    assert total([q, k, k]).worked(names=True) == "heads × d_model × head_dim + kv_heads × 2 × d_model × head_dim"


def test_equal_names_of_different_sizes_are_not_counted_together() -> None:
    """Two modules may share a name; their sizes still tell them apart."""
    one, other = Count.named("block", 10, subtotal=True), Count.named("block", 20, subtotal=True)
    assert total([one, other]).worked(names=True) == "block + block"


def test_layers_are_bracketed() -> None:
    """A sum of sums keeps each layer as a group."""
    inner = Count.named("ffn", 512)
    layers = total([D_MODEL * inner + inner, inner * D_MODEL + D_MODEL])
    assert layers.worked() == "(1024 × 512 + 512) + (512 × 1024 + 1024)"


def test_differences_quotients_and_powers_survive() -> None:
    """The patches of an image are worked out too."""
    image, patch = Count.named("image", 224), Count.named("patch", 16)
    assert (image // patch) ** 2 + 1 == 197
    assert ((image // patch) ** 2 + 1).worked(names=True) == "(image // patch)² + 1"
    assert (D_MODEL - 1).worked() == "1024 − 1"
    assert 10 - Count(4) == 6


def test_subtotals_have_separators() -> None:
    """`12 × 4,203,264`: a subtotal reads as a number, a size as it is typed."""
    assert (Count.named("blocks", 12) * Count.named("block", 4203264, subtotal=True)).worked() == "12 × 4,203,264"


def test_it_never_overflows() -> None:
    """FLOPs pass 2⁶³."""
    assert Count(2**62) * 8 == 2**65


@pytest.mark.parametrize("wrong", [numpy.int64(3), True, 2.0, "3"])
def test_other_numbers_are_refused(wrong: object) -> None:
    """numpy's integers overflow without a word, and a bool is no count."""
    with pytest.raises(TypeError, match="exact int"):
        Count(wrong)  # type: ignore[arg-type]


def test_it_survives_pickle_and_pydantic() -> None:
    """The working travels with the value."""

    class Holder(BaseModel):
        count: Count

    count = D_MODEL * HEAD_DIM
    assert pickle.loads(pickle.dumps(count)).worked() == "1024 × 192"
    assert Holder(count=count).count.worked() == "1024 × 192"
    assert Holder(count=count).model_dump_json() == '{"count":196608}'


@given(st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=4), min_size=1, max_size=5))
def test_the_working_comes_to_the_value(terms: list[list[int]]) -> None:
    """Whatever is multiplied and added, the printed working evaluates to the number."""
    count = total(product(map(Count, term)) for term in terms)
    assert eval(count.worked().replace("×", "*").replace(",", "")) == count
    assert sum(_plain_product(term) for term in terms) == count


def _plain_product(term: list[int]) -> int:
    result = 1
    for factor in term:
        result *= factor
    return result
