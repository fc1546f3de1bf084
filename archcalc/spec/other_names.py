"""A field that does not exist: the one that was meant, by the names of other libraries, its place or its spelling.

Which names other libraries use is data: `presets/names`, a file for each family.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from archcalc.core.errors import Path, closest, did_you_mean, dotted
from archcalc.spec.fields import node_at, places
from archcalc.spec.node import Node
from archcalc.spec.paths import data_root
from archcalc.spec.yaml_reader import read

TOP = "top"  # of the file of names: those of the whole model
LAYERS = "layers"  # those of whole layers, with what to write for them
SPELLED_ALIKE = 0.85
MOST_PLACES = 3  # of a field that stands in many


@dataclass(frozen=True)
class Section:
    """Where names are looked up: the file of a family, and its section for the node that they stand in."""

    family: str
    name: str = TOP


@dataclass(frozen=True)
class Meant:
    """The field that an unknown name stands for. Without a path there is none, and `told` says why."""

    path: Path
    told: str
    value: Any = None
    is_guess: bool = False  # it is spelled alike, and may be another
    beside: dict[str, Any] = field(default_factory=dict)  # what has to stand beside it, unless the spec has it


def meant(spec: type[Node], name: str, value: Any, above: Path = (), section: Section | None = None) -> Meant | None:
    """What a field called `name` at the place `above` of a spec may mean; None if nothing is like it.

    `section` is for a node that is read by itself, such as a layer of a network."""
    by_library = named_elsewhere(spec, name, value, above, section)
    return by_library or _at_another_place(spec, name, value, above) or _misspelt(spec, name, value, above)


def named_elsewhere(
    spec: type[Node], name: str, value: Any = None, above: Path = (), section: Section | None = None
) -> Meant | None:
    """The field that other libraries call so."""
    section = section or Section(family_of(spec))
    names = table(section.family)
    near = names.get(str(above[-1]) if above else section.name, {}).get(plain(name))
    if near is not None:
        return _entry(name, value, near, above)
    entry = names.get(TOP, {}).get(plain(name)) if section.name == TOP else None
    if entry is None:
        return None
    found = _entry(name, value, entry, ())
    inside = node_at(spec, above) if above and found.path else None  # a stack has most fields of the model
    if inside is None or found.path[0] not in inside.model_fields:
        return found
    return _entry(name, value, entry, above)


def _entry(name: str, value: Any, entry: Any, above: Path) -> Meant:
    """An entry of the table: a field, several, a field with more, or why there is none."""
    said = entry if isinstance(entry, dict) else {"field": entry}
    if "says" in said:
        return Meant((), f"`{name}`: {said['says']}")
    several = said["field"] if isinstance(said["field"], list) else [said["field"]]
    paths: list[Path] = [(*above, *one.split(".")) for one in several]
    called = " or ".join(f"`{dotted(path)}`" for path in paths)
    translated = said.get("values", {}).get(str(value).lower(), value)
    return Meant(paths[0], f"`{name}` is {called} here", translated, beside=said.get("with", {}))


def _at_another_place(spec: type[Node], name: str, value: Any, above: Path) -> Meant | None:
    """A field of this name that stands somewhere else: `window` at the top for `attention.window`."""
    found = [place for place in places(spec) if plain(place.name) == plain(name)]
    nearest = sorted(found, key=lambda place: (place.path[: len(above)] != above, len(place.path)))
    by_owner = {place.owner: place.path for place in reversed(nearest)}  # the nearest place of each that declares it
    if not by_owner:
        return None
    paths = sorted(by_owner.values(), key=lambda path: (path[: len(above)] != above, len(path)))[:MOST_PLACES]
    called = " or ".join(f"`{dotted(path)}`" for path in paths)
    return Meant(paths[0], f"`{name}` is {called}", value)


def _misspelt(spec: type[Node], name: str, value: Any, above: Path) -> Meant | None:
    node = node_at(spec, above)
    near = closest(name, node.model_fields) if node else []
    if near:
        return Meant((*above, near[0]), did_you_mean(name, node.model_fields if node else ()), value, is_guess=True)
    known = table(family_of(spec)).get(TOP, {})
    alike = difflib.get_close_matches(plain(name), known, n=1, cutoff=SPELLED_ALIKE)
    return named_elsewhere(spec, alike[0], value, above) if alike else None


def layer_meant(family: str, word: str) -> str:
    """What to write for a layer that other libraries call so; empty if none does."""
    entry = table(family).get(LAYERS, {}).get(plain(word))
    return f"write `{entry}`" if entry else ""


def family_meant(word: str, known: Iterable[str]) -> str:
    """What to write instead of a word that is no family, such as lstm; empty if no family is like it."""
    file = data_root() / "names" / "family.yaml"
    words = {plain(name): entry for name, entry in read(file.read_bytes(), str(file)).data.items()}
    entry = words.get(plain(word))
    if entry is None or entry["family"] not in known:
        return ""
    return f"write `family: {entry['family']}`, with `{entry['with']}`"


@cache
def table(family: str, folder: str = "names") -> dict[str, dict[str, Any]]:
    """The names of other libraries for a family, by the place where they are written; or other words about fields."""
    file = data_root() / folder / f"{family}.yaml"
    if not family or not file.is_file():
        return {}
    data = read(file.read_bytes(), str(file)).data
    return {place: {plain(name): entry for name, entry in names.items()} for place, names in data.items()}


def fits(spec: type[Node], names: Iterable[str]) -> bool:
    """Whether all names are fields of a spec, or what other libraries call them."""
    known = {*map(plain, spec.model_fields), *table(family_of(spec)).get(TOP, {})}
    return all(plain(name) in known for name in names)


def family_of(spec: type[Node]) -> str:
    """The family that a spec is of."""
    info = spec.model_fields.get("family")
    return str(info.default) if info else ""


def plain(name: str) -> str:
    """`numLayers`, `num-layers` and `num_layers` are one name."""
    return re.sub(r"[^a-z0-9]", "", str(name).lower())
