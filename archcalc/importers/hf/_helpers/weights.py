"""How a transformers class stores its weights where archcalc splits them differently; used by `verify`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Shape = tuple[int, ...]
Shapes = dict[str, Shape]


@dataclass(frozen=True)
class Weights:
    """A family says it as `WEIGHTS`; names are those of transformers' parameters."""

    numbered: str = ""
    """Part of a name, with a number in it: tensors whose names are the same without it are one, with an axis more."""

    together: tuple[str, str] | None = None
    """Ends of the names of two tensors that archcalc has as one with two rows."""

    fused: Mapping[str, int] = field(default_factory=dict)
    """A whole name as an expression, and of how many equal pieces the tensor is made, one above the other."""

    split: Callable[[str, Shape, Shapes], list[Shape] | None] | None = None
    """The pieces of a tensor by its name, its shape and all tensors; None for one that is as archcalc has it."""
