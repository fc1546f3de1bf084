"""Sizes of a layer that may differ from side to side: `kernel: 3`, or `kernel: [1, 7]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from archcalc.archs.network.values import Words
from archcalc.core.derived import Derived
from archcalc.spec.node import as_size, mistake, shown

if TYPE_CHECKING:
    from archcalc.archs.network.layer import Place

ALONE = ("same", "valid")  # paddings in a word
DEPTHWISE = "depthwise"


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
        raise mistake(f"expected a number, same or valid, found {shown(value)}")
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
