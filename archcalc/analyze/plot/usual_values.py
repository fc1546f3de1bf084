"""Values of `--by` where none are named: formats from wide to narrow, or whatever an option can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from archcalc.analyze.plot.values import Value
from archcalc.run.ladders import ladder
from archcalc.run.options import options_of

if TYPE_CHECKING:
    from archcalc.analyze.plot.subject import Subject

HALVED = (8, 4)  # bits of a weight: the widths that people choose from


class Usual(NamedTuple):
    """The values, and which of them a model has anyway."""

    values: tuple[Value, ...]
    as_it_is: Value | None = None


def usual_values(option: str, subject: Subject) -> Usual | None:
    """As it is now, and what is narrower by its name; None where there is no such list."""
    if option not in ("weights", "kv_dtype"):
        choices = dict(options_of("plot"))[option].choices if option else ()
        return Usual(choices) if choices else None
    run, engine = subject.deployment.run, str(subject.given.get("engine") or "").partition("@")[0]
    rungs = ladder(engine or None)
    now, formats = run.cache_name, [one.format for one in rungs.kv]
    if option == "weights":
        now, formats = run.format.name.lower(), [one.format for one in rungs.weights if one.bits in HALVED]
    return Usual((now, *(one for one in formats if one != now)), now) if now else None
