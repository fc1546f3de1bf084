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
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from archcalc.ui import lanes, pages, server
from archcalc.ui.lanes import Busy, Lane, Lanes, TooLong, lane_of
from archcalc.ui.rules import HEADERS, TOKEN_HEADER, Rules

if TYPE_CHECKING:
    from conftest import Run

TOKEN, PORT = "a-token", 8123
HOME = f"http://127.0.0.1:{PORT}"
QUICK = {"ask": "schema", "family": "word2vec"}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    asked = Lanes()
    with TestClient(server.application(Rules(PORT, TOKEN), asked), base_url=HOME) as client:
        yield client
        assert client.portal
        client.portal.call(asked.close)


def ask(client: TestClient, question: Any = QUICK, **headers: str | None) -> Any:
    given = {"content-type": "application/json", TOKEN_HEADER.lower(): TOKEN}
    given |= {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
    for name in (name.replace("_", "-") for name, value in headers.items() if value is None):
        del given[name]
    return client.post("/ask", content=question if isinstance(question, bytes) else json.dumps(question), headers=given)


def test_a_question_is_answered(client: TestClient) -> None:
    answer = ask(client)
    assert answer.status_code == 200 and answer.json()["ok"]
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", f"127.0.0.1:{PORT + 1}", f"evil.example:{PORT}", "[::1]:80"]
)
def test_another_name_of_this_machine_is_refused(client: TestClient, host: str) -> None:
    """A page whose name was made to point here (DNS rebinding) sends that name."""
    assert ask(client, host=host).status_code == 421
    assert client.get("/site.json", headers={"host": host}).status_code == 421


def test_localhost_is_this_machine(client: TestClient) -> None:
    assert ask(client, host=f"localhost:{PORT}", origin=f"http://localhost:{PORT}").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"https://127.0.0.1:{PORT}"},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
)
def test_another_page_is_refused(client: TestClient, headers: dict[str, str]) -> None:
    assert ask(client, **headers).status_code == 403
    assert "access-control-allow-origin" not in ask(client, **headers).headers


@pytest.mark.parametrize("token", [None, "", "another", TOKEN.upper(), f"{TOKEN} x"])
def test_without_the_token_nothing_is_answered(client: TestClient, token: str | None) -> None:
    answer = ask(client, **{TOKEN_HEADER.lower(): token})
    assert (
        answer.status_code == 403 and "archcalc ui" in answer.json()["error"]["hint"] + answer.json()["error"]["fact"]
    )


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_only_json_is_read(client: TestClient, kind: str | None) -> None:
    """What a form of another page can send without asking is none."""
    assert ask(client, content_type=kind).status_code == 415


@pytest.mark.parametrize("question", [b"", b"{", b"[]", b"3", b"\xff", b"[" * 100_000])
def test_what_is_no_question_is_refused(client: TestClient, question: bytes) -> None:
    assert ask(client, question).status_code == 400


def test_a_long_question_is_refused_while_it_is_read(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LARGEST_QUESTION", 1000)
    assert ask(client, b"x" * 1001).status_code == 413
    headers = {"content-type": "application/json", TOKEN_HEADER: TOKEN}
    in_parts = client.post("/ask", content=iter([b"x" * 100] * 11), headers=headers)
    assert in_parts.request.headers["transfer-encoding"] == "chunked" and in_parts.status_code == 413


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/ask"), ("PUT", "/ask"), ("POST", "/"), ("DELETE", "/site.json")]
)
def test_no_other_method_is_known(client: TestClient, method: str, path: str) -> None:
    assert client.request(method, path).status_code in (404, 405)


@pytest.mark.parametrize(
    "path", ["/../pyproject.toml", "/%2e%2e/server.py", "/static/backend.js", "//etc/passwd", "/.env"]
)
def test_no_other_file_is_served(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_the_page_is_served_and_kept_apart(client: TestClient) -> None:
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
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


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
    assert answer["answer"] == "124,439,808 parameters"
    with pytest.raises(urllib.error.HTTPError):
        posted(found[1], "another", QUICK)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (0, "")
    assert found[2] not in out
    with pytest.raises(urllib.error.URLError):
        posted(found[1], found[2], QUICK)


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
    _browse(HOME)
    assert opened == ([HOME] if opens else [])


def test_without_its_extra_the_command_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("archcalc.ui.running.find_spec", lambda _: None)
    answer = run("ui")
    assert answer.code == 2 and "pip install 'archcalc[ui]'" in answer.err
