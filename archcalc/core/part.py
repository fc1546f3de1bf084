"""Named shares of a module that people ask for."""

from __future__ import annotations

from dataclasses import dataclass, field

from archcalc.core.count import Count


@dataclass(frozen=True)
class Part:
    """A share of a module, such as one head's W_Q: shown, but outside every sum.

    `of` names the children that `copies` such shares make up, where they do.
    """

    name: str
    elements: Count
    shape: tuple[int, ...] | None = None
    of: tuple[str, ...] = ()
    copies: Count = field(default_factory=lambda: Count(1))
