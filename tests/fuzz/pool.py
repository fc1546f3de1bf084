"""Workers from outside: one is asked for a case at a time, and replaced when it dies or no longer answers."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

from fuzz.guard import Outcome

SPARE = 15.0  # seconds, for a worker that cannot stop itself
_TESTS = str(Path(__file__).parents[1])


class Worker:
    """A process of its own, without torch and without what a test has loaded."""

    def __init__(self, seconds: float, spare: float = SPARE) -> None:
        self.seconds, self.spare = seconds, spare
        self.process: subprocess.Popen[str] | None = None
        self.home = tempfile.TemporaryDirectory()
        self.said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed in `close`)

    def run(self, kind: str, seed: str) -> Outcome:
        process = self.process or self._started()
        assert process.stdin and process.stdout
        process.stdin.write(f"{kind} {seed}\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], self.seconds + self.spare)
        line = process.stdout.readline() if ready else ""
        return Outcome(*json.loads(line)) if line else self._buried(process, hangs=not ready)

    def _started(self) -> subprocess.Popen[str]:
        """Up to where it waits for its first case."""
        self.said.seek(0)
        self.said.truncate()
        command = [sys.executable, "-m", "fuzz.worker", str(self.seconds), self.home.name]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((_TESTS, str(Path(_TESTS).parent)))}
        environment |= {"MALLOC_ARENA_MAX": "1"}  # every thread's own arena would count as memory
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said, text=True, env=environment
        )
        assert process.stdout
        process.stdout.readline()
        self.process = process
        return process

    def _buried(self, process: subprocess.Popen[str], *, hangs: bool) -> Outcome:
        if hangs:
            process.send_signal(signal.SIGABRT)  # faulthandler tells where it stood
        code = self._ended()
        self.home.cleanup()
        self.home = tempfile.TemporaryDirectory()
        self.said.seek(0)
        words = self.said.read().decode(errors="replace")[-6000:]
        place = "hang within one call" if hangs else f"the worker died with {_named(code)}"
        return Outcome("wrong", self.seconds if hangs else 0.0, place, words)

    def _ended(self) -> int:
        """Its input is closed, which ends a worker that is well."""
        process, self.process = self.process, None
        if process is None:
            return 0
        with process:
            assert process.stdin
            process.stdin.close()
        return process.returncode

    def close(self) -> None:
        self._ended()
        self.said.close()
        self.home.cleanup()


def _named(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
