"""What stands in the fields of a layer: words and layers as they are written, sizes that are worked out.

Sizes may differ from side to side: `kernel: 3`, or `kernel: [1, 7]`.
A word that the field takes is that word, whatever a parameter is called: `over: channels` of a layer norm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BeforeValidator, WithJsonSchema
from pydantic.fields import FieldInfo

from archcalc.archs.network.expression import Mistake, Scope, evaluated
from archcalc.archs.network.layer import Place
from archcalc.core.derived import Derived
from archcalc.spec.fields import node_of
from archcalc.spec.node import Node, as_size, mistake, shown

ALONE = ("same", "valid", "causal")  # paddings in a word
DEPTHWISE = "depthwise"


@dataclass(frozen=True)
class Words:
    """Marks a field of sizes that takes these words too; `None` for one that is never worked out."""

    words: tuple[str, ...] | None = None


_LAYERS = {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "object"}, {"type": "array"}]}}
Layers = Annotated[list[Any], Words(), WithJsonSchema(_LAYERS)]


def worked_out(node: type[Node], values: dict[str, Any], scope: Scope, place: Place) -> dict[str, Any]:
    """The fields of a node, each by its kind; those it does not have are left for its validation to refuse."""
    return {key: _field(node.model_fields.get(key), value, scope, place.below(key)) for key, value in values.items()}


def _field(info: FieldInfo | None, value: Any, scope: Scope, place: Place) -> Any:
    inner = node_of(info) if info else None
    if info is None or _is_as_written(info, value):
        return value
    if inner and isinstance(value, dict):
        return worked_out(inner, value, scope, place)
    if inner and inner.main and _is_as_written(inner.model_fields[inner.main], value):
        return value
    return number(value, scope, place)


def _is_as_written(info: FieldInfo, value: Any) -> bool:
    marks = [mark.words for mark in info.metadata if isinstance(mark, Words)]
    words = [word for mark in marks for word in mark or ()] + _choices(info.annotation)
    return None in marks or (isinstance(value, str) and value in words)


def _choices(annotation: Any) -> list[Any]:
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [choice for inner in get_args(annotation) for choice in _choices(inner)]


def number(value: Any, scope: Scope, place: Place) -> Any:
    """Texts that are expressions become their values; in lists too."""
    if isinstance(value, list):
        return [number(each, scope, place.below(index)) for index, each in enumerate(value)]
    if not isinstance(value, str):
        return value
    try:
        return evaluated(value, scope)
    except Mistake as mistake:
        raise place.wrong(str(mistake)) from None


def _sizes(value: Any) -> Any:
    return tuple(as_size(each) for each in value) if isinstance(value, list | tuple) else as_size(value)


def _from_zero(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value <= 0:
        if value < 0:
            raise mistake(f"expected 0 or more, found {shown(value)}")
        return 0
    return as_size(value)


def as_paddings(value: Any) -> Any:
    """A number, one for each side, or `[before, after]` for each side."""
    if isinstance(value, str):
        if value in ALONE:
            return value
        raise mistake(f"expected a number, same, valid or causal, found {shown(value)}")
    if isinstance(value, list | tuple):
        return tuple(_pair(each) for each in value)
    return _from_zero(value)


def _pair(value: Any) -> Any:
    if isinstance(value, list | tuple):
        if len(value) != 2:
            raise mistake(f"expected [before, after], found {len(value)} numbers")
        return tuple(_from_zero(each) for each in value)
    return _from_zero(value)


def _groups(value: Any) -> Any:
    if isinstance(value, str):
        if value == DEPTHWISE:
            return value
        raise mistake(f"expected a number of groups, or depthwise, found {shown(value)}")
    return as_size(value)


_NUMBER = {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]}
_EACH = {"anyOf": [*_NUMBER["anyOf"], {"type": "array", "items": _NUMBER}]}
_FROM_ONE = {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]}
_SIZES = {"anyOf": [*_FROM_ONE["anyOf"], {"type": "array", "items": _FROM_ONE}]}
Sizes = Annotated[Any, BeforeValidator(_sizes), WithJsonSchema(_SIZES)]
Paddings = Annotated[
    Any, BeforeValidator(as_paddings), WithJsonSchema({"anyOf": [*_EACH["anyOf"], {"type": "array"}]}), Words(ALONE)
]
FromZero = Annotated[int, BeforeValidator(_from_zero), WithJsonSchema(_NUMBER)]
Groups = Annotated[Any, BeforeValidator(_groups), WithJsonSchema(_NUMBER), Words((DEPTHWISE,))]
Pair = tuple[int, int]


def for_each_side(value: int | tuple[int, ...], sides: int, place: Place, key: str) -> tuple[int, ...]:
    """One number for all sides, or as many as there are."""
    if isinstance(value, int):
        return (value,) * sides
    if len(value) != sides:
        raise place.wrong(f"{len(value)} sizes for a map with {sides} {_sides(sides)}", f"give one, or {sides}", key)
    return value


def _sides(number: int) -> str:
    return "side" if number == 1 else "sides"


def paddings(value: Any, sides: int, place: Place) -> tuple[Pair, ...]:
    """Zeros before and after, for each side."""
    if isinstance(value, int):
        return ((value, value),) * sides
    if len(value) != sides:
        raise place.wrong(f"{len(value)} paddings for {sides} {_sides(sides)}", f"give one, or {sides}", "padding")
    return tuple((each, each) if isinstance(each, int) else (each[0], each[1]) for each in value)


def same_padding(size: int, kernel: int, stride: int, dilation: int) -> Pair:
    """Zeros for ⌈size/stride⌉ places, one more behind than before if they are odd: Keras' rule, and PyTorch's."""
    covered = dilation * (kernel - 1) + 1
    zeros = max((-(-size // stride) - 1) * stride + covered - size, 0)
    return Derived(zeros // 2), Derived(zeros - zeros // 2)


def causal_padding(kernel: int, dilation: int) -> Pair:
    """Zeros before the first place alone: what comes out sees no place behind its own."""
    return Derived(dilation * (kernel - 1)), 0
