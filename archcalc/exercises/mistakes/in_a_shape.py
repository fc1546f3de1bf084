"""Mistakes in a shape: an axis forgotten, too many, of another size, or in another place."""

from __future__ import annotations

from collections import Counter
from math import prod

from archcalc.exercises.blanks import Blank, Shape

BATCH, AXIS, ORDER = "forgotten batch", "forgotten axis", "axes in another order"
MORE, MERGED, SIZE = "one axis too many", "axes merged or split", "another size on an axis"
WrongShape = tuple[str, str]  # the name of a mistake, and a sentence about this shape
NAMES = (BATCH, AXIS, ORDER, MORE, MERGED, SIZE)


def wrong_shape(blank: Blank, given: Shape, sizes: dict[str, int]) -> WrongShape:
    """What is wrong with it, as far as the axes tell; `sizes` are those of the model by name."""
    right = blank.answer
    assert isinstance(right, tuple)
    axes = [f"{name} ({size:,})" for name, size in zip(blank.axes, right, strict=True)]
    missing = _missing(right, given)
    if missing is not None:
        name = BATCH if blank.axes[missing] == "batch" else AXIS
        return (name, f"the axis {axes[missing]} is missing")
    if Counter(right) == Counter(given):
        return (ORDER, f"the axes are {' × '.join(axes)}, in this order")
    if len(right) == len(given):
        return _wrong_sizes(blank, given, axes, sizes)
    if _missing(given, right) is not None:
        return (MORE, f"there is one axis too many: {' × '.join(axes)}")
    if prod(right) == prod(given):
        return (MERGED, f"as many numbers, but along other axes: {' × '.join(axes)}")
    return ("", f"expected {len(right)} axes: {' × '.join(blank.axes)}")


def _missing(longer: Shape, shorter: Shape) -> int | None:
    """The axis without which the longer shape is the shorter one."""
    if len(longer) != len(shorter) + 1:
        return None
    return next((place for place in range(len(longer)) if longer[:place] + longer[place + 1 :] == shorter), None)


def _wrong_sizes(blank: Blank, given: Shape, axes: list[str], sizes: dict[str, int]) -> WrongShape:
    assert isinstance(blank.answer, tuple)
    wrong = [place for place, size in enumerate(blank.answer) if given[place] != size]
    if len(wrong) > 1:
        which = ", ".join(blank.axes[place] for place in wrong)
        return ("", f"{len(wrong)} axes are of another size: {which}")
    place = wrong[0]
    other = next((name for name, size in sizes.items() if size == given[place]), "")
    taken = f", not {other} ({given[place]:,})" if other else ""
    name = SIZE if other else ""
    return (name, f"axis {place + 1} is {axes[place] if other else blank.axes[place]}{taken}")
