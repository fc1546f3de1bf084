"""How tests reach archcalc: through the command line, as a user does."""

from __future__ import annotations

import inspect
import io
import json
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before PyTorch is loaded: a worker a core, a thread a worker
# Some virtual machines report AMX and forbid its use: 16-bit products on the CPU would end the process.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")

from support import remembered, wide

from archcalc.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# The same examples in every run of one version of hypothesis, however slow the machine.
_REPEATABLE = settings(derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("repeatable", _REPEATABLE)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest first, so that no worker is left with one of them when the others are done."""
    items.sort(key=lambda item: "test_verify_drawn" not in item.nodeid)
    left_out = set(wide.left_out(items))
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI everything that tests need is installed, so a test that is skipped there is one that failed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Run(Protocol):
    def __call__(self, *arguments: str, stdin: str = "", columns: int = 80) -> Answer: ...


class Write(Protocol):
    def __call__(self, text: str | bytes, name: str = "model.yaml") -> str: ...


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`run("params", "gpt2")` is `archcalc params gpt2`, piped."""

    def run(*arguments: str, stdin: str = "", columns: int = 80) -> Answer:
        monkeypatch.setattr(sys, "argv", ["archcalc", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        monkeypatch.setenv("COLUMNS", str(columns))
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        return Answer(int(stopped.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture(autouse=True)
def answers_of_replaced_code(request: pytest.FixtureRequest) -> Iterator[None]:
    """Answers are remembered by value: a test that replaces code is given none of another, and leaves none."""
    if "monkeypatch" not in inspect.signature(request.function).parameters:
        yield
        return
    remembered.forget()
    yield
    remembered.forget()


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a file into an empty working directory and return its name."""
    monkeypatch.chdir(tmp_path)

    def write(text: str | bytes, name: str = "model.yaml") -> str:
        (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return name

    return write
