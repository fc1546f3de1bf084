"""What is wrong in a spec: every mistake that validation found, in terms of the spec instead of pydantic's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from archcalc.core.errors import InputError, Path, did_you_mean, together
from archcalc.spec.fields import node_at
from archcalc.spec.gathering import gathering
from archcalc.spec.nearest import nearest
from archcalc.spec.node import NOTHING, Node, shown
from archcalc.spec.other_names import Section, family_of
from archcalc.spec.repair import Repair, drop
from archcalc.spec.value_words import value_words
from archcalc.spec.yaml_writer import flow

MOST = 20  # mistakes that are looked at
OWN = ("mistake", "value_error")  # what archcalc's own validators raise
_WANTED = {  # what a type is called, where that says more than all that the field takes
    "string_type": "text",
    "float_type": "a number",
    "int_type": "a whole number",
    **dict.fromkeys(("tuple_type", "list_type"), "a list"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("model_type", "dict_type", "model_attributes_type"), "fields such as `name: value`"),
}


def mistake_in(
    error: ValidationError, spec: type[Node], data: Any = None, section: Section | None = None
) -> InputError:
    """All mistakes, each with the field that it is about."""
    every = _by_path(error)
    found = dict(list(every.items())[:MOST])
    repair = Repair(spec, data if isinstance(data, dict) else {}, _unknown(found), section)
    named_otherwise = {each.path for each in repair.found.values() if each}  # and missing only for that
    told = []
    for path, one in found.items():
        if one["type"] != "missing" or path not in named_otherwise:
            is_unknown = one["type"] == "extra_forbidden"
            fact, hint = ("no such field", repair.hint(path)) if is_unknown else _fact(one, spec)
            told.append(InputError(fact, hint, fields=[path, path[:-1]]))
    told[0].untold = len(every) - len(found)
    return together(told)


def with_missing(error: InputError, spec: type[Node], data: Any, resolve: Callable[[Any], Any]) -> InputError:
    """The mistakes of a spec, and the fields that would still be missing if they were corrected."""
    about = {_last(mistake.field) for mistake in error.each()}
    try:
        with gathering():
            resolve(spec.model_validate(_as_meant(spec, data)))
    except InputError as left:
        return together([error, *(one for one in left.each() if one.is_missing and _last(one.field) not in about)])
    except ValidationError:  # a value that was meant for another field
        return error
    return error


def _last(field: str) -> str:
    return field.rpartition(".")[2]


def _as_meant(spec: type[Node], data: Any) -> dict[str, Any]:
    try:
        spec.model_validate(data)
    except ValidationError as error:
        found = _by_path(error)
        unknown = _unknown(found)[:MOST]
        repair = Repair(spec, data, unknown)
        for path in found.keys() - set(unknown):
            drop(repair.whole, path)
        return repair.whole
    return dict(data)


def _by_path(error: ValidationError) -> dict[Path, Any]:
    """The mistakes by their fields: the first of each, since a choice of types makes several."""
    found: dict[Path, Any] = {}
    for one in error.errors(include_url=False):
        found.setdefault(tuple(one["loc"]), one)
    return found


def _unknown(found: dict[Path, Any]) -> list[Path]:
    return [path for path, one in found.items() if one["type"] == "extra_forbidden"]


def _fact(one: Any, spec: type[Node]) -> tuple[str, str]:
    """The error, and how to fix it. pydantic's own sentences are never shown: those of its types that archcalc raises
    itself carry archcalc's."""
    kind, found = one["type"], one["input"]
    if kind in OWN:
        return str(one["msg"]).removeprefix("Value error, "), ""
    wanted, example = _taken(spec, one["loc"])
    if found is NOTHING:
        return "expected a value, found nothing", example
    if kind == "missing":
        return f"{one['loc'][-1]} is missing", example
    if kind == "literal_error":
        choices = [choice.strip("'") for choice in one["ctx"]["expected"].replace(" or ", ", ").split(", ")]
        hint = nearest(family_of(spec), one["loc"], found, choices) or did_you_mean(str(found), choices)
        return f"{shown(found)} is not one of {', '.join(choices)}", hint
    if kind == "too_short":
        return f"expected {one['ctx']['min_length']} items or more, found {one['ctx']['actual_length']}", example
    return f"expected {_WANTED.get(kind, wanted)}, found {shown(found)}", "" if kind == "bool_type" else example


def _taken(spec: type[Node], path: Path) -> tuple[str, str]:
    """What a field takes, and a value to try; an item of a list is told by the list."""
    *above, name = [key for key in path if isinstance(key, str)] or [""]
    node = node_at(spec, tuple(above))
    info = node.model_fields.get(name) if node else None
    if node is None or info is None:
        return "another value", ""
    example = next(iter(info.examples or ()), None)
    return value_words(node, name), "" if example is None else f"such as {flow(example)}"
