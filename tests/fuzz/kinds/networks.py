"""Networks: layers of every kind with their fields, blocks with parameters, and sizes that are worked out."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

from fuzz.case import Case
from fuzz.expressions import Expressions
from fuzz.grammar import Grammar, Schema
from fuzz.kinds.families import written
from fuzz.kinds.shared import asked
from fuzz.kinds.specs import dumped
from fuzz.treewise import places
from fuzz.values import odd

INPUTS = (784, [3, 32, 32], [1, 28, 28], "3 × 224 × 224", [8, 100], [4, 8, 8, 8], [3, 224, 224], 64)
NAMES = ("a", "b", "stage-1", "a.b", "input", "relu", "width", "")
ALONE = ("relu", "gelu", "flatten", "sigmoid", "tanh")
PARAMETERS = ("wide", "stride", "times")
BELOW = 3  # how deep layers stand within layers


def run(case: Case) -> None:
    asked(case, case.write("net.yaml", dumped(spec(case), case.chance(0.3))))


def spec(case: Case) -> dict[str, Any]:
    """A preset with other layers in it, or layers alone; tame, or with much in it that nobody means."""
    wild = case.random.choice((0.0, 0.0, 0.0, 0.05, 0.3))
    net = Net(case, wild)
    return net.changed(case.random.choice(written("network"))) if case.chance(0.6) else net.made()


class Net:
    """Draws layers that may use some names, and call some blocks."""

    def __init__(self, case: Case, wild: float, names: tuple[str, ...] = (), blocks: Schema | None = None) -> None:
        self.case, self.random, self.wild = case, case.random, wild
        self.names, self.blocks = names, blocks or {}
        self.expressions = Expressions(case.random, (*names, "channels"), wild)

    def changed(self, preset: dict[str, Any]) -> dict[str, Any]:
        """A layer put in, taken out or given other fields; or an expression in the place of a value."""
        tree = deepcopy(preset)
        for _ in range(self.random.choice((1, 1, 2, 3))):
            holder, key = self.random.choice(places({name: tree[name] for name in tree if name in _OF_LAYERS}))
            if isinstance(holder, list):
                holder[key : key + self.random.choice((0, 0, 1))] = self.layers(2)
            elif isinstance(holder[key], int) and self.case.chance(0.8):
                holder[key] = self._size()
            else:
                holder |= self._around()
        return tree

    def made(self) -> dict[str, Any]:
        names = self.random.sample(("a", "b", "stage-1"), self.random.choice((0, 0, 1, 2)))
        self.blocks = {name: self._block() for name in names}
        found: dict[str, Any] = {"family": "network", "input": self.random.choice(INPUTS)}
        found |= {"layers": [self.layer() for _ in range(self.random.choice((1, 1, 2, 3, 5)))], "blocks": self.blocks}
        if self.case.chance(0.1):
            found["defaults"] = {word: self._fields(word, 1) for word in self.random.sample(sorted(_kinds()), 2)}
        if self.case.chance(0.1):
            found["heads"] = {name: self.layers(2) for name in self.random.sample(NAMES, 2)}
        return found

    def layers(self, depth: int = 0) -> list[Any]:
        return [self.layer(depth) for _ in range(self.random.choice((0, 1, 1, 2, 3)))]

    def layer(self, depth: int = 0) -> Any:
        chosen = self.random.random()
        if chosen < self.wild / 5:
            return odd(self.random)
        if chosen < 0.25:
            return self.random.choice(ALONE)
        if chosen < 0.3 and depth < BELOW:
            return self.layers(depth + 1)
        if chosen < 0.45 and self.blocks:
            return self._call()
        word = self.random.choice(sorted(_kinds()))
        return {**self._fields(word, depth), **self._around()}

    def _fields(self, word: str, depth: int) -> dict[str, Any]:
        """Those of a kind of layer, the main one under the layer's own name."""
        from archcalc.archs.network.kinds import kinds

        schema, main = _kinds()[word], kinds()[word].FIELDS.main
        drawn = Grammar(self.random, schema.get("$defs", {}), oddly=self.wild / 10, largely=self.wild)
        found = drawn.value({**schema, "required": [main] if main else [], "examples": []})
        fields = found if isinstance(found, dict) else {}
        named = {word if key == main else key: self._value(value, depth) for key, value in fields.items()}
        return named or {word: True}

    def _value(self, value: Any, depth: int) -> Any:
        """Layers within it; a size as an expression, now and then."""
        if isinstance(value, list) and depth < BELOW and self.case.chance(0.3):
            return self.layers(depth + 1)
        is_size = isinstance(value, int) and not isinstance(value, bool)
        return self._size() if is_size and self.case.chance(0.25) else value

    def _size(self) -> Any:
        return self.expressions.number() if self.case.chance(0.8) else self.random.choice((1, 2, 3, 8, 64))

    def _around(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.case.chance(0.1):
            names = NAMES if self.case.chance(self.wild) else [f"n{number}" for number in range(99)]
            found["name"] = self.random.choice(names)
        if self.case.chance(0.1):
            large = (20_000, 10**15, 0, -1, None, "times")
            found["repeat"] = self.random.choice(large) if self.case.chance(0.2) else self._size()
        if self.case.chance(0.1):
            found["when"] = self.expressions.condition()
        if self.case.chance(0.03):
            found["first"] = {"stride": 2}
        return found

    def _block(self) -> dict[str, Any]:
        names = tuple(self.random.sample(PARAMETERS, self.random.choice((0, 1, 2))))
        usual = ("required", 8, 16) if not self.case.chance(self.wild) else ("wide", None, [1], "required required")
        inner = Net(self.case, self.wild, names, {"a": {}} if self.case.chance(self.wild) else {})
        used = [{"linear": name} for name in names if self.case.chance(0.5)]
        return {"parameters": {name: self.random.choice(usual) for name in names}, "layers": [*inner.layers(1), *used]}

    def _call(self) -> dict[str, Any]:
        called = self.random.choice(sorted(self.blocks))
        known = self.blocks[called].get("parameters", {})
        given = {name: self._size() for name in known if known[name] == "required" or self.case.chance(0.3)}
        odd_name: Any = self.random.choice((["a"], {"a": 1}, None, "c", 3))
        return {"block": odd_name if self.case.chance(self.wild) else called, **given, **self._around()}


_OF_LAYERS = ("input", "layers", "blocks", "defaults", "heads", "loss")


@cache
def _kinds() -> dict[str, Schema]:
    """Every kind of layer with its fields."""
    from archcalc.archs.network.kinds import kinds

    return {word: module.FIELDS.model_json_schema() for word, module in kinds().items()}
