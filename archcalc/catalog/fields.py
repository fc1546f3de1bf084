"""What a field of a spec means: its sentence, what it takes, its default, where it may stand, and an example.

What the field's people call so is told as well, from the glossary: `explain "kv cache"`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic_core import PydanticUndefined

from archcalc.archs import families, family_module
from archcalc.catalog.glossary import Term, all_names, found
from archcalc.core.errors import InputError, closest, dotted
from archcalc.report.base import Report
from archcalc.report.table import Column, Line, Table, keys, records_of
from archcalc.spec.examples import example_of
from archcalc.spec.fields import Place, extra, places
from archcalc.spec.mistakes import value_words
from archcalc.spec.node import Node
from archcalc.spec.option_checks import checked
from archcalc.spec.other_names import Meant, named_elsewhere, table

IN_FULL = 3  # meanings that are shown in full; more are listed
LINE = 80  # characters, with the label
NARROW = 24  # of the text beside long labels
MOST_RELATED = 8


@dataclass(frozen=True)
class Meaning:
    """One field, which may stand at several places of one family's spec or of several families'."""

    spec: type[Node]
    families: tuple[str, ...]
    places: tuple[Place, ...]

    @property
    def field(self) -> str:
        return dotted(self.place.path)

    @property
    def place(self) -> Place:
        """The shortest."""
        return min(self.places, key=lambda place: len(place.path))

    @property
    def about(self) -> str:
        return self.place.info.description or ""

    @property
    def kinds(self) -> list[str]:
        """The kinds that have it, where others do not."""
        of = self.place.node.fields_of
        have = [kind for kind, fields in of.items() if self.place.name in fields]
        if have and len(have) < len(of):
            return have
        return []

    @property
    def default(self) -> str:
        unset = extra(self.place.info).get("unset")
        return str(unset) if unset else _default(self.place.info.default)

    @property
    def related(self) -> list[str]:
        """The nearest fields beside it, of the kinds that have it."""
        order = {name: number for number, name in enumerate(self.place.node.model_fields)}
        of_kinds = {name for kind in self.kinds for name in self.place.node.fields_of[kind]}
        beside = [name for name in order if name not in (self.place.name, "kind") and name in (of_kinds or order)]
        return sorted(beside, key=lambda name: abs(order[name] - order[self.place.name]))[:MOST_RELATED]

    @property
    def items(self) -> str:
        """What may stand in a list of layers."""
        words = self.spec.items() if self.place.info.annotation == list[Any] else ()
        return f"kinds: {', '.join(sorted(words))}; `archcalc explain conv` explains one" if words else ""

    @property
    def takes(self) -> str:
        return value_words(self.place.node, self.place.name)

    @property
    def example(self) -> str:
        return example_of(self.spec, self.place)

    @property
    def stands_at(self) -> str:
        """Its places; those in a stack that repeat a place of the model are summed up."""
        paths = [place.path for place in self.places]
        stacks = sorted({path[0] for path in paths if path[1:] in paths})
        own = ", ".join(dotted(path) for path in paths if path[1:] not in paths)
        return f"{own}; also under {' and '.join(stacks)}" if stacks else own


def _default(value: Any) -> str:
    if isinstance(value, Node):
        return _default(getattr(value, value.main)) if value.main else "as its fields say"
    if value is PydanticUndefined:
        return "needed"
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or value in ((), {}):
        return "none"
    is_list = isinstance(value, tuple)
    return f"[{', '.join(map(str, value))}]" if is_list else str(value)


@dataclass(frozen=True)
class FieldReport(Report):
    command: ClassVar[str] = "explain"
    meanings: tuple[Meaning, ...]
    elsewhere: dict[str, str]  # what the name means in a family that has no such field
    terms: tuple[Term, ...] = ()

    def answer(self) -> str:
        if len(self.meanings) == 1:
            return self.meanings[0].about
        if not self.meanings:
            if len(self.terms) == 1:
                return _sentence(self.terms[0].means)
            return f"{len(self.terms)} terms" if self.terms else "no field"
        number, inner = f"{len(self.meanings)} fields", self.meanings[-1].field
        if inner == self.model:
            families = [family for one in self.meanings for family in one.families]
            return f"{number} of that name: of {' and '.join(families)}"
        return f"{number}; `archcalc explain {inner}`, with its place, explains one"

    def beneath(self) -> Sequence[str]:
        """What other libraries mean by the name."""
        said = self.meanings or self.terms
        if not said:
            return ()
        listed = next((one.items for one in self.meanings if one.items), "")
        return [*([listed] if listed else []), *(f"{family}: {told}" for family, told in self.elsewhere.items())]

    def table(self) -> Table:
        return self._tables()[0]

    def more(self) -> Sequence[Table]:
        return self._tables()[1:]

    def _tables(self) -> list[Table]:
        if not (self.meanings or self.terms):
            return [_told("family", "meaning", self.elsewhere)]
        fields = [_listed(self.meanings)]
        if len(self.meanings) <= IN_FULL:
            fields = [_in_full(one, alone=len(self.meanings) == 1) for one in self.meanings]
        return [*fields, *(_term(one, alone=len(self.terms) == 1 and not self.meanings) for one in self.terms)]

    def facts(self) -> dict[str, Any]:
        return {"asked": self.model}

    def details(self) -> dict[str, Any]:
        return {"elsewhere": self.elsewhere}

    def records(self) -> list[dict[str, Any]]:
        return records_of(MEANING, self.meanings)

    def record(self) -> dict[str, Any]:
        return {**super().record(), "terms": [one.record() for one in self.terms]}

    def flat(self) -> list[dict[str, Any]]:
        """Fields, or where there are none terms: a table of one kind."""
        rows = self.records() or [one.record() for one in self.terms]
        listed = [{key: ", ".join(value) for key, value in row.items() if isinstance(value, list)} for row in rows]
        return [{**row, **texts} for row, texts in zip(rows, listed, strict=True)]


MEANING: tuple[Column[Meaning], ...] = (
    Column("field"),
    Column("families", get=lambda one: list(one.families)),
    Column("meaning", get="about"),
    *keys("takes", "default", "kinds"),
    Column("places", get=lambda one: [dotted(place.path) for place in one.places]),
    *keys("example", "related"),
)


def _in_full(one: Meaning, *, alone: bool) -> Table:
    meaning = {} if alone else {"meaning": one.about}
    facts = {
        **meaning,
        "family": ", ".join(one.families),
        "takes": one.takes,
        "only with": f"kind {' or '.join(one.kinds)}" if one.kinds else "",
        "default": one.default,
        "stands at": one.stands_at,
        "example": one.example,
        "beside it": ", ".join(one.related),
    }
    return _told("field", one.field, facts)


def _term(one: Term, *, alone: bool) -> Table:
    meaning = {} if alone else {"meaning": _sentence(one.means)}
    facts = {
        **meaning,
        "worked": one.worked,
        "also": ", ".join(one.names[1:]),
        "fields": ", ".join(one.fields),
        "see": ", ".join(f"archcalc {each}".replace("archcalc --", "--") for each in one.see),
        "try": one.example,
        "shows": one.shown,
    }
    return _told("term", one.name, facts)


def _sentence(text: str) -> str:
    """With a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def _listed(meanings: Sequence[Meaning]) -> Table:
    """A sentence for each."""
    labels = [(one.field, ", ".join(one.families)) for one in meanings]
    taken = sum(max((len(label[i]) for label in labels), default=0) + 2 for i in (0, 1))
    rows = zip(labels, meanings, strict=True)
    lines = [line for label, one in rows for line in _wrapped(label, one.about, LINE - taken)]
    return Table(_columns("field", "family", "meaning"), tuple(lines))


def _told(first: str, second: str, facts: dict[str, str]) -> Table:
    """What is known, a fact after the other."""
    lines = [line for label, text in facts.items() if text for line in _wrapped((label,), text)]
    return Table(_columns(first, second), tuple(lines))


def _columns(name: str, *texts: str) -> tuple[Column[Any], ...]:
    return (Column("", name, "name"), *(Column("", text, "text") for text in texts))


def _wrapped(labels: tuple[str, ...], text: str, width: int = LINE - len("beside it  ")) -> Iterator[Line]:
    """Labels, and the text beside them on as many lines as it needs."""
    first, *others = textwrap.wrap(text, max(width, NARROW), break_on_hyphens=False) or [""]
    yield Line((*labels, first), depth=0)
    yield from (Line((*[""] * len(labels), more), depth=0) for more in others)


@checked
def explain(field: str) -> FieldReport:
    """A field by its name (`window`), its place (`attention.window`) or the name that other libraries have for it, and
    a term of the field (`kv cache`, `6ND`)."""
    asked = tuple(field.strip().lower().split("."))
    meanings = tuple(_merged([one for family in families() for one in _meanings(family, asked)]))
    known = {family for one in meanings for family in one.families}
    elsewhere = {family: found.told for family, found in _elsewhere(field) if family not in known}
    terms = found(field)
    if not (meanings or elsewhere or terms):
        raise InputError(f"no field and no term is called {field}", _nearest(field), field="explain")
    if not meanings:
        meant = [one for family, found in _elsewhere(field) for one in _meanings(family, found.path)]
        meanings = tuple(_merged(meant))
    return FieldReport(model=field, assumptions=(), meanings=meanings, elsewhere=elsewhere, terms=terms)


def meanings_of(family: str) -> list[Meaning]:
    """Every field of a family once, with all its places."""
    spec = family_module(family).Spec
    found: dict[Any, list[Place]] = {}
    for place in places(spec):
        found.setdefault((place.owner, place.name, place.info.description), []).append(place)
    return [Meaning(spec, (family,), tuple(each)) for each in found.values()]


def _meanings(family: str, asked: Sequence[str | int]) -> list[Meaning]:
    """Those whose place ends so, with the places that do."""
    ended = [(one, [place for place in one.places if _ends(place, asked)]) for one in meanings_of(family)]
    return [Meaning(one.spec, one.families, tuple(found)) for one, found in ended if found]


def _ends(place: Place, asked: Sequence[str | int]) -> bool:
    """A layer of a network is also meant by its word alone, which its main field stands for."""
    is_layer = bool(place.item) and place.name == place.node.main and tuple(asked) == (place.item,)
    return is_layer or (bool(asked) and place.path[-len(asked) :] == tuple(asked))


def _merged(meanings: list[Meaning]) -> list[Meaning]:
    """What all families declare once is one meaning."""
    merged: dict[Any, Meaning] = {}
    for one in meanings:
        key = one.place.owner, one.place.name, one.place.path
        before = merged.get(key)
        if before:
            one = Meaning(one.spec, (*before.families, *one.families), before.places)
        merged[key] = one
    return sorted(merged.values(), key=lambda one: len(one.place.path))


def _elsewhere(name: str) -> list[tuple[str, Meant]]:
    found = [(family, named_elsewhere(family_module(family).Spec, name)) for family in families()]
    return [(family, one) for family, one in found if one]


def _nearest(name: str) -> str:
    every = [place for family in families() for place in places(family_module(family).Spec)]
    known = {place.name for place in every} | {dotted(place.path) for place in every}
    known |= {other for family in families() for other in table(family).get("top", {})}
    spelled = {each.lower(): each for each in (*known, *all_names())}
    near = [spelled[each] for each in closest(name, spelled)]
    listed = "docs/language.md lists all fields, docs/glossary.md all terms"
    return f"did you mean {' or '.join(near)}? {listed}" if near else listed
