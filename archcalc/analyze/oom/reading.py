"""Reads a log: its figures, the options of the run that it tells, and what failed.

log = read(text)
log.figures["tried"].value, log.options["seq"], log.failure
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from archcalc.analyze.oom.patterns import Choice, Figure, Program, compiled, programs
from archcalc.core.errors import InputError

UNSET = ("None", "none", "auto", "False", "false")  # values of an option that is not given
TRACEBACK = 20_000  # characters before a message
SCALES = {"b": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}  # programs write GB for GiB too
_SIZE = re.compile(r"(\d+)(?:[.,](\d+))?\s*([bKMGT])")


class Figured(NamedTuple):
    """A figure; it may differ by `half` of its last digit from what was rounded."""

    value: float
    half: float = 0.0

    @property
    def bytes(self) -> int:
        return round(self.value)


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
        return self.figures[name].bytes if name in self.figures else 0


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
    message, around = _parts(program, text)
    figures = {name: found for name, one in program.figures.items() if (found := _figure(one, message))}
    failures = [one.says for one in program.failures if compiled(one.line).search(message)]
    version = next(_found(program.version, around), "")
    options = {name: found for name, one in program.options.items() if (found := _value(one, around))}
    if not (figures or failures or version or "model" in options):
        return
    log.name, log.model = log.name or program.name, log.model or str(options.pop("model", ""))
    log.figures = {**figures, **log.figures}
    log.failure = log.failure or next(iter(failures), "")
    log.phase = next((name for name, lines in program.phases.items() if any(map(around.__contains__, lines))), "")
    log.buffers = log.buffers or program.buffers
    several = (match for line in program.not_counted for match in compiled(line).finditer(around) if match[1] != "1")
    log.not_counted += dict.fromkeys(match[0] for match in several)
    if program.engine:
        options["engine"] = f"{program.engine}@{version}" if version else program.engine
    for name, one in program.options.items():
        if one.over in options and name in options:
            options[name] = str(int(options[name]) // int(options[one.over]))
    log.options = {**{name: one for name, one in options.items() if one not in UNSET}, **log.options}


def _parts(program: Program, text: str) -> tuple[str, str]:
    """The message or the run, and all around it that tells how it ran; nothing where a message is missing."""
    starts = (sorted(match.start() for match in compiled(line).finditer(text)) for line in program.begins)
    if not program.first:
        found = next((places for places in starts if places), [0])
        return text[found[-1] :], text[found[-1] :]
    place = min((places[0] for places in starts if places), default=-1)
    if place < 0:
        return "", ""
    end = place + program.reaches
    return text[place:end], text[max(place - TRACEBACK, 0) : end]


def _figure(figure: Figure, text: str) -> Figured | None:
    """The first kind of line that is there decides."""
    for line in figure.lines:
        found = [_sum(map(_figured, match.groups())) for match in compiled(line).finditer(text)]
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


def _value(choice: Choice, text: str) -> str | bool:
    """The value of the first line that is there; nothing where there is none."""
    for one in choice.lines:
        match = compiled(one.line).search(text)
        if match:
            written = one.value or match[1].strip().replace(",", "")
            return True if written == "True" else written
    return ""


def _found(lines: Iterable[str], text: str) -> Iterator[str]:
    for line in lines:
        match = compiled(line).search(text)
        if match:
            yield match[1]
