"""Mistakes that a family can go on after, such as a missing field: gathered, so that all of them are told at once.

    with gathering():
        resolved = family.resolve(spec)     # `tell(error)` keeps the error; all are raised together at the end

Outside of it `tell` raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from archcalc.core.errors import InputError, Path, together

STAND_IN = 1  # in the place of a missing size, while the other mistakes are looked for
WIDE_STAND_IN = 720_720  # of a width that heads and groups share: every number up to 16 divides it

_found: ContextVar[list[InputError] | None] = ContextVar("found", default=None)


def tell(error: InputError) -> None:
    """Keep the error until all are known; raise it at once if nobody gathers them."""
    found = _found.get()
    if found is None:
        raise error
    if _about(error) not in map(_about, found):  # each part that inherits a field finds the mistake in it
        found.append(error)


def needed(size: int | None, field: str, hint: str, near: Path) -> int:
    """A size that has no default; one that is missing is told of, `near` a field that is there."""
    if size is None:
        tell(InputError("missing", hint, fields=[near], field=field))
        return STAND_IN
    return size


def _about(error: InputError) -> tuple[str, str, str]:
    return error.fact, error.hint, error.field if error.is_missing else error.field.rpartition(".")[2]


@contextmanager
def gathering() -> Iterator[None]:
    """Raise all errors that were told, together. One raised outright may follow from a stand-in, so it is left out
    where a field is missing."""
    found: list[InputError] = []
    token = _found.set(found)
    try:
        yield
    except InputError as error:
        missing = any(one.is_missing for one in found)
        raise together(found if missing and not error.is_missing else [*found, error]) from None
    finally:
        _found.reset(token)
    if found:
        raise together(found)
