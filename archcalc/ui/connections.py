"""Connections end unless a request comes whole, and its answer is taken, within seconds.

uvicorn bounds the time between two requests and nothing else: whoever opens connections and says nothing, sends a
header byte by byte or reads no answer would keep their sockets until there are none left.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 20.0  # for a whole request to come, and for an answer to be taken
MOST = 64  # connections at once; a browser opens six


class Connection(H11Protocol):
    """One of uvicorn's, with a clock that stands while the request is answered."""

    clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start()
        if len(self.connections) > MOST:
            # Of those whose clock runs; this one is the last of them.
            waiting = {one: one.clock.when() for one in self.connections if isinstance(one, Connection) and one.clock}
            min(waiting, key=waiting.__getitem__).end()

    def end(self) -> None:
        """At once, and not again."""
        self._stop()
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """What follows a whole request is dropped: the answer closes the connection."""
        if not self.cycle or self.cycle.more_body:
            super().data_received(data)
            self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._start()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        cycle = self.cycle
        if cycle and not cycle.more_body and not cycle.response_complete:
            self._stop()
        elif not self.clock:
            self._start()

    def _start(self) -> None:
        self._stop()
        self.clock = self.loop.call_later(SECONDS, self.end)

    def _stop(self) -> None:
        if self.clock:
            self.clock.cancel()
        self.clock = None
