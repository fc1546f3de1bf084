"""Patterns: a block is a line of part names, a stack repeats lines until it has its blocks.

    [local ffn, attention ffn]                     alternate
    [3 × attention ffn, 58 × attention moe]        dense blocks first
    [first ffn, {repeat: 7, pattern: [2 × local ffn, attention ffn]}]
    [attention+mamba ffn]                          two parts that read the same, behind one norm

`n x` and `n *` mean `n ×`. A thousand blocks are never written out: lines keep how often they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from archcalc.spec.units import LARGEST

_WORD = r"[A-Za-z_][\w-]*(?:\+[A-Za-z_][\w-]*)*"
_LINE = re.compile(rf"(?:(\d[\d_]*)\s*[×x*]\s*)?({_WORD}(?:\s+{_WORD})*)")
BESIDE = "+"


@dataclass(frozen=True)
class Line:
    """`times` equal blocks, each with weights of its own and called so many times in a row.

    A word is a part's name, or those of several beside each other: `attention+mamba`.
    """

    spec_kind: ClassVar[str] = "line"
    times: int
    words: tuple[str, ...]
    calls: int = 1


@dataclass(frozen=True)
class Group:
    """A period of different blocks, `times` in a row."""

    spec_kind: ClassVar[str] = "period"
    times: int
    items: tuple[Line | Group, ...]


Items = tuple[Line | Group, ...]
USUAL = {False: "attention ffn", True: "attention cross ffn"}  # a block, by whether it reads an encoder


def parse(pattern: Any) -> Items:
    """Parses a pattern from YAML. Raises ValueError with the reason."""
    if not isinstance(pattern, list | tuple) or not pattern:
        raise ValueError("expected a list of blocks such as [local ffn, attention ffn]")
    return tuple(_item(item) for item in pattern)


def _item(item: Any) -> Line | Group:
    if isinstance(item, dict):
        if set(item) != {"repeat", "pattern"}:
            raise ValueError("a repeated part of a pattern is written {repeat: 7, pattern: [...]}")
        return Group(_times(item["repeat"]), parse(item["pattern"]))
    match = _LINE.fullmatch(item.strip()) if isinstance(item, str) else None
    if not match:
        raise ValueError(f"'{item}' is not a block: write part names, such as `attention ffn` or `5 × local ffn`")
    return Line(_times(int((match[1] or "1").replace("_", ""))), tuple(match[2].split()))


def _times(times: Any) -> int:
    if not isinstance(times, int) or isinstance(times, bool) or not 1 <= times <= LARGEST:
        raise ValueError(f"a block is repeated 1 time or more, not {times}")
    return times


def blocks_of(items: Items) -> int:
    inside = ((item.times, item.calls if isinstance(item, Line) else blocks_of(item.items)) for item in items)
    return sum(times * blocks for times, blocks in inside)


def lines_of(items: Items) -> Iterator[Line]:
    """Every line once, however often it stands there."""
    for item in items:
        yield from (item,) if isinstance(item, Line) else lines_of(item.items)


def blocks_with(word: str, items: Items) -> int:
    """How many of the blocks have this part."""
    inside = ((item.times, _having(word, item)) for item in items)
    return sum(times * blocks for times, blocks in inside)


def _having(word: str, item: Line | Group) -> int:
    if isinstance(item, Group):
        return blocks_with(word, item.items)
    return item.calls * any(word in several.split(BESIDE) for several in item.words)


def cycled(items: Items, blocks: int) -> Items:
    """Repeats the pattern until there are `blocks` blocks, truncating the last repetition."""
    rounds, rest = divmod(blocks, blocks_of(items))
    if rounds <= 1:
        whole = items * rounds
    elif len(items) == 1:
        whole = (replace(items[0], times=items[0].times * rounds),)
    else:
        whole = (Group(rounds, items),)
    return (*whole, *_first(items, rest)) if rest else whole


def shared(items: Items, distinct: int) -> Items:
    """The same blocks with `distinct` sets of weights, each called about as often as the others."""
    (line,) = items
    assert isinstance(line, Line)
    calls, rest = divmod(line.times, distinct)
    often, seldom = replace(line, times=rest, calls=calls + 1), replace(line, times=distinct - rest, calls=calls)
    return tuple(one for one in (often, seldom) if one.times)


def _first(items: Items, blocks: int) -> Items:
    """The first `blocks` blocks."""
    taken: list[Line | Group] = []
    for item in items:
        if blocks <= 0:
            break
        whole = blocks_of((item,))
        rounds, rest = divmod(min(blocks, whole), 1 if isinstance(item, Line) else whole // item.times)
        if rounds:
            taken.append(replace(item, times=rounds))
        if isinstance(item, Group):
            taken.extend(_first(item.items, rest))
        blocks -= whole
    return tuple(taken)
