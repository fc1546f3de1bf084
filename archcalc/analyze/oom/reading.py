"""Reads a log: its figures, the options of the run that it tells, and what failed.

log = read(text)
log.figures["tried"].value, log.options["seq"], log.failure
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from archcalc.analyze.oom.figures import FIGURES
from archcalc.analyze.oom.patterns import Figure, Program, Value, matches, programs
from archcalc.core.errors import InputError
from archcalc.spec.units import binary_bytes

UNSET = ("None", "none", "auto", "False", "false")  # values of an option that is not given
ALL = 2  # values of a line that says how many of how many
TRACEBACK = 20_000  # characters before a message
SCALES = {"b": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}  # programs write GB for GiB too
_SIZE = re.compile(r"(-?\d+)(?:[.,](\d+))?\s*([bKMGT])")


class Figured(NamedTuple):
    """A figure; it may differ by `half` of its last digit from what was rounded."""

    value: float
    half: float = 0.0


@dataclass
class Log:
    """What a log says."""

    name: str = ""  # of the program that wrote it; of an engine before that of its library
    figures: dict[str, Figured] = field(default_factory=dict)
    options: dict[str, str | bool] = field(default_factory=dict)
    model: str = ""
    failure: str = ""
    phase: str = ""  # of a training step, by the traceback
    buffers: bool = False  # all tensors of a kind are one allocation
    not_counted: list[str] = field(default_factory=list)

    def get(self, name: str) -> int:
        """In bytes; 0 where the log does not say it."""
        return round(self.figures.get(name, Figured(0)).value)

    @property
    def is_failure(self) -> bool:
        return bool(self.failure) or "tried" in self.figures

    @property
    def others(self) -> int:
        """Bytes of a card that other processes hold; less than a hundredth of it is rounding, or the driver's."""
        if not {"capacity", "free", "process"} <= self.figures.keys():
            return 0
        held = self.get("capacity") - self.get("free") - self.get("process")
        return held if held > self.get("capacity") / 100 else 0


def read(text: str) -> Log:
    """Raises where no figure of a known program is found."""
    log, known = Log(), programs()
    for program in known:
        _add(log, program, text)
    if not (log.figures or log.failure):
        kinds = ", ".join(sorted((one.name for one in known), key=str.lower))
        fact = f"no line of the log is known: {'it is empty' if not text.strip() else f'{len(text):,} characters'}"
        hint = f"out-of-memory messages and start-up logs of {kinds} are read, from the first line to the error"
        raise InputError(fact, hint, field="log")
    if log.get("allocated") and log.get("tried"):
        log.figures["needed"] = Figured(log.get("allocated") + log.get("tried"), log.figures["allocated"].half)
    return log


def _add(log: Log, program: Program, text: str) -> None:
    """What one program says; an engine's figures stay where its library says them otherwise."""
    message, before = _parts(program, text)
    figures = {name: found for name, one in program.figures.items() if (found := _figure(one, message))}
    failures = [one.says for one in program.failures if any(matches(one.line, message))]
    version = _value([Value(line=line) for line in program.version], message, before)
    values = {name: _value(one.lines, message, before) for name, one in program.options.items()}
    options = {name: value for name, value in values.items() if value}
    if not (figures or failures or version or "model" in options):
        return
    log.name, log.model = log.name or program.name, log.model or str(options.pop("model", ""))
    log.figures = {**figures, **log.figures}
    log.failure = log.failure or next(iter(failures), "").format(**{name: _words(name, log) for name in FIGURES})
    phases = (name for name, lines in program.phases.items() if any(map(before.__contains__, lines)))
    log.phase = log.phase or next(phases, "")
    log.buffers = log.buffers or program.buffers
    others = (match[0] for line in program.not_counted for match in matches(line, message))
    log.not_counted += dict.fromkeys(others)
    if program.engine:
        options["engine"] = "@".join(filter(None, (program.engine, str(version))))
    for name, one in program.options.items():
        whole, parts = str(options.get(name)), str(options.get(one.over))
        if whole.isdecimal() and parts.isdecimal() and int(parts):
            options[name] = str(int(whole) // int(parts))
    log.options = {**{name: one for name, one in options.items() if one not in UNSET}, **log.options}


def _parts(program: Program, text: str) -> tuple[str, str]:
    """The message or the run, and what stands before it; nothing where a message is missing."""
    starts = ([match.start() for match in matches(line, text)] for line in program.begins)
    if not program.first:
        found = next((places for places in starts if places), [0])
        return text[found[-1] :], text[: found[-1]]
    place = min((places[0] for places in starts if places), default=-1)
    if place < 0:
        return "", ""
    return text[place : place + program.reaches], text[max(place - TRACEBACK, 0) : place]


def _figure(figure: Figure, text: str) -> Figured | None:
    """The first kind of line that is there decides."""
    for line in figure.lines:
        found = [_sum(map(_figured, match.groups())) for match in matches(line, text)]
        if found:
            return {"last": found[-1], "most": max(found), "sum": _sum(found)}[figure.take]
    return None


def _figured(written: str) -> Figured:
    """`1.96 GiB`, `47,344`, `0.36`."""
    size = _SIZE.match(written)
    if size is None:
        return Figured(float(written.replace(",", "")))
    scale, decimals = SCALES[size[3]], size[2] or ""
    half = scale / 10 ** len(decimals) / 2 if scale > 1 else 0
    return Figured(float(f"{size[1]}.{decimals or 0}") * scale, half)


def _sum(figures: Iterable[Figured]) -> Figured:
    each = list(figures)
    return Figured(sum(one.value for one in each), sum(one.half for one in each))


def _value(lines: Iterable[Value], text: str, before: str) -> str | bool:
    """The value of the first line that is there; else of the last before it, and nothing where there is none."""
    for one in lines:
        for match in [*islice(matches(one.line, text), 1)] or [*matches(one.line, before)][-1:]:
            groups = match.groups()
            if len(groups) == ALL and len({*groups}) == 1:  # 33/33: as it is without the option
                return ""
            written = one.value or "".join(groups[:1] or ["True"]).strip().replace(",", "")
            return written == "True" or written
    return ""


def _words(name: str, log: Log) -> str:
    """A figure within a sentence."""
    value = log.get(name)
    return binary_bytes(value) if FIGURES[name].unit == "binary" else f"{value:,}"
