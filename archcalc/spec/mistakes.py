"""What is wrong in a spec: every mistake that validation found, in terms of the spec instead of pydantic's."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from archcalc.core.errors import InputError, Path, did_you_mean, dotted, together
from archcalc.spec.fields import node_at
from archcalc.spec.gathering import gathering
from archcalc.spec.node import NOTHING, Node, shown
from archcalc.spec.other_names import Meant, Section, family_of, meant, plain, table
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
LONGEST = 72  # characters of an example in a hint
SIZE = "a size, such as 512, 32_000 or 32k"


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


def nearest(family: str, path: Path, word: object, choices: Iterable[str]) -> str:
    """`the nearest is gru: …`: what a field takes instead of a word, and in what they differ; nothing where the word is
    not known, or not of this field. Which words people write is data: `presets/nearest`, a file for each family."""
    names, known = [name for name in path if isinstance(name, str)], table(family, "nearest")
    ends = (dotted(tuple(names[start:])) for start in range(len(names)))  # `position.kind` of `decoder.position.kind`
    entry = next((known[end] for end in ends if end in known), {}).get(plain(str(word)))
    if entry is None or entry["use"] not in choices:
        return ""
    return f"the nearest is `{entry['use']}`: {entry['why']}"


@dataclass
class Repair:
    """A spec as it was meant: `data` with its unknown fields, at the paths `unknown`, replaced by what was meant.

    It is never computed with. It shows a user what to write, and it is searched for the mistakes that are left.
    """

    spec: type[Node]
    data: dict[str, Any]
    unknown: list[Path]
    section: Section | None = None  # of the names of other libraries, for a node that is read by itself

    def __post_init__(self) -> None:
        self.found = {
            path: meant(self.spec, str(path[-1]), _at(self.data, path), path[:-1], self.section)
            for path in self.unknown
        }
        self.whole: dict[Any, Any] = copy.deepcopy(self.data)
        for path in self.unknown:
            drop(self.whole, path)
        self.given = {path for path, one in self.found.items() if one and _at(self.whole, one.path) is not None}
        for path, one in self.found.items():
            if one and one.path and path not in self.given:
                self._put(self.whole, one)

    def hint(self, path: Path) -> str:
        """What to write instead."""
        one = self.found[path]
        if one is None:
            node = node_at(self.spec, path[:-1])
            return did_you_mean(str(path[-1]), node.model_fields if node else ())
        if not one.path or one.is_guess or not _is_short(one.value):
            return one.told
        if path in self.given:
            return f"{one.told}, and the spec has it: take `{path[-1]}` out"
        return f"{one.told}: write `{self._example(one)}`"

    def _example(self, one: Meant) -> str:
        """The field with all that stands beside it, where that is short."""
        alone: dict[Any, Any] = {}
        self._put(alone, one)
        top = one.path[0]
        whole, single = (flow({top: self._short((top,), data[top])})[1:-1] for data in (self.whole, alone))
        return whole if len(whole) <= LONGEST else single

    def _put(self, data: dict[Any, Any], one: Meant) -> None:
        whole = node_at(self.spec, one.path)
        *above, last = (*one.path, whole.main) if whole and whole.main else one.path  # `decoder` is `decoder.blocks`
        inner: Any = data
        for depth, key in enumerate(above, start=1):
            node, value = node_at(self.spec, tuple(above[:depth])), inner.get(key, {})
            is_short = node and node.main and not isinstance(value, dict | list)
            inner[key] = {node.main: value} if node and is_short else value
            inner = inner[key]
            if not isinstance(inner, dict):  # a list of positions: no place to put it
                return
        for name, value in one.beside.items():
            inner.setdefault(name, value)
        inner[last] = one.value

    def _short(self, path: Path, value: Any) -> Any:
        """The reverse: fields of which one says it all, as that one."""
        if not isinstance(value, dict):
            return value
        inner = {key: self._short((*path, key), one) for key, one in value.items()}
        node = node_at(self.spec, path)
        return inner[node.main] if node and list(inner) == [node.main] else inner


def _at(data: Any, path: Path) -> Any:
    for key in path:
        if isinstance(key, int):
            data = data[key] if isinstance(data, list) else data
        else:
            data = data.get(key) if isinstance(data, dict) else None
    return data if path else None


def drop(data: Any, path: Path) -> None:
    """Take the field at a path out, or the nearest one around it that is written."""
    for end in range(len(path), 0, -1):
        holder = _at(data, path[: end - 1]) if end > 1 else data
        if isinstance(holder, dict) and holder.pop(path[end - 1], None) is not None:
            return


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST // 2 and value.isprintable()
    return isinstance(value, bool | int | float)


def value_words(node: type[BaseModel], name: str) -> str:
    """What the field of a node takes, from its JSON Schema: `a size`, `true or false`, `one of pre, post`."""
    whole = _schema(node)
    (fields,) = (one["properties"] for one in (whole, *whole.get("anyOf", ())) if "properties" in one)
    return _Words(whole.get("$defs", {})).of(fields[name])


@cache
def _schema(node: type[BaseModel]) -> dict[str, Any]:
    node.model_rebuild()
    return node.model_json_schema()


class _Words:
    def __init__(self, definitions: dict[str, Any]) -> None:
        self.definitions = definitions

    def of(self, schema: dict[str, Any]) -> str:
        if "$ref" in schema:
            return self.of(self.definitions[schema["$ref"].rpartition("/")[2]])
        if "const" in schema or "enum" in schema:
            values = schema.get("enum", [schema.get("const")])
            shown = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
            return f"one of {', '.join(shown)}" if len(shown) > 1 else shown[0]
        if "anyOf" in schema:
            return self._any(schema["anyOf"])
        if "properties" in schema:
            return f"fields: {', '.join(schema['properties'])}"
        return self._plain(schema)

    def _any(self, choices: list[dict[str, Any]]) -> str:
        if any("pattern" in one for one in choices):  # a whole number, or the same as people write it
            return SIZE
        single = [self.of(one) for one in choices if one.get("type") not in ("null", "array")]
        lists = [self.of(one) for one in choices if one.get("type") == "array"]
        words = dict.fromkeys(single)
        return " or ".join(
            [*words, *("a list of such" if each.endswith(" or ".join(words)) else each for each in lists)]
        )

    def _plain(self, schema: dict[str, Any]) -> str:
        kinds = schema.get("type", "any value")
        if isinstance(kinds, list):
            return " or ".join(self._plain({"type": kind}) for kind in kinds)
        if kinds == "array":
            inner = schema.get("items") or (schema.get("prefixItems") or [{}])[0]
            return f"a list, each {self.of(inner)}" if inner else "a list"
        words = {"boolean": "true or false", "string": "text", "object": "fields", "null": "nothing"}
        return words.get(kinds) or _number(kinds, schema)


def _number(kind: str, schema: dict[str, Any]) -> str:
    number = "a whole number" if kind == "integer" else "a number"
    low, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    high, below = schema.get("maximum"), schema.get("exclusiveMaximum")
    bounds = [("from", low), ("above", above), ("to", high), ("below", below)]
    return " ".join([number, *(f"{word} {bound:,}" for word, bound in bounds if bound is not None)])
