"""docs/language.md lists every field of every family, in the words of its declaration."""

from __future__ import annotations

from pathlib import Path

from tables import missing_in, with_tables

PAGE = (Path(__file__).parent.parent.parent / "docs" / "language.md").read_text(encoding="utf-8")


def test_every_field_has_a_row() -> None:
    """A node that is missing here needs a line `<!-- fields: family.Class -->`; docs/refresh.py makes its table."""
    assert missing_in(PAGE) == []


def test_the_rows_are_those_of_the_declarations() -> None:
    """`python docs/refresh.py docs/language.md` copies them."""
    assert with_tables(PAGE) == PAGE


def test_a_table_is_made_from_what_fields_say_of_themselves() -> None:
    rows = with_tables("<!-- fields: transformer.Norm -->\n| stale |\n\nmore\n").splitlines()
    assert rows[1] == "| field | of kind | meaning | default | example |"
    assert rows[4] == "| `bias` | layer | Layer norms have a bias. | true | `norm: {bias: false}` |"
    assert rows[-1] == "more"
