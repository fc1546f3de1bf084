"""Names in a network: of layers, of blocks and their parameters, of heads. A name is a name, never arithmetic."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from archcalc.archs.network.layer import Place, Step
from archcalc.archs.network.spec import Block
from archcalc.core.errors import InputError, Path, together
from archcalc.spec.node import shown

INPUT = "input"  # what comes in, where branches are named
AROUND = ("name", "repeat", "first", "when")  # fields that any layer may have
_TAKEN = {*AROUND, "block", "true", "false", "min", "max", *keyword.kwlist}  # by the language of calls and expressions


class Names:
    """Of the layers of one list: those that the spec gives, and `conv_1`, `conv_2` for the others."""

    def __init__(self, items: Collection[Any]) -> None:
        self.taken = {str(item["name"]) for item in items if isinstance(item, dict) and "name" in item}
        self.numbers: Counter[str] = Counter()

    def given(self, step: Step) -> Step:
        """The step under a name that no other step has."""
        self.numbers[step.name] += 1
        if step.signal and self.numbers[step.name] == 1:
            return step
        while f"{step.name}_{self.numbers[step.name]}" in self.taken:
            self.numbers[step.name] += 1
        return replace(step, name=f"{step.name}_{self.numbers[step.name]}")


def layer_name(name: Any, blocks: Collection[str], place: Place) -> str:
    """The name that the spec gives a layer; one that stands for something else already is refused."""
    refuse_unnamable(name, (*place.path, "name"))
    if name == INPUT or name in blocks:
        meaning = "what comes in" if name == INPUT else "a block"
        raise place.wrong(f"{name} is {meaning} already", "give the layer another name", "name")
    first = place.signals.get(name)
    if first and _body(first.path) == _body(place.path):
        second = place.wrong(f"a second layer called {name}", "give one of the two another name", "name")
        raise together([InputError(f"a layer called {name}", fields=[first.path]), second])
    return str(name)


def _body(path: Path) -> Path:
    """The block, the head, or all other layers: a block may use a name that its caller has for something else."""
    return path[:2] if path[0] in ("blocks", "heads") else ()


def refuse_unnamable(name: Any, path: Path) -> None:
    """Of a layer, a block or a head; a dot stands between a layer and those inside it."""
    if not isinstance(name, str) or not name.strip() or "." in name or not name.isprintable():
        hint = "use letters and digits, and no dots, such as `stage-1`; a number needs quotes"
        raise InputError(f"expected a name, found {shown(name)}", hint, fields=[path, path[:-1]])


def check_block(name: str, block: Block) -> None:
    """Parameters whose names can be used, that are used, and whose defaults name only those before them."""
    refuse_unnamable(name, ("blocks", name))
    inside = _words(block.layers)
    known: list[str] = []
    for parameter, default in reversed(block.parameters.items()):
        path: Path = ("blocks", name, "parameters", parameter)
        if not parameter.isidentifier() or parameter in _TAKEN:
            hint = "use a word of letters, digits and _, such as `width`"
            raise InputError(f"no parameter can be called {parameter}", hint, fields=[path])
        for later in known:
            if later in _words(default):
                hint = f"list {later} before {parameter}"
                raise InputError(f"{parameter} is worked out from {later}, which stands below", hint, fields=[path])
        if parameter not in inside:
            hint = "take it out, or use it in a layer"
            raise InputError(f"no layer of the block {name} uses {parameter}", hint, fields=[path])
        inside |= _words(default)
        known.append(parameter)


def _words(value: Any) -> set[str]:
    """Every word of every text."""
    return {word for text in texts(value) for word in re.findall(r"\w+", text)}


def texts(value: Any) -> Iterator[str]:
    """Every text that stands for a value, however deep inside."""
    if isinstance(value, str):
        yield value.strip()
    inner = value.values() if isinstance(value, dict) else value
    for each in inner if isinstance(value, dict | list | tuple) else ():
        yield from texts(each)
