"""Real sockets on this machine: who says nothing, sends half or reads no answer, and who sends far too much."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from archcalc.ui import ask, running
from archcalc.ui import server as serving
from archcalc.ui.lanes import Lane
from archcalc.ui.rules import LARGEST_QUESTION, MOST_HELD, MOST_VALUES, TOKEN_HEADER, Refused, Rules
from archcalc.ui.server import Desk, question_of
from archcalc.ui.worker import MOST_MEMORY

TOKEN = "a-token"
QUICK = json.dumps({"ask": "schema", "family": "word2vec"}).encode()
SHARES = [0.0, 0.02, 0.5, 0.99]  # of a request


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The server as the command runs it, but with little patience."""
    monkeypatch.setattr(serving, "SECONDS", 0.5)
    with running.bound(0) as listening:
        number: int = listening.getsockname()[1]
        server = running.server(Rules(number, TOKEN))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield number
        server.should_exit = True
        thread.join(timeout=60)


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
    given = {"Host": f"127.0.0.1:{port}", "Content-Type": "application/json", TOKEN_HEADER: TOKEN}
    given |= {"Connection": "close", "Content-Length": str(len(body))} | headers
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items() if value)
    return f"POST /ask HTTP/1.1\r\n{lines}\r\n".encode() + body


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


def test_whoever_reads_no_answer_is_let_go(port: int) -> None:
    """Requests one behind the other, whose answers fill the buffers of both sides."""
    get = f"GET /main.js HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    made = opened(port)
    with closing(made), pytest.raises(ConnectionError):
        for _ in range(20_000):
            made.sendall(get * 100)


def test_connections_that_say_nothing_keep_nobody_out(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than the server keeps: those that wait longest make way, and none is left open."""
    monkeypatch.setattr(serving, "SECONDS", 600.0)
    idle = [opened(port, half(port, SHARES[number % 4])) for number in range(3 * serving.MOST)]
    assert b'"ok": true' in heard(opened(port, request(port, QUICK)))
    assert [heard(made) for made in idle[: serving.MOST]] == [b""] * serving.MOST
    for made in idle:
        made.close()


@pytest.mark.parametrize("length", ["84000000", "999999999999999999999", "-1", "x", ""])
def test_a_question_that_says_it_is_too_long_is_refused_unread(port: int, length: str) -> None:
    answer = heard(opened(port, request(port, b"", **{"Content-Length": length})))
    assert status(answer) in (b"413", b"400", b"")


def test_a_long_question_is_refused_in_words(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a whole and in parts: the sender reads the refusal after the last of its bytes."""
    monkeypatch.setattr(serving, "SECONDS", 600.0)
    body = bytes(84_000_000)
    assert status(heard(opened(port, request(port, body)))) == b"413"
    part = b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"
    chunked = request(port, b"", **{"Content-Length": "", "Transfer-Encoding": "chunked"}) + part
    answer = heard(opened(port, chunked))
    assert status(answer) == b"413" and f"{LARGEST_QUESTION:,} bytes".encode() in answer


def test_values_are_counted_before_they_are_made() -> None:
    with pytest.raises(Refused, match="values"):
        question_of(b"[" + b"[]," * MOST_VALUES + b"0]")
    header = b"A" * (LARGEST_QUESTION // 2)  # one value, whatever its length
    assert question_of(b'{"header": "%s"}' % header) == {"header": header.decode()}


def test_so_many_bytes_of_questions_are_held_and_no_more() -> None:
    desk, part = Desk(), bytes(LARGEST_QUESTION // 4)
    with desk.place() as one, desk.place() as two, desk.place() as three:
        for _ in range(4):
            one.put(part)
            two.put(part)
        assert (desk.held, len(one.taken())) == (MOST_HELD, LARGEST_QUESTION)
        with pytest.raises(Refused, match="too many"):
            three.put(part)
        two.put(part)
        assert desk.held == LARGEST_QUESTION
        with pytest.raises(Refused, match="at most"):
            two.taken()
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
