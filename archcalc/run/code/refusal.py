"""A model that a library's code, as it is known here, does not compute: the one reason why a lowering gives up."""

from __future__ import annotations

from typing import NoReturn

from archcalc.core.errors import InputError


class NotLowered(InputError):
    """Raised by a check that a lowering declares; anything else that it raises is a mistake of its own."""


def refused(layer: str) -> NoReturn:
    """For a model with such a layer."""
    fact = f"this model has {layer}, which the training code, as archcalc knows it, does not have"
    raise NotLowered(fact, "add --code plain", field="--code")
