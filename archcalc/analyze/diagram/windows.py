"""How a layer moves over a map, in words: `3 × 3, stride 2`, `over the whole map`, `2 × larger`."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from archcalc.core.ir import Op
from archcalc.core.windows import Along, Ends


def windows(ops: Iterable[Op], *, with_size: bool) -> str:
    """Of the only op that moves over a map; nothing where several do. `with_size`: also how large its window is."""
    moving = [op.windows for op in ops if op.windows and not isinstance(op.windows[0], Ends)]
    if len(moving) != 1:
        return ""
    sides = moving[0]
    if all(side.places == 1 for side in sides) and with_size:
        return "over the whole map"
    size = _each([str(side.reach) for side in sides]) if with_size else ""
    return ", ".join(part for part in (size, _stride(sides)) if part)


def _stride(sides: tuple[Along, ...]) -> str:
    steps = {side.step for side in sides}
    if steps == {Fraction(1)}:
        return ""
    if all(step < 1 for step in steps):
        return f"{_same([str(1 / step) for step in steps])} × larger"
    return f"stride {_same([str(side.step) for side in sides])}"


def _each(sizes: list[str]) -> str:
    """`3 × 3`; along one side `kernel 3`."""
    return f"kernel {sizes[0]}" if len(sizes) == 1 else " × ".join(sizes)


def _same(sizes: list[str]) -> str:
    """One number where all are equal."""
    return sizes[0] if len(set(sizes)) == 1 else " × ".join(sizes)
