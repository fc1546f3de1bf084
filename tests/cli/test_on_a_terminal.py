"""What differs where somebody sits at a terminal: files are written and opened that a pipe would be given."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from archcalc.cli import browser
from archcalc.cli.new_file import free_path, stem_of

if TYPE_CHECKING:
    from conftest import Run

pty = pytest.importorskip("pty")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Browser:
    """One with windows."""

    def __init__(self) -> None:
        self.opened: list[str] = []

    def open(self, address: str) -> None:
        self.opened.append(address)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pages that a browser was asked for, on a terminal that has one."""
    found = Browser()
    monkeypatch.setattr("archcalc.cli.commands.report.is_terminal", lambda: True)
    monkeypatch.setattr("archcalc.cli.commands.report.window", lambda: found)
    return found.opened


def on_terminal(*arguments: str) -> str:
    """What a terminal without a display is shown."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.Popen(
        [sys.executable, "-m", "archcalc", *arguments],
        stdout=theirs,
        stderr=theirs,
        stdin=theirs,
        env=environment | {"NO_COLOR": "1"},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            read = os.read(ours, 4096)
        except OSError:  # closed on the other side, as Linux says it
            break
        if not read:
            break
        shown += read
    os.close(ours)
    assert done.wait() == 0, shown
    return shown.decode().replace("\r\n", "\n")


def test_a_diagram_is_a_new_file_each_time(folder: Path) -> None:
    assert on_terminal("diagram", "lenet-5") == "wrote lenet-5.svg; --format mermaid prints it as text\n"
    (folder / "lenet-5.svg").write_text("mine")
    assert on_terminal("diagram", "lenet-5").startswith("wrote lenet-5-2.svg;")
    assert (folder / "lenet-5.svg").read_text() == "mine"
    assert (folder / "lenet-5-2.svg").read_text().startswith("<svg")


def test_a_diagram_that_has_a_format_is_printed(folder: Path) -> None:
    assert on_terminal("diagram", "lenet-5", "--format", "mermaid").startswith("flowchart")
    assert not list(folder.iterdir())


def test_piped_it_is_printed_as_ever(run: Run, folder: Path) -> None:
    assert run("diagram", "lenet-5").out.startswith("flowchart")
    assert not list(folder.iterdir())


def test_a_report_opens_in_the_browser(run: Run, opened: list[str], folder: Path) -> None:
    assert run("report", "lenet-5").out == "wrote lenet-5.html; it opens in your browser\n"
    assert opened == [(folder / "lenet-5.html").resolve().as_uri()]


def test_a_second_report_does_not_replace_the_first(run: Run, opened: list[str], folder: Path) -> None:
    told = [run("report", "lenet-5", "--no-open", *more).out for more in ([], [], ["--force"])]
    assert told == ["wrote lenet-5.html\n", "wrote lenet-5-2.html\n", "wrote lenet-5.html\n"]


def test_a_report_does_not_where_that_is_not_wanted(run: Run, opened: list[str]) -> None:
    assert run("report", "lenet-5", "--no-open").out == "wrote lenet-5.html\n"
    assert not opened


def test_a_report_that_is_piped_opens_nothing(run: Run, opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("archcalc.cli.commands.report.is_terminal", browser.is_terminal)
    assert run("report", "lenet-5").out == "wrote lenet-5.html\n"
    assert not opened


def test_a_report_on_a_terminal_without_a_display_is_written(folder: Path) -> None:
    assert on_terminal("report", "lenet-5") == "wrote lenet-5.html\n"
    assert (folder / "lenet-5.html").exists()


@pytest.mark.parametrize(
    ("model", "stem"),
    [("gpt2", "gpt2"), ("hf:openai-community/gpt2", "gpt2"), ("a/b.yaml", "b"), ("-", "model"), ("..", "model")],
)
def test_a_file_is_called_after_its_model(model: str, stem: str) -> None:
    assert stem_of(model) == stem


def test_a_free_name_is_no_dangling_link(folder: Path) -> None:
    (folder / "gpt2.svg").symlink_to("nowhere")
    assert free_path("gpt2", ".svg") == Path("gpt2-2.svg")
