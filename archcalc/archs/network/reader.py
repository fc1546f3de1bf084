"""Reads the layers of a spec: opens blocks, works sizes out, and follows the shape from layer to layer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

from pydantic import ValidationError

from archcalc.archs.network.along import AlongPositions, as_map, as_sequence
from archcalc.archs.network.expression import Mistake, Scope, condition
from archcalc.archs.network.kinds import kinds
from archcalc.archs.network.kinds.activation import WORDS_ALONE
from archcalc.archs.network.layer import IDS, SEQUENCES, Layer, Place, Sequence, Shape, Signal, Step, begins
from archcalc.archs.network.names import AROUND, INPUT, Names, check_block, layer_name, texts
from archcalc.archs.network.spec import Block, Spec
from archcalc.archs.network.values import number, worked_out
from archcalc.core.budget import Budget
from archcalc.core.errors import InputError, Path, close_guess, did_you_mean, together
from archcalc.spec.node import as_size, shown
from archcalc.spec.yaml_writer import flow

MAY_BE_FIELDS = ("norm", "act", "layers")  # of another layer: what stands behind it, how many are stacked
REQUIRED = "required"
DEEPEST = 20  # blocks within blocks
MOST_LISTS = 50  # lists of layers within each other, those of blocks too
MOST_LAYERS = 5_000  # equal neighbours are one
TO_BE_READ = "let a later layer read it by its `name`, or begin the layers behind it in a branch"


class Unreadable(InputError):
    """A layer that cannot be read at all; those behind it are looked at as if it were not there."""


class Reader:
    """Of one spec."""

    def __init__(self, spec: Spec) -> None:
        self.spec, self.blocks, self.defaults = spec, spec.blocks, spec.defaults
        self.layers = Budget("layers once blocks are opened and repeated", MOST_LAYERS, "repeat less")
        self.mistakes: list[InputError] = []
        self.read: set[Path] = set()  # names of layers that another one reads
        self.awaited: list[Path] = []  # those that one must
        for kind in self.defaults:
            if kind not in kinds():
                raise InputError(
                    f"no kind of layer called {kind}", did_you_mean(kind, kinds()), fields=[("defaults", kind)]
                )
        for name, block in self.blocks.items():
            if name in kinds() or name in WORDS_ALONE:
                hint = "give the block another name"
                raise InputError(f"{name} is a kind of layer already", hint, fields=[("blocks", name)])
            check_block(name, block)

    def refuse_mistakes(self) -> None:
        """All that cannot be read; a block that nothing calls is a mistake too: perhaps another one was meant."""
        if self.mistakes:
            raise together(self.mistakes)
        for path in self.awaited:
            if path not in self.read:
                raise InputError("nothing reads what this layer gives", TO_BE_READ, fields=[path, path[:-1]])
        outside = set(texts([self.spec.layers, self.spec.heads, self.defaults]))
        inside = {name: set(texts([block.layers, block.parameters])) for name, block in self.blocks.items()}
        for name in self.blocks:
            if name not in outside.union(*(words for other, words in inside.items() if other != name)):
                hint = f"call it with {{block: {name}}}, or take it out"
                raise InputError(f"no layer calls the block {name}", hint, fields=[("blocks", name)])

    def steps(self, items: Any, shape: Shape, place: Place, *, is_block: bool = False) -> tuple[Sequence, Shape]:
        """Layers one after the other; names that are given inside are known inside."""
        sequence, behind = self.named_steps(items, shape, replace(place, signals=dict(place.signals)))
        return replace(sequence, is_block=is_block), behind

    def named_steps(self, items: Any, shape: Shape, place: Place) -> tuple[Sequence, Shape]:
        """Layers one after the other; their names are put among the place's signals."""
        if not isinstance(items, list | tuple):
            raise place.wrong(f"expected a list of layers, found {shown(items)}")
        if place.lists >= MOST_LISTS:
            raise place.wrong(
                f"more than {MOST_LISTS} lists of layers within each other", "write fewer within each other"
            )
        place = replace(place, lists=place.lists + 1, defaults=())
        found: list[Step] = []
        names, start = Names(items), self._start(items, place)
        shape = place.named(start).shape if start in place.signals else shape
        for index, item in [*enumerate(items)][bool(start) :]:
            try:
                steps, shape = self._repeated(item, shape, place.below(index))
                self._check_beginning(steps, found, place.below(index))
            except Unreadable as mistake:  # it is told together with those behind it
                self.mistakes.append(mistake)
                continue
            except InputError as mistake:  # a wrong size may follow from an earlier mistake
                raise together(self.mistakes or [mistake]) from None
            found.extend(names.given(step) for step in steps)
            named = {step.signal: Signal(shape, (*place.path, index, "name")) for step in steps if step.signal}
            place.signals.update(named)
        return Sequence(tuple(found), start=start if start in place.signals else ""), shape

    def _start(self, items: Any, place: Place) -> str:
        """`input`, or the name of the earlier layer that a list begins with; a word that is a layer stays one."""
        first = next(iter(items), None)
        name = place.scope.get(first, first) if isinstance(first, str) else ""
        known = {INPUT, *place.signals} - {*kinds(), *WORDS_ALONE}
        return name if isinstance(name, str) and name in known else ""

    def _check_beginning(self, steps: list[Step], before: list[Step], place: Place) -> None:
        """A layer that reads nothing stands first, or behind one that a later layer can read by its name."""
        if not steps or not begins(steps[0].layer):
            return
        if before and not before[-1].signal:
            raise place.wrong("nothing reads what the layer before it gives", TO_BE_READ)
        if before:
            self.awaited.append(place.signals[before[-1].signal].path)
        if len(steps) > 1 or steps[0].repeat > 1:
            raise place.wrong("repeated, though it reads nothing of what comes in", "take repeat out", "repeat")

    def _repeated(self, item: Any, shape: Shape, place: Place) -> tuple[list[Step], Shape]:
        """So many steps, equal neighbours as one, and the shape behind them."""
        word, around, values = self._taken_apart(item, shape, place)
        name = layer_name(around["name"], self.blocks, place) if "name" in around else ""
        found: list[Step] = []
        try:
            times = as_size(around.get("repeat", 1)) if around["when"] else 0
        except ValueError as reason:
            raise place.wrong(str(reason), "write how often, such as `repeat: 3`", "repeat") from None
        done = 0
        while done < times:
            given = values if done else {**values, **around.get("first", {})}
            layer, behind = self._read(word, given, shape, place)
            stays = behind == shape and given == values  # what reads its own shape stays as it is
            equal = times - done if stays else 1
            if found and found[-1].layer == layer and behind == shape:
                found[-1] = replace(found[-1], repeat=found[-1].repeat + equal)
            else:
                found.append(Step(name or self._base(word, given), layer, repeat=equal, signal=name))
            shape, done = behind, done + equal
        return found, shape

    def _base(self, word: str, given: dict[str, Any]) -> str:
        if word == "block":
            return str(given.get("block"))
        named = kinds()[word]
        return str(named.title(given)) if hasattr(named, "title") else word

    def _taken_apart(self, item: Any, shape: Shape, place: Place) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """The kind of layer, the fields around it, and its own fields, with every size worked out."""
        scope = {**shape.names, **place.scope}
        fields = self._as_mapping(item, place)
        word = self._kind(fields, place)
        own = {key: value for key, value in fields.items() if key not in AROUND}
        there = replace(place, defaults=("defaults", word) if word in self.defaults else ())
        values = self._worked_out(word, {**self.defaults.get(word, {}), **own}, scope, there)
        return word, self._around(word, fields, scope, place), values

    def _around(self, word: str, fields: dict[str, Any], scope: Scope, place: Place) -> dict[str, Any]:
        """A name as it is written; whether the layer is there, how often, and what differs in the first."""
        around = {key: fields[key] for key in ("name",) if key in fields}
        if "repeat" in fields:
            around["repeat"] = number(fields["repeat"], scope, place.below("repeat"))
        try:
            around["when"] = condition(fields.get("when", True), scope)
        except Mistake as mistake:
            raise place.wrong(str(mistake), key="when") from None
        if "first" in fields and not isinstance(fields["first"], dict):
            raise place.wrong(f"expected fields such as `stride: 2`, found {shown(fields['first'])}", key="first")
        if "first" in fields:
            around["first"] = self._worked_out(word, fields["first"], scope, place.below("first"))
        return around

    def _worked_out(self, word: str, values: dict[str, Any], scope: Scope, place: Place) -> dict[str, Any]:
        """The fields of a layer; of a call, its parameters."""
        if word != "block":
            node = kinds()[word].FIELDS
            written = {{word: node.main}.get(key, key): each for key, each in values.items()}
            found = worked_out(node, written, scope, place)
            return {{node.main: word}.get(key, key): each for key, each in found.items()}
        given = dict(values)
        for key, value in values.items():
            is_said = not isinstance(value, str) or value in self.blocks or value not in place.scope
            if key != "block" or not is_said:  # the block's name stays as it is, unless a parameter says it
                given[key] = number(value, scope, place.below(key))
        return given

    def _kind(self, fields: dict[str, Any], place: Place) -> str:
        """The word among the keys that is a kind of layer, of which the others are fields: `norm`, `act`, `dropout`."""
        words = [key for key in fields if key in kinds()]
        if "block" in words:
            return "block"
        whole = [word for word in words if {*words} - {word} <= kinds()[word].FIELDS.model_fields.keys()]
        own = whole or [word for word in words if word not in MAY_BE_FIELDS] or words
        if len(own) == 1:
            return own[0]
        given = str(next(iter(fields), ""))
        called = next((key for key in fields if key in self.blocks), None)
        fact, hint = f"no kind of layer called {shown(given)}", f"call it with {{block: {called}}}"
        if own:
            fact = f"two layers in one item: {' and '.join(own)}"
            hint = "write an item for each, one below the other"
        elif called:
            fact = f"{called} is a block"
        else:
            hint = _meant(given, kinds())
        raise Unreadable(fact, hint, fields=[place.path])

    def _as_mapping(self, item: Any, place: Place) -> dict[str, Any]:
        if isinstance(item, dict):
            return item
        if isinstance(item, list):
            return {"layers": item}
        if isinstance(item, str) and item in WORDS_ALONE:
            return {"act": item}
        if isinstance(item, str) and item in self.blocks:
            return {"block": item}
        if isinstance(item, str) and item in kinds() and hasattr(kinds()[item], "MAY_STAND_ALONE"):
            return {item: True}
        if isinstance(item, str) and item in place.scope and place.scope[item] != item:
            return self._as_mapping(place.scope[item], replace(place, scope={}))
        if isinstance(item, str) and item in kinds() and item != "block":
            raise Unreadable(f"{item} alone says too little", f"write {_example(item)}", fields=[place.path])
        known = (*kinds(), *self.blocks, *WORDS_ALONE)
        raise Unreadable(f"no layer called {shown(item)}", _meant(str(item), known), fields=[place.path])

    def _read(self, word: str, values: dict[str, Any], shape: Shape, place: Place) -> tuple[Layer, Shape]:
        self.layers.spend(fields=[(*place.path, "repeat"), place.path])
        if word == "block":
            return self._called(values, shape, place)
        module = kinds()[word]
        renamed = {word: module.FIELDS.main or word}
        named = {renamed.get(key, key): value for key, value in values.items()}
        try:
            fields = module.FIELDS.model_validate(named)
        except ValidationError as error:
            from archcalc.spec.mistakes import mistake_in
            from archcalc.spec.other_names import Section

            found_wrong = mistake_in(error, module.FIELDS, named, Section("network", word))
            scope = {**shape.names, **place.scope}
            raise self._moved(
                found_wrong, place, word, {key: close_guess(str(named[key]), scope) for key in named}
            ) from None
        return _layer(module, word, fields, shape, place)

    def _called(self, values: dict[str, Any], shape: Shape, place: Place) -> tuple[Layer, Shape]:
        """A block's layers, with the parameters of the call."""
        name = values.get("block")
        if not isinstance(name, str) or name not in self.blocks:
            hint = did_you_mean(str(name), self.blocks) if self.blocks else "write it under `blocks`"
            raise place.wrong(f"no block called {shown(name)}", hint, "block")
        if place.blocks >= DEEPEST:
            raise place.wrong(f"blocks within blocks, more than {DEEPEST} deep", "a block must not call itself")
        block = self.blocks[name]
        scope = self._parameters(name, block, values, shape, place)
        inside = Place(("blocks", name, "layers"), self, scope, place.signals, place.blocks + 1, place.lists)
        return self.steps(block.layers, shape, inside, is_block=not place.blocks)

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
            there = Place(("blocks", name, "parameters", key), self)
            scope[key] = given[key] if key in given else number(default, {**shape.names, **scope}, there)
            if scope[key] is None:
                raise (place.below(key) if key in given else there).wrong("expected a value, found nothing")
        return scope

    def _moved(self, error: InputError, place: Place, word: str, guesses: dict[str, str]) -> Unreadable:
        """The same mistakes under the path of the layer that they stand in, or of its defaults; a word in the place of
        a size may be a name that is misspelled."""
        renamed = {kinds()[word].FIELDS.main: word}
        there = replace(place, defaults=("defaults", word) if word in self.defaults else ())
        found = []
        for one in error.each():
            paths = [each for path in one.fields for each in there.paths(*(renamed.get(str(key), key) for key in path))]
            hint = one.hint or guesses.get(str(one.fields[0][0]), "")
            found.append(Unreadable(one.fact, hint, more=one.more, fields=[*paths, place.path]))
        return cast("Unreadable", together(found))


def _layer(module: Any, word: str, fields: Any, shape: Shape, place: Place) -> tuple[Layer, Shape]:
    """As its kind reads it; a layer of maps along the positions of a sequence."""
    reads = getattr(module, "READS", ())
    if shape.is_ids and IDS not in reads:
        hint = "put an embedding before it, such as `{embedding: 128, vocab: 20000}`"
        raise place.wrong(f"{word} reads numbers, and ids of tokens come in", hint, word)
    if not shape.is_sequence or SEQUENCES in reads:
        found: tuple[Layer, Shape] = module.read(word, fields, shape, place)
        return found
    layer, behind = module.read(word, fields, as_map(shape), place)
    return AlongPositions(layer), as_sequence(behind)


def _example(word: str) -> str:
    """A layer of that kind with the fields that it needs: `{conv: 64, kernel: 3}`."""
    node = kinds()[word].FIELDS
    needed = {name: info.examples[0] for name, info in node.model_fields.items() if info.is_required()}
    return flow({word: needed.pop(node.main), **needed})


def _meant(word: str, known: Iterable[str]) -> str:
    """What other libraries mean by a layer of that name, or the layers that are spelled alike."""
    from archcalc.spec.other_names import layer_meant

    return layer_meant("network", word) or f"{did_you_mean(word, known)}; `archcalc explain layers` lists them all"
