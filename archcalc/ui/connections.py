"""The connections of the explorer's server, so many at once, each with a clock that runs while it is waited for.

Whoever opens connections and says nothing, sends a header byte by byte or reads no answer would keep their sockets
until there are none left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 20.0  # for a whole request to come, and for an answer to be taken
MOST = 64  # connections at once; a browser opens six


class Connections:
    """Those that are open. The ones that are waited for have a clock, the one that waits longest first."""

    def __init__(self) -> None:
        self.open = set[asyncio.WriteTransport]()
        self.clocks = dict[asyncio.WriteTransport, asyncio.TimerHandle]()

    @contextmanager
    def entered(self, one: asyncio.WriteTransport) -> Iterator[None]:
        """A new one is waited for. If there are too many, the one that waits longest makes way."""
        self.open.add(one)
        self.wait_for(one)
        if len(self.open) > MOST:
            self._end(next(iter(self.clocks)))
        try:
            yield
        finally:
            self._end(one)

    def wait_for(self, one: asyncio.WriteTransport) -> None:
        """It ends unless it does within seconds what is waited for."""
        self.stop(one)
        self.clocks[one] = asyncio.get_running_loop().call_later(SECONDS, one.abort)

    def stop(self, one: asyncio.WriteTransport) -> None:
        if clock := self.clocks.pop(one, None):
            clock.cancel()

    def _end(self, one: asyncio.WriteTransport) -> None:
        self.stop(one)
        self.open.discard(one)
        one.abort()
