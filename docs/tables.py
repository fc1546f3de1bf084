"""Tables of the docs that come from the code: fields in the words of their declarations, and terms of the glossary."""

from __future__ import annotations

import re
from collections.abc import Callable

from archcalc.archs import families, family_module
from archcalc.catalog.fields import Meaning, meanings_of
from archcalc.catalog.glossary import terms
from archcalc.spec.examples import example_of
from archcalc.spec.fields import places

_FIELDS = re.compile(r"^(<!-- fields: (\w+)\.(\w+) -->\n)(?:\|.*\n)*", re.MULTILINE)
_TERMS = re.compile(r"^(<!-- terms: (.+) -->\n)(?:\|.*\n)*", re.MULTILINE)


def with_tables(page: str) -> str:
    """A page of Markdown with the table under each marker `<!-- fields: transformer.Norm -->` as the code has it."""
    return _FIELDS.sub(lambda found: found[1] + _table(found[2], found[3]), page)


def missing_in(page: str) -> list[str]:
    """The nodes whose fields a page lists nowhere, by the marker that would list them."""
    shown = {one.place.owner for found in _FIELDS.finditer(page) for one in _fields(found[2], found[3])}
    every = {place.owner: family for family in families() for place in places(family_module(family).Spec)}
    return sorted(f"{family}.{owner.__name__}" for owner, family in every.items() if owner not in shown)


def _fields(family: str, owner: str) -> list[Meaning]:
    return [one for one in meanings_of(family) if one.place.owner.__name__ == owner]


def _table(family: str, owner: str) -> str:
    rows = _fields(family, owner)
    columns: dict[str, Callable[[Meaning], str]] = {"field": lambda one: f"`{one.place.name}`"}
    if any(one.kinds for one in rows):
        columns["of kind"] = lambda one: ", ".join(one.kinds)
    columns |= {"meaning": lambda one: one.about, "default": lambda one: one.default, "example": _example}
    lines = [list(columns), ["---"] * len(columns), *([cell(one) for cell in columns.values()] for one in rows)]
    return "".join(f"| {' | '.join(_escaped(cell) for cell in line)} |\n" for line in lines)


def _example(one: Meaning) -> str:
    return f"`{example_of(one.spec, one.place)}`"


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")


def with_terms(page: str) -> str:
    """A page of Markdown with the table under each marker `<!-- terms: Counting -->` as the data has it."""
    return _TERMS.sub(lambda found: found[1] + _terms(found[2]), page)


def _terms(section: str) -> str:
    listed = [(", ".join(term.names), term.means, term.worked) for term in terms() if term.section == section]
    rows = [("term", "meaning", "worked"), ("---", "---", "---"), *listed]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
