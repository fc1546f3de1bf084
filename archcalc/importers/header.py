"""What headers of weights have in common, whatever the format: no name may stand twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from archcalc.core.errors import InputError


def each_once(pairs: list[tuple[str, Any]], broken: Callable[[str], InputError]) -> dict[str, Any]:
    """The pairs by name. A name that stands twice would hide one of the two."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise broken(f"{twice} stands in its header twice")
    return found
