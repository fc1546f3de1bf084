"""What archcalc remembers of its answers, by value: a test that replaces code has to forget it."""

from __future__ import annotations

import sys
from functools import _lru_cache_wrapper

PACKAGES = ("archcalc.analyze.", "archcalc.simulate.")


def forget() -> None:
    """Every peak, deployment and curve that an analysis has worked out so far."""
    loaded = [module for name, module in sys.modules.items() if name.startswith(PACKAGES)]
    for value in [value for module in loaded for value in vars(module).values()]:
        if isinstance(value, _lru_cache_wrapper):
            value.cache_clear()
