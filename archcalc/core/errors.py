"""User errors, with all that is needed to fix them.

Inner code raises the fact alone; the code that knows the file adds file and line, once (`Document.locating`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from itertools import accumulate

from archcalc.core.visible import shortened, visible

Path = tuple[str | int, ...]
MOST_TOLD = 3000  # characters of all mistakes together


class InputError(Exception):
    """A user error: the fact, what to do about it (`more` is a second line of that), and its file and line.

    Each may quote a file, so control characters are escaped where the message is assembled, and only there.
    """

    def __init__(
        self, fact: str, hint: str = "", *, more: str = "", fields: Iterable[Path] = (), field: str = ""
    ) -> None:
        super().__init__(fact)
        self.fact = fact
        self.hint = hint
        self.more = more
        self.fields = tuple(fields)  # where the mistake may stand in the spec, likeliest first
        self.is_missing = bool(field)  # the field is named, but stands nowhere
        self.field = field or dotted(self.fields[0] if self.fields else ())
        self.file = ""
        self.line = 0
        self.excerpt = ""
        self.also: tuple[InputError, ...] = ()  # further mistakes in the same input
        self.untold = 0  # how many more there are that nobody looked at

    def each(self) -> tuple[InputError, ...]:
        """This mistake and the further ones, in the order of their lines."""
        return tuple(sorted((self, *self.also), key=lambda error: error.line))

    def __str__(self) -> str:
        return "\n".join(self.messages())

    def messages(self) -> list[str]:
        """Of every mistake, each once, and no more of them than are read."""
        told = list(dict.fromkeys(error.told() for error in self.each()))
        lengths = accumulate(map(len, told))
        shown = [text for text, length in zip(told, lengths, strict=True) if length <= MOST_TOLD] or told[:1]
        left = len(told) - len(shown) + sum(error.untold for error in self.each())
        return [*shown, f"{left:,} more mistakes are not shown"] if left else shown

    def told(self) -> str:
        """This mistake alone."""
        place = f"{self.file}:{self.line}" if self.file and self.line else self.file
        first = ": ".join(part for part in (place, self.field, self.fact) if part)
        quoted = f"  {self.line} | {self.excerpt.rstrip()}" if self.excerpt.strip() else ""
        lines = (first, quoted, *(f"  {line}" for line in (self.hint, self.more) if line))
        return "\n".join(visible(shortened(line)) for line in lines if line)


def together(errors: Sequence[InputError]) -> InputError:
    """Several mistakes as one error: the first, with the others beside it."""
    first, *others = errors
    first.also = (*first.also, *others)
    return first


class MissingExtra(InputError):
    """An optional dependency that is not installed."""

    def __init__(self, need: str, extra: str) -> None:
        super().__init__(f"{need} is not installed", f"pip install 'archcalc[{extra}]'")


def dotted(path: Path) -> str:
    """`("decoder", "pattern", 0)` as people write it: `decoder.pattern[0]`."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).lstrip(".")


MUCH_CLOSER = 0.2  # of 1, which is the same word


def closest(word: str, known: Iterable[str]) -> list[str]:
    """The known words that are spelled most like it, at most three; none beside one that is much closer."""
    found = difflib.get_close_matches(word.lower(), sorted(set(known)), n=3, cutoff=0.6)
    likeness = [difflib.SequenceMatcher(None, each, word.lower()).ratio() for each in found]
    return [each for each, how in zip(found, likeness, strict=True) if how > likeness[0] - MUCH_CLOSER]


def close_guess(word: str, known: Iterable[str]) -> str:
    """`did you mean d_model?`, or an empty string if no word is close."""
    close = closest(word, known)
    return f"did you mean {' or '.join(close)}?" if close else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean d_model?`, or the list of choices."""
    choices = sorted(set(known))
    guess = close_guess(word, choices)
    if guess:
        return guess
    shown = ", ".join(choices[:12]) + (", …" if len(choices) > 12 else "")
    return f"choose from: {shown}"
