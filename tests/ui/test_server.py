"""The local server: who may ask it, what it refuses, and that it ends when it is told to."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPMessage
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from support.explorer_server import TOKEN, served

from archcalc.ui import lanes, pages, server
from archcalc.ui.lanes import Busy, Lane, TooLong, lane_of
from archcalc.ui.rules import HEADERS, TOKEN_HEADER

if TYPE_CHECKING:
    from conftest import Run

QUICK = {"ask": "schema", "family": "word2vec"}


class Answer(NamedTuple):
    status: int
    headers: HTTPMessage
    text: str

    def json(self) -> Any:
        return json.loads(self.text)


@dataclass
class Client:
    """Asks a real server on this machine, with any header that a page or a program could send."""

    port: int

    def request(self, method: str, path: str, body: bytes = b"", **headers: str | None) -> Answer:
        """`PORT` in a header is the server's; a header of None is left out."""
        asked = HTTPConnection("127.0.0.1", self.port, timeout=60)
        with closing(asked):
            asked.putrequest(method, path, skip_host="host" in headers)
            for name, said in ({"content_length": str(len(body))} | headers).items():
                if said is not None:
                    asked.putheader(name.replace("_", "-"), said.replace("PORT", str(self.port)))
            asked.endheaders(body)
            answer = asked.getresponse()
            return Answer(answer.status, answer.headers, answer.read().decode())

    def get(self, path: str, **headers: str) -> Answer:
        return self.request("GET", path, b"", **headers)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with served() as port:
        yield Client(port)


def ask(client: Client, question: Any = QUICK, **headers: str | None) -> Answer:
    given: dict[str, str | None] = {"content_type": "application/json", "x_archcalc_token": TOKEN}
    body = question if isinstance(question, bytes) else json.dumps(question).encode()
    return client.request("POST", "/ask", body, **given | headers)


def test_a_question_is_answered(client: Client) -> None:
    answer = ask(client)
    assert answer.status == 200 and answer.json()["ok"]
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1PORT", "evil.example:PORT", "[::1]:80"])
def test_another_name_of_this_machine_is_refused(client: Client, host: str) -> None:
    """A page whose name was made to point here (DNS rebinding) sends that name."""
    assert ask(client, host=host).status == 421
    assert client.get("/site.json", host=host).status == 421


def test_localhost_is_this_machine(client: Client) -> None:
    assert ask(client, host="localhost:PORT", origin="http://localhost:PORT").status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1:PORT"},
        {"origin": "http://127.0.0.1:1PORT"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
)
def test_another_page_is_refused(client: Client, headers: dict[str, str]) -> None:
    assert ask(client, **headers).status == 403
    assert "access-control-allow-origin" not in ask(client, **headers).headers


@pytest.mark.parametrize("token", [None, "", "another", TOKEN.upper(), f"{TOKEN} x"])
def test_without_the_token_nothing_is_answered(client: Client, token: str | None) -> None:
    answer = ask(client, x_archcalc_token=token)
    assert answer.status == 403 and "archcalc ui" in answer.json()["error"]["hint"] + answer.json()["error"]["fact"]


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_only_json_is_read(client: Client, kind: str | None) -> None:
    """What a form of another page can send without asking is none."""
    assert ask(client, content_type=kind).status == 415


@pytest.mark.parametrize("question", [b"", b"{", b"[]", b"3", b"\xff", b"[" * 100_000])
def test_what_is_no_question_is_refused(client: Client, question: bytes) -> None:
    assert ask(client, question).status == 400


def test_a_long_question_is_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the length that it says; one that comes in chunks says none."""
    monkeypatch.setattr(server, "LARGEST_QUESTION", 1000)
    assert ask(client, b"x" * 1001).status == 413
    assert ask(client, b"x" * 1000).status == 400
    assert ask(client, b"a\r\n" * 11, content_length=None, transfer_encoding="chunked").status == 411


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/ask"), ("PUT", "/ask"), ("POST", "/"), ("DELETE", "/site.json")]
)
def test_no_other_method_is_known(client: Client, method: str, path: str) -> None:
    assert client.request(method, path).status in (404, 405)


@pytest.mark.parametrize(
    "path", ["/../pyproject.toml", "/%2e%2e/server.py", "/static/backend.js", "//etc/passwd", "/.env"]
)
def test_no_other_file_is_served(client: Client, path: str) -> None:
    assert client.get(path).status == 404


def test_the_page_is_served_and_kept_apart(client: Client) -> None:
    """By its own rules too: nothing from elsewhere, in no frame, kept by nobody."""
    answer = client.get("/backend.js")
    assert answer.text == (pages.FOLDER / "backend.js").read_text("utf-8")
    assert answer.headers["content-type"].startswith("text/javascript")
    for every in (answer, ask(client), client.get("/nothing"), ask(client, host="evil.example")):
        assert {name: every.headers.get(name) for name in HEADERS} == HEADERS


def test_questions_of_different_kinds_do_not_wait_for_each_other() -> None:
    assert lane_of({"ask": "exact"}) == lane_of({"ask": "catalog"}) == lane_of({}) == "exact"
    assert lane_of({"ask": "memory"}) == lane_of({"ask": "fit", "helps": False}) == "peaks"
    assert lane_of({"ask": "fit"}) == lane_of({"ask": "report"}) == "searches"


def test_a_question_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "PATIENCE", 0.01)

    async def asked() -> None:
        lane = Lane()
        with pytest.raises(TooLong):
            await lane.ask(json.dumps(QUICK).encode())
        assert lane.process is None
        await lane.close()

    asyncio.run(asked())


def test_a_process_that_was_ended_is_started_anew() -> None:
    async def asked() -> None:
        lane, question = Lane(), json.dumps(QUICK).encode()
        running = asyncio.create_task(lane.ask(question))
        while lane.process is None:
            await asyncio.sleep(0.01)
        first = lane.process
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert first.returncode == -signal.SIGKILL
        assert json.loads(await lane.ask(question))["ok"]
        await lane.close()
        with pytest.raises(Busy):
            await lane.ask(question)

    asyncio.run(asked())


def test_not_too_many_questions_wait() -> None:
    async def asked() -> None:
        lane = Lane()
        many = [asyncio.create_task(lane.ask(json.dumps(QUICK).encode())) for _ in range(lanes.MOST_WAITING + 3)]
        answers = await asyncio.gather(*many, return_exceptions=True)
        assert sum(isinstance(answer, Busy) for answer in answers) == 3
        await lane.close()

    asyncio.run(asked())


def started(*options: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "archcalc", "ui", "--no-browser", *options]
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # which a shell's background jobs ignore
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heard)


def posted(address: str, token: str, question: Any) -> Any:
    headers = {"Content-Type": "application/json", TOKEN_HEADER: token}
    request = urllib.request.Request(f"{address}/ask", json.dumps(question).encode(), headers, method="POST")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_the_command_serves_until_it_is_interrupted() -> None:
    """From the printed address to a quiet end, and nothing of it is left."""
    running = started("GPT2-Medium")
    assert running.stdout and running.stderr
    found = re.fullmatch(
        r"(http://127\.0\.0\.1:\d+)/\?token=([\w-]{32,})#model=gpt2-medium\n", running.stdout.readline()
    )
    assert found
    answer = posted(found[1], found[2], {"ask": "exact", "source": {"preset": "gpt2"}})
    assert (answer["answer"], answer["about"]) == ("124.4 M parameters", "124,439,808")
    with pytest.raises(urllib.error.HTTPError):
        posted(found[1], "another", QUICK)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (0, "")
    assert found[2] not in out
    with pytest.raises(urllib.error.URLError):
        posted(found[1], found[2], QUICK)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_a_reader_that_goes_away_leaves_no_word() -> None:
    """In the middle of an answer that takes long, as a page does that is closed."""
    running = started("GPT2-Medium")
    assert running.stdout and running.stderr
    found = re.match(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]+)", running.stdout.readline())
    assert found
    slow = json.dumps({"ask": "report", "source": {"preset": "deepseek-v3"}}).encode()
    for _ in range(3):
        leaving = HTTPConnection("127.0.0.1", int(found[1]), timeout=60)
        leaving.request("POST", "/ask", slow, {"Content-Type": "application/json", TOKEN_HEADER: found[2]})
        leaving.close()
    answer = posted(f"http://127.0.0.1:{found[1]}", found[2], {"ask": "exact", "source": {"preset": "gpt2"}})
    assert answer["ok"]  # by then the server has seen that the others are gone
    staying = HTTPConnection("127.0.0.1", int(found[1]), timeout=60)
    staying.request("POST", "/ask", slow, {"Content-Type": "application/json", TOKEN_HEADER: found[2]})
    running.send_signal(signal.SIGINT)  # while one is answered
    _, err = running.communicate(timeout=60)
    staying.close()
    assert (running.returncode, err) == (0, "")


def test_a_port_that_is_taken_is_an_error(run: Run) -> None:
    from archcalc.ui.running import bound

    with bound(0) as taken:
        port = taken.getsockname()[1]
        assert taken.getsockname()[0] == "127.0.0.1"
        answer = run("ui", "--no-browser", "--port", str(port))
    assert answer.code == 2 and f"--port: port {port} cannot be used" in answer.err


def test_the_explorer_begins_with_a_preset(run: Run, tmp_path: Path) -> None:
    answer = run("ui", "--no-browser", str(tmp_path))
    assert answer.code == 2 and "open the file on the page" in answer.err


@pytest.mark.parametrize(("kind", "opens"), [(webbrowser.BackgroundBrowser, True), (webbrowser.GenericBrowser, False)])
def test_a_browser_opens_in_a_window_alone(monkeypatch: pytest.MonkeyPatch, kind: Any, opens: bool) -> None:
    """One that takes the terminal would keep the server from answering it."""
    from archcalc.cli.commands.ui import _browse

    opened: list[str] = []
    monkeypatch.setattr(kind, "open", lambda _, address: opened.append(address))
    monkeypatch.setattr(webbrowser, "get", lambda: kind("browser"))
    _browse("http://127.0.0.1:8123")
    assert opened == (["http://127.0.0.1:8123"] if opens else [])
