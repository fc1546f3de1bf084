"""One line for each block becomes a short pattern, which stands for the same blocks."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from archcalc.archs.transformer import pattern
from archcalc.importers.hf._helpers.layer_types import stack


def written_out(said: Any) -> list[str]:
    """Every block of a stack, as the spec reads it."""
    if isinstance(said, int):
        return ["attention ffn"] * said
    items = pattern.parse(said["pattern"])
    return list(_lines(pattern.cycled(items, said.get("blocks") or pattern.blocks_of(items))))


def _lines(items: Any) -> Any:
    for item in items:
        for _ in range(item.times):
            if isinstance(item, pattern.Group):
                yield from _lines(item.items)
            else:
                yield " ".join(item.words)


@given(st.lists(st.sampled_from(["attention ffn", "local ffn", "mamba moe"]), min_size=1, max_size=40))
def test_a_pattern_stands_for_its_blocks(lines: list[str]) -> None:
    assert written_out(stack(lines)) == lines


def test_equal_blocks_are_a_number() -> None:
    assert stack(["attention ffn"] * 12) == 12


def test_a_period_is_written_once() -> None:
    lines = (["local ffn"] * 5 + ["attention ffn"]) * 4 + ["local ffn"] * 2
    assert stack(lines) == {"blocks": 26, "pattern": ["5 × local ffn", "attention ffn"]}


def test_dense_blocks_come_first() -> None:
    assert stack(["attention ffn"] * 3 + ["attention moe"] * 58) == {
        "pattern": ["3 × attention ffn", "58 × attention moe"]
    }


def test_a_start_of_its_own_stands_before_the_period() -> None:
    lines = ["first ffn", *(["local ffn", "local ffn", "attention ffn"] * 7)]
    found = {"repeat": 7, "pattern": ["2 × local ffn", "attention ffn"]}
    assert stack(lines) == {"pattern": ["first ffn", found]}
