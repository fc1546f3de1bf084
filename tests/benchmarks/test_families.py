"""The table of model families in docs/importers.md promises no more than is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from families import outcome, table

PAGE = Path(__file__).parent.parent.parent / "docs" / "importers.md"


def _numbers(row: str) -> tuple[int, ...]:
    return tuple(int(cell) for cell in row.split("|")[2:-1])


def test_the_page_has_the_table_and_promises_no_more() -> None:
    """More may be read today than when it was printed."""
    page = {row.split("|")[1]: _numbers(row) for row in PAGE.read_text(encoding="utf-8").splitlines() if _is_row(row)}
    for row in list(table(told=False))[2:]:
        whole, part, refused = page[row.split("|")[1]]
        now = _numbers(row)
        assert (whole <= now[0], whole + part <= now[0] + now[1], whole + part + refused) == (True, True, sum(now))


def _is_row(row: str) -> bool:
    cells = row.split("|")
    return len(cells) == 6 and all(cell.strip().isdecimal() for cell in cells[2:5])


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("llama", ("whole", "")),
        ("convbert", ("refused", "archcalc does not support model_type convbert")),
        ({"model_type": "blip-2"}, ("in part", "without all that is not text")),
    ],
)
def test_an_outcome_says_what_is_missing(said: str | dict[str, str], found: tuple[str, str]) -> None:
    assert outcome(said) == found
