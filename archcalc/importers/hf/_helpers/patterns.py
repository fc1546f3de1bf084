"""Writes a list of blocks, one line each, as the shortest repeating pattern: `[2 × rglru ffn, attention ffn]`."""

from __future__ import annotations

from itertools import groupby
from typing import Any

LONGEST_PERIOD = 16


def stack(lines: list[str], usual: str = "attention ffn") -> Any:
    """The value of `decoder:`: a number if all blocks are the default ones, else blocks and their pattern."""
    if set(lines) == {usual}:
        return len(lines)
    period = _period(lines)
    if period and len(period) < len(lines):
        return {"blocks": len(lines), "pattern": runs(period)}
    return {"pattern": written(lines)}


def spelled_out(stack: Any) -> dict[str, Any]:
    """A stack as a mapping of its own, also where a number of blocks says it all."""
    return dict(stack) if isinstance(stack, dict) else {"blocks": stack}


def written(lines: list[str]) -> list[Any]:
    """The shortest pattern for exactly these blocks: a prefix, a repeated period and a suffix."""
    best: list[Any] = runs(lines)
    for start in range(min(len(lines), LONGEST_PERIOD)):
        rest = lines[start:]
        period = _period(rest)
        if not period or len(rest) < 2 * len(period):
            continue
        rounds, left = divmod(len(rest), len(period))
        found = [*runs(lines[:start]), {"repeat": rounds, "pattern": runs(period)}, *runs(rest[len(rest) - left :])]
        best = min(best, found, key=_length)
    return best


def runs(lines: list[str]) -> list[Any]:
    """Equal neighbours as `5 × local ffn`."""
    grouped = [(line, len(list(same))) for line, same in groupby(lines)]
    return [f"{times} × {line}".removeprefix("1 × ") for line, times in grouped]


def _period(lines: list[str]) -> list[str] | None:
    """The shortest prefix that gives all lines when it is repeated and truncated."""
    for length in range(1, min(len(lines), LONGEST_PERIOD) + 1):
        if all(line == lines[index % length] for index, line in enumerate(lines)):
            return lines[:length]
    return None


def _length(pattern: list[Any]) -> int:
    inner = sum(_length(item["pattern"]) for item in pattern if isinstance(item, dict))
    return len(pattern) + inner
