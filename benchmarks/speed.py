"""How long every question takes, as a multiple of `archcalc params` of the same model. All in one run.

    python benchmarks/speed.py                      presets, and heavy models that are made here
    python benchmarks/speed.py FOLDER|FILE …        these models instead: files, or folders of them
    python benchmarks/speed.py --targets            a few questions with a target of their own, alone

Seconds of processor time as the user waits for them: what a bare start of archcalc takes is measured and added to both.
A question about a model may take ten times what its parameters take; the script prints the worst and exits 1 where one
takes more. Each question is a process of its own, forked from one that has everything loaded, so nothing is remembered
from one question to the next.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import speed_models

from archcalc.cli import main as archcalc
from archcalc.spec import paths

LIMIT = 10
LONGEST = 120  # seconds after which a question is given up
SHOWN = 20

QUESTIONS: dict[str, tuple[str, ...]] = {
    "params": (),
    "shapes": (),
    "flops": (),
    "flops train": ("--mode", "train"),
    "memory": (),
    "memory train": ("--mode", "train"),
    "fit": (),
    "fit train": ("--mode", "train"),
    "fit one": ("--gpu", "1GiB"),
    "fit train one": ("--gpu", "1GiB", "--mode", "train"),
    "compare": ("gpt2",),
    "show": (),
}
ALONE = ("presets", "gpus", "schema")
TARGETS = {  # commands that are held to less than LIMIT, and to how much
    ("fit", "llama-3-8b", "--mode", "train"): 3,
    ("presets",): 2,
}
OFTEN = 5  # times that a target is measured; the least counts


@dataclass(frozen=True)
class Answer:
    """What a question took, and what it came to."""

    seconds: float
    code: int


@dataclass(frozen=True)
class Measured:
    model: str
    question: str
    answer: Answer
    ratio: float

    def line(self) -> str:
        said = "" if self.answer.code in (0, 2) else f"  exit code {self.answer.code}"
        return f"{self.ratio:6.1f} ×  {self.answer.seconds:6.2f} s  {self.question:14} {self.model}{said}"


def asked(*arguments: str, into: str = os.devnull) -> Answer:
    """One question, in a process of its own."""
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))
        os._exit(_answered(list(arguments), into))
    _, status, used = os.wait4(child, 0)
    return Answer(used.ru_utime + used.ru_stime, os.waitstatus_to_exitcode(status))


def _answered(arguments: list[str], into: str) -> int:
    with Path(into).open("w", encoding="utf-8") as file:
        sys.stdout = sys.stderr = file
        sys.argv = ["archcalc", *arguments]
        try:
            archcalc()
        except SystemExit as end:
            return int(end.code or 0)
        return 0


def of_model(model: str, start: float) -> Iterator[Measured]:
    """Every question about one model."""
    first = asked("params", model)
    for question, options in QUESTIONS.items():
        command = question.split()[0]
        answer = first if question == "params" else asked(command, model, *options)
        yield Measured(Path(model).name, question, answer, (start + answer.seconds) / (start + first.seconds))


def alone(start: float) -> Iterator[Measured]:
    """Questions about no model, beside the parameters of the usual one."""
    first = asked("params")
    for command in ALONE:
        answer = asked(command)
        yield Measured("", command, answer, (start + answer.seconds) / (start + first.seconds))


def targets(start: float) -> Iterator[tuple[str, bool]]:
    """A line for each target, and whether it is met."""
    first = start + _least("params", "llama-3-8b")
    for command, most in TARGETS.items():
        ratio = (start + _least(*command)) / first
        verdict = "met" if ratio <= most else "missed"
        yield f"{ratio:6.1f} ×  target {most} × params: {verdict}  {' '.join(command)}", ratio <= most


def _least(*arguments: str) -> float:
    return min(asked(*arguments).seconds for _ in range(OFTEN))


def bare_start() -> float:
    """What loading costs: a whole process, without what the same question costs here."""
    command = [sys.executable, "-m", "archcalc", "params"]
    whole = min(_whole(command) for _ in range(5))
    return max(0.0, whole - min(asked("params").seconds for _ in range(5)))


def _whole(command: list[str]) -> float:
    child = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, 1, 0)])
    used = os.wait4(child, 0)[2]
    return used.ru_utime + used.ru_stime


def everything_loaded() -> None:
    for question, options in (*QUESTIONS.items(), *((command, ()) for command in ALONE)):
        about = [] if question in ALONE else ["gpt2"]
        _quietly([question.split()[0], *about, *options])


def _quietly(arguments: list[str]) -> None:
    """In this process, for the modules that it loads."""
    out, err = sys.stdout, sys.stderr
    try:
        _answered(arguments, os.devnull)
    finally:
        sys.stdout, sys.stderr = out, err


def files(names: list[str]) -> list[str]:
    paths = [Path(name) for name in names]
    return [str(file) for path in paths for file in (sorted(path.iterdir()) if path.is_dir() else [path])]


def heavy(folder: Path) -> list[str]:
    """The models of `speed_models`, written to files."""
    made: dict[str, Callable[[], dict[str, Any]]] = speed_models.MODELS
    for name, model in made.items():
        (folder / f"{name}.json").write_text(json.dumps(model()), encoding="utf-8")
    return [str(folder / f"{name}.json") for name in made]


def main() -> None:
    names = sys.argv[1:]  # which every question that is asked in this process overwrites
    everything_loaded()
    start = bare_start()
    held = list(targets(start))
    print("\n".join(line for line, _ in held))
    if names == ["--targets"]:
        sys.exit(not all(met for _, met in held))
    with tempfile.TemporaryDirectory() as folder:
        models = files(names) or [*sorted(paths.presets()), *heavy(Path(folder))]
        found = [one for model in models for one in of_model(model, start)]
    found += alone(start)
    found.sort(key=lambda one: -one.ratio)
    slow = [one for one in found if one.ratio > LIMIT or one.answer.code not in (0, 2)]
    print(f"a bare start takes {start:.2f} s; of {len(found)} questions {len(slow)} take more than {LIMIT} × params")
    for one in found[: max(SHOWN, len(slow))]:
        print(one.line())
    sys.exit(bool(slow) or not all(met for _, met in held))


if __name__ == "__main__":
    main()
