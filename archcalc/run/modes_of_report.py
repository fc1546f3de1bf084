"""The options of a report: of one mode, where that is asked for, else of inference and of training.

An option that has an effect in one of them alone belongs to that one, and asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from archcalc.run.options import Options, options_of
from archcalc.spec.option import Option, other_names

COMMAND = "report"
BOTH = ("infer", "train")


@dataclass(frozen=True)
class Asked:
    """A mode with the options that have an effect in it; one that is not `wanted` may remain without an answer."""

    mode: str
    given: dict[str, Any]
    wanted: bool

    def options(self) -> Options:
        """Checked, for this mode."""
        return Options.of(COMMAND, {**self.given, "mode": self.mode}, besides=("gpus",))


def modes(given: Mapping[str, Any]) -> list[Asked]:
    known = dict(options_of(COMMAND))
    others = other_names(known.items())
    said = {name: value for name, value in given.items() if value is not None}
    if said.get("mode"):
        return [Asked(Options.of(COMMAND, said).mode, said, True)]
    declared = {name: known.get(others.get(name, name)) for name in said}
    found = []
    for mode in BOTH:
        own = {name: value for name, value in said.items() if _applies(declared[name], mode)}
        alone = [name for name in own for other in BOTH if not _applies(declared[name], other)]
        found.append(Asked(mode, own, bool(alone)))
    return found


def _applies(one: Option | None, mode: str) -> bool:
    """What is no option is left in, for the check that refuses it."""
    return one is None or not one.modes or mode in one.modes
