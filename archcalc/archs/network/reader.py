"""Reads the layers of a spec: opens blocks, works sizes out, and follows the shape from layer to layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from pydantic import ValidationError

from archcalc.archs.network.expression import Mistake, Scope, evaluated
from archcalc.archs.network.kinds import kinds
from archcalc.archs.network.kinds.activation import WORDS_ALONE
from archcalc.archs.network.layer import Layer, Sequence, Step
from archcalc.archs.network.shape import Shape
from archcalc.archs.network.spec import Block, Spec
from archcalc.core.errors import InputError, Path, did_you_mean, together
from archcalc.spec.node import as_size, shown

AROUND = ("name", "repeat", "first", "when")  # fields that any layer may have
MAY_BE_FIELDS = ("norm", "act")  # of another layer: what stands behind it
REQUIRED = "required"
DEEPEST = 20  # blocks within blocks
MOST_LAYERS = 20_000


class Unreadable(InputError):
    """A layer that cannot be read at all; those behind it are looked at as if it were not there."""


@dataclass(frozen=True)
class Place:
    """Where a layer stands: its path in the spec, the names of its block, and the signals it may read."""

    path: Path
    scope: Scope = field(default_factory=dict)
    signals: dict[str, Shape] = field(default_factory=dict)
    depth: int = 0

    def below(self, *keys: str | int) -> Place:
        return replace(self, path=(*self.path, *keys))

    def wrong(self, fact: str, hint: str = "", key: str | int | None = None) -> InputError:
        path = self.path if key is None else (*self.path, key)
        return InputError(fact, hint, fields=[path, self.path])


class Reader:
    """Of one spec."""

    def __init__(self, spec: Spec) -> None:
        self.blocks, self.defaults = spec.blocks, spec.defaults
        self.used: set[str] = set()
        self.number = 0
        self.mistakes: list[InputError] = []
        self._check_names()

    def _check_names(self) -> None:
        for kind in self.defaults:
            if kind not in kinds():
                raise InputError(
                    f"no kind of layer called {kind}", did_you_mean(kind, kinds()), fields=[("defaults", kind)]
                )
        for name in self.blocks:
            if name in kinds() or name in WORDS_ALONE:
                hint = "give the block another name"
                raise InputError(f"{name} is a kind of layer already", hint, fields=[("blocks", name)])

    def refuse_mistakes(self) -> None:
        """All that cannot be read; a block that nothing calls is a mistake too: perhaps another one was meant."""
        if self.mistakes:
            raise together(self.mistakes)
        for name in self.blocks:
            if name not in self.used:
                hint = f"call it with {{block: {name}}}, or take it out"
                raise InputError(f"no layer calls the block {name}", hint, fields=[("blocks", name)])

    def sequence(self, items: Any, shape: Shape, path: Path) -> tuple[Sequence, Shape]:
        """The layers of the network, or of one of its heads."""
        return self.steps(items, shape, Place(path))

    def steps(self, items: Any, shape: Shape, place: Place, *, is_block: bool = False) -> tuple[Sequence, Shape]:
        """Layers one after the other; names that are given inside are known inside."""
        if not isinstance(items, list | tuple):
            raise place.wrong(f"expected a list of layers, found {shown(items)}")
        place = replace(place, signals=dict(place.signals))
        found: list[Step] = []
        numbers: Counter[str] = Counter()
        for index, item in enumerate(items):
            steps, shape = self._looked_at(item, shape, place.below(index))
            found.extend(self._numbered(step, numbers) for step in steps)
            place.signals.update({step.signal: shape for step in steps if step.signal})
        return Sequence(tuple(found), is_block), shape

    def _looked_at(self, item: Any, shape: Shape, place: Place) -> tuple[list[Step], Shape]:
        """A mistake is told together with those behind it; a wrong size may follow from an earlier mistake."""
        try:
            return self._repeated(item, shape, place)
        except Unreadable as mistake:
            self.mistakes.append(mistake)
            return [], shape
        except InputError as mistake:
            raise together([*self.mistakes, *([] if self.mistakes else [mistake])]) from None

    def _numbered(self, step: Step, numbers: Counter[str]) -> Step:
        """`conv_1`, `conv_2`, or the name that the spec gives."""
        self.number += 1
        if self.number > MOST_LAYERS:
            raise InputError(f"a network of more than {MOST_LAYERS:,} layers", "repeat less", fields=[("layers",)])
        numbers[step.name] += 1
        if step.signal and numbers[step.name] == 1:
            return step
        return replace(step, name=f"{step.name}_{numbers[step.name]}")

    def _repeated(self, item: Any, shape: Shape, place: Place) -> tuple[list[Step], Shape]:
        """So many steps, equal neighbours as one, and the shape behind them."""
        word, around, values = self._taken_apart(item, shape, place)
        found: list[Step] = []
        times = self._times(around, place) if around.get("when", True) else 0
        for index in range(times):
            given = {**values, **around.get("first", {})} if index == 0 else values
            layer, behind = self._read(word, given, shape, place)
            if found and found[-1].layer == layer and behind == shape:
                found[-1] = replace(found[-1], repeat=found[-1].repeat + 1)
            else:
                name = str(around.get("name", ""))
                found.append(Step(name or self._base(word, given), layer, signal=name))
            shape = behind
        return found, shape

    def _base(self, word: str, given: dict[str, Any]) -> str:
        if word == "block":
            return str(given.get("block"))
        named = kinds()[word]
        return str(named.title(given)) if hasattr(named, "title") else word

    def _times(self, around: dict[str, Any], place: Place) -> int:
        try:
            times = as_size(around.get("repeat", 1))
        except ValueError as reason:
            raise place.wrong(str(reason), key="repeat") from None
        if times > MOST_LAYERS:
            raise place.wrong(f"more than {MOST_LAYERS:,} repetitions", key="repeat")
        return times

    def _taken_apart(self, item: Any, shape: Shape, place: Place) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """The kind of layer, the fields around it, and its own fields, with every size worked out."""
        scope = {**shape.names, **place.scope}
        item = _worked_out(item, scope, place) if isinstance(item, str) else item
        fields = self._as_mapping(item, place)
        word = self._kind(fields, place)
        around = {key: _worked_out(fields[key], scope, place.below(key)) for key in AROUND if key in fields}
        if "first" in around and not isinstance(around["first"], dict):
            raise place.wrong(f"expected fields such as `stride: 2`, found {shown(around['first'])}", key="first")
        if "first" in around:
            around["first"] = _all_worked_out(around["first"], scope, place.below("first"))
        own = {key: value for key, value in fields.items() if key not in AROUND}
        return word, around, _all_worked_out({**self.defaults.get(word, {}), **own}, scope, place)

    def _kind(self, fields: dict[str, Any], place: Place) -> str:
        """The word among the keys that is a kind of layer; `norm` and `act` are fields beside another one."""
        words = [key for key in fields if key in kinds()]
        if "block" in words:
            return "block"
        own = [word for word in words if word not in MAY_BE_FIELDS] or words
        if len(own) != 1:
            raise Unreadable(*self._no_kind(fields, own), fields=[place.path])
        return own[0]

    def _as_mapping(self, item: Any, place: Place) -> dict[str, Any]:
        if isinstance(item, dict):
            return item
        if isinstance(item, list):
            return {"layers": item}
        if isinstance(item, str) and item in WORDS_ALONE:
            return {"act": item}
        if isinstance(item, str) and item in self.blocks:
            return {"block": item}
        if isinstance(item, str) and item in kinds() and kinds()[item].MAY_STAND_ALONE:
            return {item: True}
        known = (*kinds(), *self.blocks, *WORDS_ALONE)
        raise Unreadable(f"no layer called {shown(item)}", _meant(str(item), known), fields=[place.path])

    def _no_kind(self, fields: dict[str, Any], words: list[str]) -> tuple[str, str]:
        if words:
            return f"two layers in one item: {' and '.join(words)}", "write an item for each, one below the other"
        called = next((key for key in fields if key in self.blocks), None)
        if called:
            return f"{called} is a block", f"call it with {{block: {called}}}"
        given = next(iter(fields), "")
        return f"no kind of layer called {shown(str(given))}", _meant(str(given), kinds())

    def _read(self, word: str, values: dict[str, Any], shape: Shape, place: Place) -> tuple[Layer, Shape]:
        if word == "block":
            return self._called(values, shape, place)
        module = kinds()[word]
        main = module.FIELDS.main
        named = {main if key == word and main else key: value for key, value in values.items()}
        try:
            fields = module.FIELDS.model_validate(named)
        except ValidationError as error:
            from archcalc.spec.mistakes import mistake_in
            from archcalc.spec.other_names import Section

            found_wrong = mistake_in(error, module.FIELDS, named, Section("network", word))
            raise _moved(found_wrong, place, {main: word}) from None
        found: tuple[Layer, Shape] = module.read(word, fields, shape, place, self)
        return found

    def _called(self, values: dict[str, Any], shape: Shape, place: Place) -> tuple[Layer, Shape]:
        """A block's layers, with the parameters of the call."""
        name = values.get("block")
        if name not in self.blocks:
            raise place.wrong(f"no block called {shown(name)}", did_you_mean(str(name), self.blocks), "block")
        if place.depth >= DEEPEST:
            raise place.wrong(f"blocks within blocks, more than {DEEPEST} deep", "a block must not call itself")
        self.used.add(str(name))
        block = self.blocks[str(name)]
        scope = self._parameters(str(name), block, values, shape, place)
        inside = Place(("blocks", str(name), "layers"), scope, place.signals, place.depth + 1)
        return self.steps(block.layers, shape, inside, is_block=not place.depth)

    def _parameters(self, name: str, block: Block, values: dict[str, Any], shape: Shape, place: Place) -> Scope:
        given = {key: value for key, value in values.items() if key != "block"}
        for key in given:
            if key not in block.parameters:
                hint = did_you_mean(key, block.parameters) if block.parameters else "list them under `parameters`"
                raise place.wrong(f"the block {name} has no parameter {key}", hint, key)
        scope: dict[str, Any] = {}
        for key, default in block.parameters.items():
            if key not in given and default == REQUIRED:
                raise place.wrong(f"the block {name} needs {key}", f"give it in the call, such as `{key}: 64`")
            there = Place(("blocks", name, "parameters", key))
            scope[key] = given[key] if key in given else _worked_out(default, {**shape.names, **scope}, there)
        return scope


def _meant(word: str, known: Iterable[str]) -> str:
    """What other libraries mean by a layer of that name, or the layers that are spelled alike."""
    from archcalc.spec.other_names import layer_meant

    return layer_meant("network", word) or did_you_mean(word, known)


def _worked_out(value: Any, scope: Scope, place: Place) -> Any:
    """Texts that are expressions become their values; lists of them too."""
    if isinstance(value, list) and not any(isinstance(each, dict | list) for each in value):
        return [_worked_out(each, scope, place) for each in value]
    if not isinstance(value, str):
        return value
    try:
        return evaluated(value, scope)
    except Mistake as mistake:
        raise InputError(str(mistake), fields=[place.path]) from None


def _all_worked_out(values: dict[str, Any], scope: Scope, place: Place) -> dict[str, Any]:
    return {key: _worked_out(value, scope, place.below(key)) for key, value in values.items()}


def _moved(error: InputError, place: Place, renamed: dict[str, str]) -> Unreadable:
    """The same mistakes under the path of the layer that they stand in."""
    found = []
    for one in error.each():
        paths = [(*place.path, *(renamed.get(str(key), key) for key in path)) for path in one.fields]
        found.append(Unreadable(one.fact, one.hint, more=one.more, fields=[*paths, place.path]))
    return cast(Unreadable, together(found))
