"""How the models of a chart run: which options count for what is drawn, and the words for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from archcalc.analyze.plot.axes import Axis
from archcalc.analyze.plot.measures import Measure
from archcalc.analyze.plot.subject import Subject
from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.words import enumeration
from archcalc.run.choice import MODE_WORDS
from archcalc.run.options import options_of
from archcalc.spec.option import flag_of


def check_given(options: Mapping[str, Any], x: Axis, by: Axis | None) -> None:
    """An axis changes its option itself, and two axes change different ones."""
    known = dict(options_of("plot"))
    for name in options:
        if name not in known:
            raise InputError(f"no option called {name}", did_you_mean(name, [*known, "x", "y", "by", "gpus"]))
    for flag, axis in (("--x", x), ("--by", by)):
        if axis and axis.option and options.get(axis.option) is not None:
            fact = f"{flag} goes through its values already"
            raise InputError(fact, f"leave {flag_of(axis.option)} out", field=flag_of(axis.option))
    if by and (by.option, by.name) == (x.option, x.name):
        raise InputError(f"--x goes through {x.name} already", "split the curves by something else", field="--by")


def check_effects(asked: Sequence[Measure], options: Mapping[str, Any], x: Axis, by: Axis | None) -> None:
    """Refuse options that change nothing of what is drawn, and an axis along which something stays the same."""
    takes = {one.command: {name for name, _ in options_of(one.command)} for one in asked if one.command != "params"}
    for one in asked:
        if x.option and x.option not in takes.get(one.command, ()):
            hint = "leave it out, or vary a field of the spec, such as --x d_model=256..4096"
            raise InputError(f"{one.title} do not depend on {x.name}", hint, field=f"--y {one.name}")
    for name in (*options, *([by.option] if by and by.option else ())):
        if options.get(name, 0) is not None and not any(name in taken for taken in takes.values()):
            drawn = " and ".join(dict.fromkeys(one.name for one in asked))
            raise InputError(f"has no effect on {drawn}", "leave it out, or draw memory or flops", field=flag_of(name))


def described(asked: Sequence[Measure], x: Axis, by: Axis | None, subject: Subject) -> str:
    """`memory and cache over seq, by weights · inference · batch 4`."""
    what = f"{enumeration(one.title for one in asked)} over {x.name}"
    if by:
        what += f", by {by.name}"
    commands = dict.fromkeys(one.command for one in asked if one.command != "params")
    varied = "mode" in (x.option, by and by.option)
    modes = {command: subject.mode(command) for command in commands if not varied}
    if modes.get("flops") == "infer":
        modes["flops"] = "prefill"
    said = dict.fromkeys(MODE_WORDS.get(mode, mode) for mode in modes.values())
    sizes = (f"{name} {subject.given[name]}" for name in ("batch", "seq", "context") if subject.given.get(name))
    return " · ".join((what, *said, *sizes))
