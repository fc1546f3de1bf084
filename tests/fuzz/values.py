"""Values that no one meant: of the wrong type, of the wrong size, or made to be taken for something else."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

NUMBERS: tuple[Any, ...] = (
    0, 1, 2, 3, 7, 64, 100, 1000, 65537, -1, -7, -(10**18), 2**31, 2**53 + 1, 2**63, 2**64, 10**15, 10**18, 10**40,
    10**310, 0.5, 1.5, -0.0, 4.0, 1e-300, 1e308, float("nan"), float("inf"), float("-inf"),
)  # fmt: skip
WORDS = (
    "", " ", "0", "-1", "1e9", "1.5", "²", "١٢", "0x10", "null", "none", "true", "auto", "NaN", "silu", "float16",
    "\x1b]52;c;QQ==\x07", "\x1b[2J", "\x00", "a\nb", "a\nd_model: 7", "\r", "\x9b1A", "\u202eabc", "\ud800", "ﬀ", "|",
    "`", "[red]x[/red]", "{}", "%s", "{0}", "#", "- x", "&a", "*a", "!!python/object:os.system", "x: y", '"', "'", "\\",
    "../../etc/passwd", "/dev/null", "~nouser/x", "-", "--help", "(a+)+$", ".*" * 6 + "x", ".?" * 24, "re:.*", "-:.*",
    "x" * 300, "9" * 5000, "(" * 200, "\ue000", "\U0010ffff",
)  # fmt: skip
OTHERS: tuple[Any, ...] = (None, True, False, [], {}, [[]], [None], [1, 2], ["a"], {"a": 1}, {"": {}}, [[[[1]]]])


def odd(random: Random) -> Any:
    """Any value at all; a copy, since what one case puts into it must not be there in the next."""
    return deepcopy(random.choice(random.choice((NUMBERS, WORDS, OTHERS))))


def nested(random: Random) -> Any:
    """Deeper than anything that a person writes."""
    value: Any = odd(random)
    for _ in range(random.choice((5, 50, 150))):
        value = [value] if random.random() < 0.5 else {"a": value}
    return value


def near(number: int, random: Random) -> int:
    """Another number that may well be meant: what divided the one mostly divides the other."""
    small = (number + 1, number - 1, 1, random.randint(1, 16))
    others = (number * 2, number * 3, number // 2 if number % 2 == 0 else number * 2)
    return max(random.choice(small if abs(number) < 64 and random.random() < 0.5 else others), 0)
