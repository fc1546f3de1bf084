"""The explorer on this machine: the page, and POST /ask, on loopback alone. Nothing is written to disk or logged."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from archcalc.core.errors import InputError
from archcalc.ui.ask import mistakes
from archcalc.ui.lanes import Busy, Lanes, TooLong
from archcalc.ui.pages import KINDS, files
from archcalc.ui.questions import Desk, Place, question_of
from archcalc.ui.rules import HEADERS, Refused, Rules

MOST_READ = 256 << 20  # bytes of a question, which is dropped long before
GONE = 499  # which nobody reads
SITE = {"server": True}  # what the page asks first: who answers it
Endpoint = Callable[[Request], Awaitable[Response]]


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
