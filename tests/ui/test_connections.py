"""Real sockets on this machine: who says nothing, sends half or reads no answer, and who sends far too much."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest
from support.explorer_server import heard, opened, request, served

from archcalc.ui import ask, connections
from archcalc.ui.lanes import Lane, Lanes
from archcalc.ui.rules import LARGEST_QUESTION, MOST_HELD, MOST_VALUES, Refused
from archcalc.ui.server import Desk, question_of
from archcalc.ui.worker import MOST_MEMORY

QUICK = json.dumps({"ask": "schema", "family": "word2vec"}).encode()
SHARES = [0.0, 0.02, 0.5, 0.99]  # of a request


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The server as the command runs it, but with little patience."""
    monkeypatch.setattr(connections, "SECONDS", 0.5)
    with served() as port:
        yield port


def status(answer: bytes) -> bytes:
    return answer[:12].removeprefix(b"HTTP/1.1 ")


def half(port: int, share: float) -> bytes:
    whole = request(port, QUICK)
    return whole[: int(len(whole) * share)]


@pytest.mark.parametrize("share", SHARES)
def test_whoever_sends_half_a_request_is_let_go(port: int, share: float) -> None:
    assert heard(opened(port, half(port, share))) == b""


def test_a_request_that_comes_whole_is_answered(port: int) -> None:
    assert b'"ok": true' in heard(opened(port, request(port, QUICK)))


def test_whoever_goes_on_sending_is_let_go(port: int) -> None:
    """Requests one behind the other: the first is answered, the others are dropped until the clock runs out."""
    get = f"GET /main.js HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    made, end = opened(port), time.monotonic() + 60
    with closing(made), pytest.raises(ConnectionError):
        while time.monotonic() < end:
            made.sendall(get * 100)


def test_whoever_reads_no_answer_is_let_go(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is longer than all buffers on the way."""

    async def long(*_: object) -> bytes:
        return bytes(64 << 20)

    monkeypatch.setattr(Lanes, "ask", long)
    made = opened(port, request(port, QUICK))
    with closing(made), pytest.raises(ConnectionError):
        for _ in range(200):
            time.sleep(0.1)
            made.sendall(b"still there")


def test_a_question_whose_reader_goes_away_is_not_computed(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    started, ended = threading.Event(), threading.Event()

    async def endless(*_: object) -> bytes:
        started.set()
        try:
            await asyncio.sleep(600)
        finally:
            ended.set()
        return b""

    monkeypatch.setattr(Lanes, "ask", endless)
    made = opened(port, request(port, QUICK) + b"and more")
    assert started.wait(30) and not ended.wait(0.2)
    made.close()
    assert ended.wait(30)


def test_connections_that_say_nothing_keep_nobody_out(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than the server keeps: those that wait longest make way, and none is left open."""
    monkeypatch.setattr(connections, "SECONDS", 600.0)
    idle = [opened(port, half(port, SHARES[number % 4])) for number in range(3 * connections.MOST)]
    assert b'"ok": true' in heard(opened(port, request(port, QUICK)))
    assert [heard(made) for made in idle[: connections.MOST]] == [b""] * connections.MOST
    for made in idle:
        made.close()


@pytest.mark.parametrize(
    ("length", "refused"),
    [("84000000", b"413"), ("999999999999999999999", b"413"), ("-1", b"411"), ("x", b"411"), ("", b"411")],
)
def test_a_question_is_refused_unread_by_the_length_that_it_says(port: int, length: str, refused: bytes) -> None:
    assert status(heard(opened(port, request(port, b"", **{"Content-Length": length})))) == refused


def test_a_long_question_is_refused_in_words(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a whole and in parts: the sender reads the refusal after the last of its bytes."""
    monkeypatch.setattr(connections, "SECONDS", 600.0)
    body = bytes(84_000_000)
    assert status(heard(opened(port, request(port, body)))) == b"413"
    part = b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"
    chunked = request(port, b"", **{"Content-Length": "", "Transfer-Encoding": "chunked"}) + part
    assert status(heard(opened(port, chunked))) == b"411"


@pytest.mark.parametrize(
    ("written", "refused"),
    [
        (b"nonsense", b"400"),
        (b"GET / HTTP/2", b"400"),
        (b"GET / HTTP/1.1\r\nno header", b"400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\n Folded: b", b"400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nhost: b", b"400"),
        (b"GET / HTTP/1.1\r\nHost : a", b"400"),
        (b"GET / HTTP/1.1", b"421"),
        (b"GET / HTTP/1.1\r\nA: " + b"a" * 200_000, b"431"),
    ],
)
def test_what_is_not_http_is_refused(port: int, written: bytes, refused: bytes) -> None:
    assert status(heard(opened(port, written + b"\r\n\r\n"))) == refused


def test_values_are_counted_before_they_are_made() -> None:
    with pytest.raises(Refused, match="values"):
        question_of(b"[" + b"[]," * MOST_VALUES + b"0]")
    header = b"A" * (LARGEST_QUESTION // 2)  # one value, whatever its length
    assert question_of(b'{"header": "%s"}' % header) == {"header": header.decode()}


def test_so_many_bytes_of_questions_are_held_and_no_more() -> None:
    desk = Desk()
    with desk.place(LARGEST_QUESTION):
        with desk.place(LARGEST_QUESTION):
            assert desk.held == MOST_HELD
            with pytest.raises(Refused, match="too many"), desk.place(1):
                pass
        with desk.place(1):
            assert desk.held == LARGEST_QUESTION + 1
    assert desk.held == 0


def test_an_answer_that_needs_too_much_memory_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def needed(question: object) -> None:
        raise MemoryError

    monkeypatch.setattr(ask, "_answered", needed)
    assert "more memory than" in ask.ask({})["error"]["fact"]


@pytest.mark.skipif(sys.platform != "linux", reason="another process's limits are read on Linux alone")
def test_the_processes_that_answer_have_so_much_memory_and_no_more() -> None:
    import resource

    async def asked() -> int:
        lane = Lane()
        try:
            await lane.ask(QUICK)
            assert lane.process
            return resource.prlimit(lane.process.pid, resource.RLIMIT_AS)[0]
        finally:
            await lane.close()

    assert asyncio.run(asked()) == MOST_MEMORY
