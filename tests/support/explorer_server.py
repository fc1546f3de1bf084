"""The explorer's server as the command runs it, on a port of its own, and HTTP that is sent to it byte by byte."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

from archcalc.ui import running
from archcalc.ui.rules import TOKEN_HEADER, Rules
from archcalc.ui.server import serve

TOKEN = "a-token"


@contextmanager
def served() -> Iterator[int]:
    """Its port; it ends as Ctrl-C ends it."""
    loop = asyncio.new_event_loop()
    with running.bound(0) as listening:
        port: int = listening.getsockname()[1]
        serving = loop.create_task(serve(listening, Rules(port, TOKEN)))
        thread = threading.Thread(target=_until_cancelled, args=(loop, serving))
        thread.start()
        try:
            yield port
        finally:
            loop.call_soon_threadsafe(serving.cancel)
            thread.join(timeout=60)
            assert not thread.is_alive()


def _until_cancelled(loop: asyncio.AbstractEventLoop, serving: asyncio.Task[None]) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(_ended(serving))


async def _ended(serving: asyncio.Task[None]) -> None:
    await asyncio.wait((serving,))


def opened(port: int, sent: bytes = b"") -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port), timeout=30)
    made.sendall(sent)
    return made


def heard(made: socket.socket) -> bytes:
    """All that comes until the connection ends, however it does."""
    found = b""
    with closing(made):
        try:
            while part := made.recv(1 << 16):
                found += part
        except ConnectionError:
            pass
    return found


def request(port: int, body: bytes, **headers: str) -> bytes:
    """A question; a header without a value is left out."""
    given = {"Host": f"127.0.0.1:{port}", "Content-Type": "application/json", TOKEN_HEADER: TOKEN}
    given |= {"Connection": "close", "Content-Length": str(len(body))} | headers
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items() if value)
    return f"POST /ask HTTP/1.1\r\n{lines}\r\n".encode() + body
