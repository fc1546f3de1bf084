"""The representation: names are identity, children stand in the order of their first op, repeats multiply."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.core.count import Count
from archcalc.core.ir import Dim, Module, Tensor, axes, walk
from archcalc.layers.linear import linear

BATCH, SEQ, WIDTH = Dim.of("batch", 2), Dim.of("seq", 3), Dim.of("d_model", 4)
TINY: dict[str, Any] = {"vocab": 11, "d_model": 8, "heads": 2, "ffn": 16}


def test_two_dims_of_one_name_are_a_mistake() -> None:
    """A d → d layer must name its two sides."""
    with pytest.raises(ValueError, match="two dims of one name"):
        linear(Module("model"), Tensor(axes(BATCH, SEQ, WIDTH)), WIDTH)


def test_one_name_with_two_sizes_is_a_mistake() -> None:
    """A source and a target that are both called seq would be mixed up."""
    one, other = Tensor(axes(BATCH, Dim.of("seq", 3))), Tensor(axes(BATCH, Dim.of("seq", 5)))
    with pytest.raises(ValueError, match="one name with two sizes"):
        Module("model").record("add", one, other)


def test_an_unknown_kind_of_op_is_a_mistake() -> None:
    """No op can slip through without a cost."""
    with pytest.raises(ValueError, match="unknown kind"):
        Module("model").record("multiply-ish", Tensor(axes(BATCH)))


def test_children_stand_in_the_order_of_their_first_op() -> None:
    """Not in the order in which they were made."""
    root, x = Module("model"), Tensor(axes(BATCH, SEQ, WIDTH))
    late, early = root["late"], root["early"]
    y = linear(early, x, Dim.of("ffn", 5))
    linear(late, y, WIDTH)
    assert [child.name for child in root.children] == ["early", "late"]


def test_a_child_that_computes_nothing_is_kept() -> None:
    """A table that nothing reads is still counted."""
    root = Module("model")
    root["spare"].param("weight", WIDTH)
    assert [child.name for child in root.children] == ["spare"]


def test_merged_axes_are_one_axis_to_pytorch() -> None:
    """Concatenated heads are one axis of 4 × 192."""
    heads, head_dim = Dim.of("heads", 4), Dim.of("head_dim", 192)
    assert Tensor(axes(BATCH, SEQ, (heads, head_dim))).shape == (2, 3, 4 * 192)


def test_equal_repeats_count_as_often_as_they_stand() -> None:
    """A node that is repeated three times counts three times."""
    once, thrice = Module("model"), Module("model")
    for root, repeat in ((once, 1), (thrice, 3)):
        root.child("block", repeat=Count(repeat)).param("weight", WIDTH)
    elements = [
        sum(copies * param.elements for module, copies in walk(root) for param in module.params.values())
        for root in (once, thrice)
    ]
    assert elements == [4, 3 * 4]


@pytest.mark.parametrize(
    ("folded", "unrolled"),
    [
        ({"decoder": 5}, {"decoder": {"pattern": ["attention ffn"] * 5}}),
        (
            {"decoder": {"blocks": 7, "pattern": ["2 × wide ffn", "attention ffn"]}},
            {"decoder": {"pattern": (["wide ffn"] * 2 + ["attention ffn"]) * 2 + ["wide ffn"]}},
        ),
        (
            {
                "decoder": {
                    "blocks": 8,
                    "pattern": ["wide ffn", {"repeat": 2, "pattern": ["attention ffn", "2 x wide ffn"]}],
                }
            },
            {"decoder": {"pattern": ["wide ffn"] + ["attention ffn", "wide ffn", "wide ffn"] * 2 + ["wide ffn"]}},
        ),
    ],
)
def test_repeated_is_unrolled(folded: dict[str, Any], unrolled: dict[str, Any]) -> None:
    """Blocks written once and repeated count what the same blocks count when each is written out."""
    wide = {"wide": {"like": "attention", "head_dim": 9}}
    one, other = (
        {**TINY, **decoder, **({"variants": wide} if "wide" in str(decoder) else {})} for decoder in (folded, unrolled)
    )
    assert archcalc.load(one).params().total == archcalc.load(other).params().total


def test_a_thousand_blocks_are_one_node() -> None:
    """The tree of a deep model is as small as that of a shallow one."""
    deep, shallow = (archcalc.load({**TINY, "decoder": blocks}) for blocks in (1000, 1))
    assert len(deep.params().rows) == len(shallow.params().rows)
    block = next(row.each for row in shallow.params().rows if row.path == "decoder.blocks")
    assert deep.params().total - shallow.params().total == 999 * block
