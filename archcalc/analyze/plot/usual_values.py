"""Values of `--by` where none are named: formats from wide to narrow, or whatever an option can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from archcalc.analyze.plot.values import Value
from archcalc.run.ladders import Rung, ladder
from archcalc.run.options import options_of

if TYPE_CHECKING:
    from archcalc.analyze.plot.subject import Subject

HALVED = (8, 4)  # bits of a weight: the widths that people choose from


class Usual(NamedTuple):
    """The values, and which of them a model has anyway."""

    values: tuple[Value, ...]
    as_it_is: Value | None = None


def usual_values(option: str, subject: Subject) -> Usual | None:
    """None where there is no such list."""
    choices = dict(options_of("plot"))[option].choices if option else ()
    if option == "weights":
        return _from(
            subject.deployment.run.format.name.lower(),
            [one for one in _rungs(subject, "weights") if one.bits in HALVED],
        )
    if option == "kv_dtype":
        kept = subject.deployment.run.cache_name
        return _from(kept, _rungs(subject, "kv")) if kept else None
    return Usual(choices) if choices else None


def _rungs(subject: Subject, kind: str) -> Sequence[Rung]:
    engine = str(subject.given.get("engine") or "").partition("@")[0]
    found: Sequence[Rung] = getattr(ladder(engine or None), kind)
    return found


def _from(now: str, rungs: Sequence[Rung]) -> Usual:
    """As it is now, and what is narrower by its name."""
    return Usual((now, *(one.format for one in rungs if one.format != now)), now)
