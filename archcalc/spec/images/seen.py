"""What a model gets of an image."""

from __future__ import annotations

from typing import Any, NamedTuple


class Picture(NamedTuple):
    """What a vision encoder sees: so many of one size, in pixels."""

    number: int
    height: int
    width: int


class Seen(NamedTuple):
    """An image as a model gets it. `vectors` come from the vision encoder; `tokens` are others beside them: ends of
    rows, separators of tiles, beginnings and ends."""

    pictures: tuple[Picture, ...]
    vectors: int
    tokens: int = 0

    @property
    def positions(self) -> int:
        """In the text."""
        return self.vectors + self.tokens


def squares(said: Any, number: int) -> tuple[Picture, ...]:
    """So many of the size that a rule says, of which an encoder sees whole patches."""
    step = said.patch or 1
    side = said.size // step * step
    return (Picture(number, side, side),)
