"""Questions as bytes: how many are at hand at once, and what is parsed of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from archcalc.ui.rules import LARGEST_QUESTION, MOST_HELD, MOST_VALUES, Refused


class Desk:
    """Where questions lie while they are read and answered; it holds so many bytes and no more."""

    def __init__(self) -> None:
        self.held = 0

    @contextmanager
    def place(self, declared: str = "") -> Iterator[Place]:
        """For a question that says how long it is, or does not."""
        place = Place(self, is_too_long=declared.isdecimal() and int(declared[:20]) > LARGEST_QUESTION)
        try:
            yield place
        finally:
            place.clear()


class Place:
    """One question, counted while it is read. One that is too long is dropped, and refused when all of it was read:
    a sender hears of no refusal before its last byte is taken."""

    def __init__(self, desk: Desk, *, is_too_long: bool) -> None:
        self.desk, self.is_too_long = desk, is_too_long
        self.size, self.parts = 0, list[bytes]()

    def put(self, part: bytes) -> None:
        self.is_too_long |= self.size + len(part) > LARGEST_QUESTION
        if self.is_too_long:
            self.clear()
            return
        if self.desk.held + len(part) > MOST_HELD:
            raise Refused(503, "archcalc has too many questions to answer")
        self.size += len(part)
        self.desk.held += len(part)
        self.parts.append(part)

    def taken(self) -> bytes:
        """The whole question, which counts as held until the place is cleared."""
        if self.is_too_long:
            raise Refused(413, f"a question has at most {LARGEST_QUESTION:,} bytes")
        parts, self.parts = self.parts, []
        return b"".join(parts)

    def clear(self) -> None:
        self.desk.held -= self.size
        self.size, self.parts = 0, []


def question_of(written: bytes) -> dict[str, Any]:
    """Counted before it is parsed: a value follows a bracket or a comma, of which no header in base64 has any."""
    if sum(map(written.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise Refused(413, f"a question has at most {MOST_VALUES:,} values")
    try:
        found = json.loads(written)
    except (ValueError, RecursionError):
        raise Refused(400, "the question is not JSON") from None
    if not isinstance(found, dict):
        raise Refused(400, "the question is not a JSON object")
    return found
