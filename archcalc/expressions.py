"""Regular expressions that a file brings: compiled, unless matching a name might take longer than anyone waits.

Python tries every way in which repeats can share a name between them. A repeat within a repeat, or of alternatives,
has exponentially many; a handful of repeats in a row stay cheap on names as short as those of modules.
"""

from __future__ import annotations

import re

from archcalc.errors import InputError

MOST_REPEATS = 6
_ONE = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]")  # an escaped character or a set of them: one of anything
_INNERMOST = re.compile(r"\(([^()]*)\)")
_REPEATED = "\0"  # stands for a group that can match in several ways


def compiled(raw: str) -> re.Pattern[str]:
    """What is no expression stands for itself."""
    if _takes_long(raw):
        fact = f"the expression {raw[:60]} could take forever to match"
        raise InputError(fact, "repeat no group that repeats, or that has alternatives", field="quantization_config")
    try:
        return re.compile(raw)
    except re.error:
        return re.compile(re.escape(raw))


def _takes_long(raw: str) -> bool:
    flat = _ONE.sub("a", raw)
    if sum(flat.count(sign) for sign in "*+{") > MOST_REPEATS:
        return True
    while inner := _INNERMOST.search(flat):
        several = bool(set(inner[1]) & set(f"*+{{|{_REPEATED}"))
        if several and flat[inner.end() : inner.end() + 1] in ("*", "+", "{"):
            return True
        flat = flat[: inner.start()] + (_REPEATED if several else "a") + flat[inner.end() :]
    return False
