"""The explorer on this machine: the page, and POST /ask, on loopback alone. Nothing is written to disk or logged."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from archcalc.core.errors import InputError
from archcalc.ui.ask import mistakes
from archcalc.ui.lanes import Busy, Lanes, TooLong
from archcalc.ui.pages import KINDS, files
from archcalc.ui.rules import HEADERS, LARGEST_QUESTION, MOST_HELD, MOST_VALUES, Refused, Rules

MOST_READ = 256 << 20  # bytes of a question, which is dropped long before
GONE = 499  # which nobody reads
SITE = {"server": True}  # what the page asks first: who answers it
Endpoint = Callable[[Request], Awaitable[Response]]
SECONDS = 20.0  # for a whole request to come, and for an answer to be taken
MOST = 64  # connections at once; a browser opens six


def application(rules: Rules, lanes: Lanes) -> Starlette:
    """The whole server, for one token."""
    desk = Desk()
    served = {("" if path == "index.html" else path): file for path, file in files().items()}  # by their address

    async def answer(request: Request) -> Response:
        rules.check_question(request.headers)
        with desk.place(request.headers.get("content-length", "")) as place:
            written = await _read(request, place)
            return await _answered(request, lanes, question_of(written), written)

    async def site(_: Request) -> Response:
        return JSONResponse(SITE)

    routes = [
        Route("/ask", _guarded(rules, answer), methods=["POST"]),
        Route("/site.json", _guarded(rules, site), methods=["GET"]),
        *(Route(f"/{path}", _guarded(rules, _file(file)), methods=["GET"]) for path, file in served.items()),
    ]
    return Starlette(routes=routes, exception_handlers=_OTHERS)


def _guarded(rules: Rules, endpoint: Endpoint) -> Endpoint:
    """Whatever is answered, the rules hold and its headers say so."""

    async def guarded(request: Request) -> Response:
        try:
            rules.check_place(request.headers)
            response = await endpoint(request)
        except Refused as refused:
            response = JSONResponse({"ok": False, **mistakes(InputError(refused.why))}, refused.status)
        response.headers.update(HEADERS)
        return response

    return guarded


async def _other(_: Request, error: Exception) -> Response:
    """No such address, or no such method there."""
    return JSONResponse({"ok": False}, getattr(error, "status_code", 500), HEADERS)


_OTHERS: dict[Any, Any] = dict.fromkeys((404, 405), _other)


def _file(file: Path) -> Endpoint:
    async def served(_: Request) -> Response:
        return FileResponse(file, media_type=KINDS[file.suffix])

    return served


async def _read(request: Request, place: Place) -> bytes:
    """Up to a length that nobody sends by mistake."""
    size, more = 0, True
    while more and size <= MOST_READ:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise Refused(GONE, "nobody waits for an answer")
        place.put(message.get("body", b""))
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    return place.taken()


async def _answered(request: Request, lanes: Lanes, question: dict[str, Any], written: bytes) -> Response:
    """Unless its reader goes away meanwhile: then it is not computed any further."""
    asked = asyncio.create_task(lanes.ask(question, written))
    gone = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait((asked, gone), return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()
    if not asked.done():
        asked.cancel()
        await asyncio.wait((asked,))
        return Response(status_code=GONE)
    try:
        return Response(asked.result(), media_type="application/json")
    except Busy:
        raise Refused(503, "archcalc has too many questions to answer") from None
    except TooLong:
        raise Refused(503, "the answer takes too long: ask for fewer devices or smaller sizes") from None
    except (OSError, asyncio.IncompleteReadError):
        raise Refused(503, "the process that answers has ended; ask again") from None


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


class Desk:
    """Where questions lie while they are read and answered; it holds so many bytes and no more."""

    def __init__(self) -> None:
        self.held = 0

    @contextmanager
    def place(self, declared: str = "") -> Iterator[Place]:
        """For a question that says how long it is, or does not."""
        place = Place(self, is_too_long=declared.isdecimal() and int(declared[:20]) > LARGEST_QUESTION)
        try:
            yield place
        finally:
            place.clear()


class Place:
    """One question, counted while it is read. One that is too long is dropped, and refused when all of it was read:
    a sender hears of no refusal before its last byte is taken."""

    def __init__(self, desk: Desk, *, is_too_long: bool) -> None:
        self.desk, self.is_too_long = desk, is_too_long
        self.size, self.parts = 0, list[bytes]()

    def put(self, part: bytes) -> None:
        self.is_too_long |= self.size + len(part) > LARGEST_QUESTION
        if self.is_too_long:
            self.clear()
            return
        if self.desk.held + len(part) > MOST_HELD:
            raise Refused(503, "archcalc has too many questions to answer")
        self.size += len(part)
        self.desk.held += len(part)
        self.parts.append(part)

    def taken(self) -> bytes:
        """The whole question, which counts as held until the place is cleared."""
        if self.is_too_long:
            raise Refused(413, f"a question has at most {LARGEST_QUESTION:,} bytes")
        parts, self.parts = self.parts, []
        return b"".join(parts)

    def clear(self) -> None:
        self.desk.held -= self.size
        self.size, self.parts = 0, []


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


class Connection(H11Protocol):
    """One of uvicorn's, with a clock that stands while the request is answered.

    It ends unless a request comes whole, and its answer is taken, within seconds. uvicorn bounds the time between two
    requests and nothing else: whoever opens connections and says nothing, sends a header byte by byte or reads no
    answer would keep their sockets until there are none left.
    """

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
