"""Worker processes: exact figures, peaks and searches each have one of their own, so that none waits for another.

A process can be ended in the midst of a question, which a thread cannot: when its reader has gone, when it takes too
long, and when the server ends.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process, create_subprocess_exec
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from archcalc.ui.worker import LENGTH, framed

PATIENCE = 120.0  # seconds that a question may take
MOST_WAITING = 8  # questions in a lane
SEARCHES = ("plot", "report", "matrix")
PEAKS = ("memory", "fit", "timeline")


class Busy(Exception):
    """More questions wait than anyone asks by hand, or the server is about to end."""


class TooLong(Exception):
    """A question took longer than `PATIENCE`."""


def lane_of(question: Mapping[str, Any]) -> str:
    name = question.get("ask")
    if name in SEARCHES or (name == "fit" and question.get("helps") is not False):
        return "searches"
    return "peaks" if name in PEAKS else "exact"


class Lane:
    """One process, started when it is first asked, and anew after it was ended."""

    def __init__(self) -> None:
        self.process: Process | None = None
        self.turn = asyncio.Lock()
        self.waiting = 0
        self.is_closed = False

    async def ask(self, question: bytes) -> bytes:
        if self.waiting >= MOST_WAITING or self.is_closed:
            raise Busy
        self.waiting += 1
        try:
            async with self.turn:
                return await self._asked(question)
        finally:
            self.waiting -= 1

    async def _asked(self, question: bytes) -> bytes:
        """Whatever goes wrong, the process is not asked again: its next words would be the answer to this."""
        if self.is_closed:
            raise Busy
        if self.process is None or self.process.returncode is not None:
            # with the modules of this process, and none that lie where it was started
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            words = (sys.executable, "-P", "-m", "archcalc.ui.worker")
            self.process = await create_subprocess_exec(
                *words, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment
            )
        try:
            return await asyncio.wait_for(_answer(self.process, question), PATIENCE)
        except TimeoutError:
            await self.end()
            raise TooLong from None
        except BaseException:
            await self.end()
            raise

    async def close(self) -> None:
        """Answer nothing any more."""
        self.is_closed = True
        await self.end()

    async def end(self) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _answer(process: Process, question: bytes) -> bytes:
    assert process.stdin and process.stdout
    process.stdin.write(framed(question))
    await process.stdin.drain()
    length = await process.stdout.readexactly(LENGTH)
    return await process.stdout.readexactly(int.from_bytes(length, "big"))


class Lanes:
    """All of them."""

    def __init__(self) -> None:
        self.lanes = {name: Lane() for name in ("exact", "peaks", "searches")}

    async def ask(self, question: Mapping[str, Any], written: bytes) -> bytes:
        return await self.lanes[lane_of(question)].ask(written)

    async def close(self) -> None:
        for lane in self.lanes.values():
            await lane.close()
