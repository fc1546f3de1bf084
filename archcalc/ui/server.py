"""The explorer on this machine: the page, and POST /ask, on loopback alone. Nothing is written to disk or logged."""

from __future__ import annotations

import asyncio
import json
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from archcalc.core.errors import InputError
from archcalc.ui.ask import mistakes
from archcalc.ui.connections import MOST, Connections
from archcalc.ui.http import JSON, Answer, Request, request_from, take, while_awaited
from archcalc.ui.lanes import Busy, Lanes, TooLong
from archcalc.ui.pages import KINDS, files
from archcalc.ui.rules import LARGEST_QUESTION, MOST_HELD, MOST_VALUES, Refused, Rules

SITE = {"server": True}  # what the page asks first: who answers it


async def serve(listening: socket.socket, rules: Rules) -> None:
    """Until it is cancelled, as Ctrl-C does; then every question ends."""
    lanes = Lanes()
    serving = await asyncio.start_server(Server(rules, lanes).connected, sock=listening, backlog=MOST)
    try:
        await asyncio.Event().wait()
    finally:
        serving.close()
        await lanes.close()


class Server:
    """Who answers whom, for one token."""

    def __init__(self, rules: Rules, lanes: Lanes) -> None:
        self.rules, self.lanes = rules, lanes
        self.connections, self.desk = Connections(), Desk()
        self.files = {f"/{'' if path == 'index.html' else path}": file for path, file in files().items()}

    async def connected(self, reader: StreamReader, writer: StreamWriter) -> None:
        one = writer.transport
        # Whoever ends it needs no answer. Of a handler that ends cancelled, Python 3.11's streams print a traceback.
        with self.connections.entered(one), suppress(OSError, EOFError, asyncio.CancelledError):
            try:
                answer = await self._answer(reader, one)
            except Refused as refused:
                answer = _told({"ok": False, **mistakes(InputError(refused.why))}, refused.status)
            self.connections.wait_for(one)
            await take(writer, answer, reader)

    async def _answer(self, reader: StreamReader, one: asyncio.WriteTransport) -> Answer:
        request = await request_from(reader)
        self.rules.check_place(request.headers)
        match request.method, request.path:
            case "POST", "/ask":
                return await self._asked(request, reader, one)
            case "GET", "/site.json":
                return _told(SITE)
            case "GET", path if path in self.files:
                return Answer(200, KINDS[self.files[path].suffix], self.files[path].read_bytes())
            case _, path:
                is_known = path in ("/ask", "/site.json", *self.files)
                return _told({"ok": False}, 405 if is_known else 404)

    async def _asked(self, request: Request, reader: StreamReader, one: asyncio.WriteTransport) -> Answer:
        self.rules.check_question(request.headers)
        length = request.length(LARGEST_QUESTION)
        with self.desk.place(length):
            written = await reader.readexactly(length)
            self.connections.stop(one)
            question = question_of(written)
            async with while_awaited(reader):
                return Answer(200, JSON, await self._figures(question, written))

    async def _figures(self, question: dict[str, Any], written: bytes) -> bytes:
        try:
            return await self.lanes.ask(question, written)
        except Busy:
            raise Refused(503, "archcalc has too many questions to answer") from None
        except TooLong:
            raise Refused(503, "the answer takes too long: ask for fewer devices or smaller sizes") from None
        except (OSError, asyncio.IncompleteReadError):
            raise Refused(503, "the process that answers has ended; ask again") from None


def _told(answer: dict[str, Any], status: int = 200) -> Answer:
    return Answer(status, JSON, json.dumps(answer).encode())


class Desk:
    """Where questions lie while they are read and answered; it holds so many bytes and no more."""

    def __init__(self) -> None:
        self.held = 0

    @contextmanager
    def place(self, length: int) -> Iterator[None]:
        if self.held + length > MOST_HELD:
            raise Refused(503, "archcalc has too many questions to answer")
        self.held += length
        try:
            yield
        finally:
            self.held -= length


def question_of(written: bytes) -> dict[str, Any]:
    """Counted before it is parsed: a value follows a bracket or a comma, of which no header in base64 has any."""
    if sum(map(written.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise Refused(413, f"a question has at most {MOST_VALUES:,} values")
    try:
        found = json.loads(written)
    except (ValueError, RecursionError):
        raise Refused(400, "the question is not JSON") from None
    if not isinstance(found, dict):
        raise Refused(400, "the question is not a JSON object")
    return found
