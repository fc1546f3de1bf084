"""How much work an input may ask for: counted where it is done, and refused in words beyond a bound.

Numbers in a file cost its writer nothing, so no reader and no walk follows one without a budget. Equal parts are
folded first (80 equal layers are one node); a budget is for what is left. Bounds are far above any real model and
low enough that the refusal comes within a second or two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from archcalc.core.errors import InputError, Path


@dataclass
class Budget:
    """So many of `what`, and no more; `hint` says what to change."""

    what: str
    most: int
    hint: str = ""
    field: str = ""  # the option or the module that asks for it, where no field of a spec does
    spent: int = 0

    def spend(self, number: int = 1, fields: Iterable[Path] = ()) -> None:
        """Count before the work is done; `fields` of the spec are what asks for it."""
        self.spent += number
        if self.spent > self.most:
            raise InputError(f"more than {self.most:,} {self.what}", self.hint, fields=fields, field=self.field)
