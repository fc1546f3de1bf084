"""A case: what one trial may do (write files, run commands, call the library), and what each step may come to."""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from archcalc.cli import main
from archcalc.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from archcalc.model import Model

LONGEST_MESSAGE = 4000  # characters: a message is read by a person
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
CODES = (0, 2)  # answered, or refused
Codes = tuple[int, ...]
T = TypeVar("T")


class Wrong(AssertionError):
    """Something came out that must not."""


class Answer(NamedTuple):
    code: int
    out: str
    err: str


@dataclass
class Case:
    """The trial of one kind and seed, in a folder of its own, which is the working directory."""

    kind: str
    seed: str
    folder: Path
    steps: list[str] = field(default_factory=list)
    refused: bool = False
    codes: Codes = CODES

    def __post_init__(self) -> None:
        self.random = Random(f"{self.kind}:{self.seed}")  # of text: the same in every process

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def write(self, name: str, content: bytes) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return name

    def command(self, *arguments: str, stdin: bytes = b"", **environment: str) -> Answer:
        """`archcalc …` in this process; it must answer, or refuse in words that any terminal can show."""
        self.steps.append("archcalc " + " ".join(map(shlex.quote, arguments)) + f"  {environment or ''}".rstrip())
        with _streams(stdin) as (out, err), _environment(environment):
            code = _exit_code(arguments)
        answer = Answer(code, _text(out), _text(err))
        self.refused |= code == 2
        check_answer(answer, (*self.codes, 1) if "--expect" in arguments else self.codes)  # 1: it is another figure
        return answer

    def call(self, words: str, function: Callable[[], T]) -> T | None:
        """What a call of the library returns; None where it refuses, which it must say in an InputError."""
        self.steps.append(words)
        try:
            return function()
        except InputError as error:
            self.refused = True
            check_message(str(error))
            return None

    def load(self, model: Any, **options: Any) -> Model | None:
        from archcalc.loading import load

        return self.call(f"load({model!r:.200}, {options})", lambda: load(model, **options))


def _exit_code(arguments: tuple[str, ...]) -> int:
    sys.argv = ["archcalc", *arguments]
    try:
        main()
    except SystemExit as stopped:
        return int(stopped.code or 0)
    raise Wrong("the command returned instead of exiting")


@contextmanager
def _streams(stdin: bytes) -> Iterator[tuple[Any, Any]]:
    kept = sys.stdin, sys.stdout, sys.stderr
    made = [io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8") for raw in (stdin, b"", b"")]
    sys.stdin, sys.stdout, sys.stderr = made
    try:
        yield made[1], made[2]
    finally:
        sys.stdin, sys.stdout, sys.stderr = kept


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    kept = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in kept.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _text(stream: Any) -> str:
    stream.flush()
    return str(stream.buffer.getvalue(), "utf-8")


def check_answer(answer: Answer, codes: Codes = CODES) -> None:
    if answer.code not in codes:
        raise Wrong(f"exit code {answer.code}{_raised(answer.err)}: {answer.err[-3000:]}")
    if "Traceback (most recent call last)" in answer.err:
        raise Wrong(answer.err[-3000:])
    if answer.code == 0 and not answer.out.strip():
        raise Wrong("exit code 0 and no answer")
    if answer.code == 2:
        check_message(answer.err)
    for text in (answer.out, answer.err):
        found = _CONTROL.search(_COLOUR.sub("", text))
        if found:
            raise Wrong(f"the control character {found[0]!r} in {text[max(0, found.start() - 60) :][:120]!r}")


def _raised(text: str) -> str:
    """Which error a traceback ends with, and where in archcalc: findings are told apart by it."""
    places = re.findall(r'File ".*/archcalc/(.+)", line \d+, in (\S+)', text)
    kinds = re.findall(r"^(\w+(?:Error|Exception|Iteration))\b", text, re.MULTILINE)
    return f", {kinds[-1]} in {' '.join(places[-1])}" if places and kinds else ""


def check_message(text: str) -> None:
    """A refusal says something, and no more than is read."""
    if not text.strip():
        raise Wrong("refused without a word")
    if len(text) > LONGEST_MESSAGE:
        raise Wrong(f"a message of {len(text):,} characters: {text[:200]!r}")
