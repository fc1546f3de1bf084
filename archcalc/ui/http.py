"""HTTP/1.1 as the explorer's server speaks it: one request on each connection, and its answer ends it."""

from __future__ import annotations

import asyncio
import re
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import NamedTuple

from archcalc.ui.rules import HEADERS, Refused

REQUEST = re.compile(rb"([A-Z]+) ([!-~]+) HTTP/1\.[01]")  # method and target
FIELD = re.compile(rb"([!#$%&'*+.^_`|~\w-]+):[ \t]*([^\r\n\0]*?)[ \t]*")  # RFC 9112, section 5
JSON = "application/json"


class Request(NamedTuple):
    method: str
    path: str  # as it was sent, without its query
    headers: Mapping[str, str]  # by names in small letters

    def length(self, most: int) -> int:
        """Bytes of the question, of which there are at most so many; a form without a length (chunks) is not read."""
        said = self.headers.get("content-length", "")
        if not said.isdecimal() or "transfer-encoding" in self.headers:
            raise Refused(411, "a question says how many bytes it has")
        if len(said) > len(str(most)) or int(said) > most:
            raise Refused(413, f"a question has at most {most:,} bytes")
        return int(said)


class Answer(NamedTuple):
    status: int
    kind: str
    body: bytes

    def written(self) -> bytes:
        headers = {"Content-Type": self.kind, "Content-Length": len(self.body), "Connection": "close", **HEADERS}
        first = f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"
        return "\r\n".join([first, *(f"{name}: {said}" for name, said in headers.items()), "", ""]).encode() + self.body


async def request_from(reader: StreamReader) -> Request:
    """What comes before the question; it is no longer than the reader's limit."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise Refused(431, "the headers are too long") from None
    first, *lines = head[:-4].split(b"\r\n")
    asked, fields = REQUEST.fullmatch(first), [found for line in lines if (found := FIELD.fullmatch(line))]
    headers = {found[1].decode().lower(): found[2].decode("latin-1") for found in fields}
    if not asked or len(headers) < len(lines):  # a line that is no header, or one that is there twice
        raise Refused(400, "the request is not HTTP/1.1")
    return Request(asked[1].decode(), asked[2].decode().partition("?")[0], headers)


async def take(writer: StreamWriter, answer: Answer, reader: StreamReader) -> None:
    """Until the other side ends the connection: it hears no refusal before it has sent what is refused."""
    writer.write(answer.written())
    writer.write_eof()
    await drained(reader)
    writer.close()
    await writer.wait_closed()


async def drained(reader: StreamReader) -> None:
    """Drop whatever else comes, until the other side ends the connection."""
    try:
        while await reader.read(1 << 16):
            pass
    except OSError:  # it has ended in another way
        return


@asynccontextmanager
async def while_awaited(reader: StreamReader) -> AsyncIterator[None]:
    """Cancel what is done for a reader that goes away meanwhile."""
    doing = asyncio.current_task()
    assert doing
    gone = asyncio.create_task(drained(reader))
    gone.add_done_callback(lambda _: gone.cancelled() or doing.cancel())
    try:
        yield
    finally:
        gone.cancel()
        await asyncio.wait((gone,))
