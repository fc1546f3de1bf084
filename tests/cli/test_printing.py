"""Where an answer goes: a pipe that closes, a full disk, no output at all, an encoding without our characters."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

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
    assert "201,466,160 - 201.5 M parameters" in done.stdout
    assert "encoder              50,439,168  50,439,168  25.0 % ##." in done.stdout
    assert "?" not in done.stdout


def test_a_terminal_of_one_column_is_no_error() -> None:
    assert shell(f"{ARCHCALC} memory textbook", COLUMNS="1").returncode == 0


def test_an_interrupt_ends_quietly() -> None:
    """As the shell expects it: 128 and the number of the signal."""
    command = [sys.executable, "-m", "archcalc", "params", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as waiting:
        time.sleep(2)
        waiting.send_signal(signal.SIGINT)
        assert waiting.communicate(timeout=20) == (b"", b"")
        assert waiting.returncode == 128 + signal.SIGINT


def test_headlines_fit_the_terminal() -> None:
    """Broken between sizes, and never within an option."""
    lines = shell(f"{ARCHCALC} flops textbook").stdout.splitlines()
    assert lines[0].endswith("· src_seq 2,048 ·")
    assert lines[1] == "  tgt_seq 2,048"
    assert max(map(len, lines)) <= 80
