"""Values by a JSON Schema: whatever the declared fields take, so that a new field is tried without a line here."""

from __future__ import annotations

import json
import re
from functools import cache
from random import Random
from typing import Any

from fuzz.values import odd

DEEPEST = 4
SIZES = (1, 1, 2, 2, 3, 4, 5, 8, 16, 64, 128, 512, 1000, 30_000, "1k", "2Ki")
LARGE = (10**5, 10**7, 10**9, 10**12, 10**15)
TEXTS = ("a", "x", "relu", "silu", "mean", "gru", "none", "64")
Schema = dict[str, Any]


@cache
def families() -> Schema:
    """Every family's fields, by its name, as editors are given them."""
    from archcalc.json_schema import schema

    found: Schema = json.loads(json.dumps(schema()))["$defs"]
    return found


class Grammar:
    """Draws values; `oddly` is how often one makes no sense, `largely` how often a size is as large as none is."""

    def __init__(self, random: Random, known: Schema, *, oddly: float = 0.01, largely: float = 0.02) -> None:
        self.random, self.known, self.oddly, self.largely = random, known, oddly, largely

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def value(self, schema: Schema, depth: int = 0) -> Any:
        if self.chance(self.oddly):
            return odd(self.random)
        schema = self.one(schema)
        if "const" in schema or "enum" in schema:
            return self.random.choice(schema.get("enum") or [schema["const"]])
        if schema.get("examples") and self.chance(0.4):
            return self.random.choice(schema["examples"])
        kinds = schema.get("type", "object" if "properties" in schema else "integer")
        kind = self.random.choice(kinds) if isinstance(kinds, list) else kinds
        return getattr(self, f"_{kind}")(schema, depth)

    def one(self, schema: Schema) -> Schema:
        """Through references and choices."""
        while True:
            if "$ref" in schema:
                schema = self.known[schema["$ref"].removeprefix("#/$defs/")]
            elif choices := schema.get("anyOf") or schema.get("oneOf"):
                told = [each for each in choices if each.get("type") != "null"]  # leaving it out says the same
                named = {"examples": schema["examples"]} if "examples" in schema else {}
                schema = {**named, **self.random.choice(told or choices)}
            elif schema.get("allOf") and "properties" not in schema:
                schema = self.random.choice(schema["allOf"])
            else:
                return schema

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        """What is needed, and some of the rest; with no fields of its own, any."""
        known = schema.get("properties", {})
        most = 0 if depth > DEEPEST else self.random.choice((0, 1, 2, 3, 5))
        named = [*schema.get("required", ()), *self.random.sample(sorted(known), min(most, len(known)))]
        found = {name: self.value(known.get(name, {}), depth + 1) for name in dict.fromkeys(named)}
        others = schema.get("additionalProperties")
        if isinstance(others, dict):
            found |= {name: self.value(others, depth + 1) for name in self.random.sample(TEXTS, min(most, 2))}
        return found

    def _array(self, schema: Schema, depth: int) -> list[Any]:
        fewest = schema.get("minItems", 0)
        number = fewest if depth > DEEPEST else max(fewest, self.random.choice((0, 1, 1, 2, 3)))
        return [self.value(schema.get("items", {}), depth + 1) for _ in range(min(number, schema.get("maxItems", 9)))]

    def _integer(self, schema: Schema, depth: int) -> Any:
        drawn = self.random.choice(LARGE if self.chance(self.largely) else SIZES)
        return max(drawn, schema.get("minimum", drawn)) if isinstance(drawn, int) else drawn

    def _number(self, schema: Schema, depth: int) -> float:
        return self.random.choice((0.0, 0.1, 0.5, 1.0, 2.5, 10_000.0))

    def _string(self, schema: Schema, depth: int) -> str:
        if "pattern" not in schema:
            return self.random.choice(TEXTS)
        texts = [one for one in (*map(str, SIZES), *schema.get("examples", ())) if isinstance(one, str)]
        return self.random.choice([one for one in texts if re.search(schema["pattern"], one)] or texts)

    def _boolean(self, schema: Schema, depth: int) -> bool:
        return self.chance(0.5)

    def _null(self, schema: Schema, depth: int) -> None:
        return None
