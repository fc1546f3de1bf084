"""Numbers of things, and lists of them, as sentences have them."""

from __future__ import annotations

import pytest

from archcalc.core.words import counted, enumeration


@pytest.mark.parametrize(("number", "words"), [(0, "0 presets"), (1, "1 preset"), (2, "2 presets")])
def test_one_thing_stands_alone(number: int, words: str) -> None:
    assert counted(number, "preset") == words


def test_several_may_take_more_than_an_s() -> None:
    assert [counted(number, "identity", "identities") for number in (1, 3)] == ["1 identity", "3 identities"]


@pytest.mark.parametrize(("listed", "words"), [("q", "q"), ("qk", "q and k"), ("qkv", "q, k and v")])
def test_the_last_comes_behind_an_and(listed: str, words: str) -> None:
    assert enumeration(listed) == words
