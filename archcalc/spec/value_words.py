"""What a field takes, in words, from its JSON Schema: `a size`, `true or false`, `one of pre, post`."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel

SIZE = "a size, such as 512, 32_000 or 32k"


def value_words(node: type[BaseModel], name: str) -> str:
    """What the field of a node takes."""
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
