"""Values of an axis as people write them: lists, ranges, and lists of both.

1k,2k,8k            three sizes
1k..128k            doubled from the first to the last; in equal steps where that gave fewer than four
512..4096:512       in steps of 512
1k..1M:x10          ten times as many from one to the next
bf16,q8_0,q4_k_m    names
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeGuard

from archcalc.core.errors import InputError
from archcalc.spec.option_checks import number
from archcalc.spec.units import parse_size

Value = int | str
MOST = 100  # values of an axis
DOUBLED = 8  # times the first: from there on, doubling has four values at the least
FEW = 12  # values in equal steps
_COMMA = re.compile(r",(?![^{\[]*[}\]])")  # not those within {width: 512, act: relu}
_RANGE = re.compile(r"(\d[^:]*?)\.\.([^:]*)(?::\s*([x×*]?)(.*))?")


def values(text: str, option: str) -> tuple[Value, ...]:
    """Whole numbers, in their order, if all of them are such; else names as they stand."""
    parts = [part.strip() for part in _COMMA.split(text)]
    if not all(parts):
        raise InputError("a value is missing", "write such as 1k,2k,8k or 1k..128k", field=option)
    return in_order([value for part in parts for value in _part(part, option)], option)


def in_order(found: Sequence[Value], option: str) -> tuple[Value, ...]:
    """Each once; numbers from the smallest on."""
    once = list(dict.fromkeys(found))
    if len(once) > MOST:
        raise InputError(f"more than {MOST} values", "take larger steps, such as 1k..128k:8k", field=option)
    return tuple(sorted(once) if numbered(once) else once)


def _part(part: str, option: str) -> list[Value]:
    found = _RANGE.fullmatch(part)
    if found:
        low, high = (number(text.strip(), option) for text in found.group(1, 2))
        if low == high:
            raise InputError(f"{part} is a single value", "name a range such as 1k..128k", field=option)
        if low > high:
            first, _, rest = part.partition("..")
            last, colon, step = rest.partition(":")
            raise InputError(f"{part} runs backwards", f"write {last}..{first}{colon}{step}", field=option)
        return list(_range(low, high, found[3] or "", found[4], option))
    try:
        return [parse_size(part)]
    except ValueError:
        return [part]


def _range(low: int, high: int, times: str, step: str | None, option: str) -> Iterator[int]:
    if step is not None:
        by = number(step.strip(), option)
        if by < 1 + bool(times):
            raise InputError(f"a step of {step.strip()} leads nowhere", "such as 512..4096:512", field=option)
        yield from _multiplied(low, high, by, option) if times else _stepped(low, high, by)
    elif low and high >= DOUBLED * low:
        yield from (*_multiplied(low, high - 1, 2, option), high)
    else:
        yield from (*_stepped(low, high - 1, _round_step(high - low)), high)


def _multiplied(low: int, high: int, by: int, option: str) -> Iterator[int]:
    if not low:
        raise InputError("0 stays 0 however often it is multiplied", "begin with 1", field=option)
    while low <= high:
        yield low
        low *= by


def _stepped(low: int, high: int, by: int) -> Iterator[int]:
    """One more than a chart takes, if there are as many, so that they can be counted."""
    return iter(range(low, min(high, low + by * MOST) + 1, by))


def _round_step(span: int) -> int:
    """The smallest that is counted in easily and comes out even, in few steps: a power of two, or a digit with zeros
    behind; if there is none, one with zeros that does not come out even."""
    tens: list[int] = [digit * 10**power for power in range(len(str(span)) + 1) for digit in (1, 2, 4, 5, 8)]
    twos: list[int] = [2**power for power in range(span.bit_length() + 1)]
    few = [step for step in sorted({*tens, *twos}) if span <= step * FEW]
    return next((step for step in few if span % step == 0), min(step for step in tens if span <= step * FEW))


def numbered(found: Sequence[Value]) -> TypeGuard[Sequence[int]]:
    return all(isinstance(value, int) and not isinstance(value, bool) for value in found)
