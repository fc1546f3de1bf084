"""Where an answer goes: a pipe that closes, a full disk, no output at all, an encoding without our characters."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

ARCHCALC = f"{sys.executable} -m archcalc"


def shell(command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "COLUMNS": "80", **variables},
    )


def test_a_reader_that_wants_no_more_is_no_error() -> None:
    """Exit code 1 would mean that verification found a difference."""
    done = shell(f"{ARCHCALC} schema | head -1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "{\n", "")


@pytest.mark.parametrize(
    ("into", "told"), [("> /dev/full", "the answer cannot be written: No space left"), (">&-", "output is closed")]
)
def test_an_answer_that_cannot_be_written_is_told(into: str, told: str) -> None:
    done = shell(f"{ARCHCALC} params textbook {into}")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_bars_in_ascii_keep_their_columns() -> None:
    done = shell(f"{ARCHCALC} params textbook --depth 1", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert "201.5 M parameters - 201,466,160" in done.stdout
    assert "encoder              50,439,168  50,439,168  25.0 % ##." in done.stdout
    assert "?" not in done.stdout


def test_a_terminal_of_one_column_is_no_error() -> None:
    assert shell(f"{ARCHCALC} memory textbook", COLUMNS="1").returncode == 0


INTERRUPTIBLE = """
import runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
sys.argv[0] = "archcalc"
runpy.run_module("archcalc", run_name="__main__")
"""  # whatever this process does with the signal, and hands on to those that it starts


def test_an_interrupt_ends_quietly(tmp_path: Path) -> None:
    """As the shell expects it: 128 and the number of the signal. The pipe is open once archcalc reads it."""
    pipe = tmp_path / "model.yaml"
    os.mkfifo(pipe)
    command = [sys.executable, "-c", INTERRUPTIBLE, "params", str(pipe)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as waiting, pipe.open("wb"):
        waiting.send_signal(signal.SIGINT)
        assert waiting.communicate(timeout=60) == (b"", b"")
        assert waiting.returncode == 128 + signal.SIGINT


@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("command", ["--help", "params --help", "identities --list", "params textbook", "init -"])
def test_everything_that_is_printed_meets_a_full_disk(command: str, buffered: str) -> None:
    """Help too, in colour, and where Python writes at once (as images of containers have it)."""
    done = shell(f"{ARCHCALC} {command} > /dev/full", PYTHONUNBUFFERED=buffered, FORCE_COLOR="1")
    assert (done.returncode, done.stderr) == (2, "error: the answer cannot be written: No space left on device\n")


@pytest.mark.parametrize("command", ["--help", "params --help", "identities --list", "params textbook"])
def test_everything_that_is_printed_meets_a_closed_pipe(command: str) -> None:
    done = shell(f"{ARCHCALC} {command} | true", FORCE_COLOR="1")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.wide
def test_no_message_depends_on_the_order_of_a_set() -> None:
    """Python draws another order of words for each seed."""
    mistakes = (
        "memory gpt2 --mode train --freeze nothing",
        "memory gpt2 --mode train --lora 4 --lora-targets zz",
        "memory gpt2 --tp 7",
        "params gpt2 --set hedas=3",
        "params gtp2",
        "memory gpt2 --weights q4_z",
        "fit gpt2 --gpu h10",
    )
    command = "; ".join(f"{ARCHCALC} {mistake}" for mistake in mistakes)
    told = {shell(command, PYTHONHASHSEED=seed).stderr for seed in ("1", "2")}
    assert len(told) == 1
    assert told.pop().count("error: ") == len(mistakes)


def test_headlines_fit_the_terminal() -> None:
    """Broken between sizes, and never within an option."""
    lines = shell(f"{ARCHCALC} flops textbook --batch 1000").stdout.splitlines()
    assert lines[0].endswith("· tgt_seq 2,048 ·")
    assert lines[1].startswith("  fp32 · assumed: memory-efficient attention,")
    assert max(map(len, lines)) <= 80
