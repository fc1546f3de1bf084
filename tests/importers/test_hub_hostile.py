"""A Hub that is silent, slow, endless, broken or lying: one message, soon, and little memory."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import ClassVar

import pytest
from support.safetensors_files import CONFIG, WEIGHTS, file

import archcalc
from archcalc.core.errors import InputError
from archcalc.importers.hub import web

COMMIT = "c" * 40
Speak = Callable[[socket.socket, Event], None]


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of whoever runs the tests; waiting is cut short."""
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(web, "SILENCE", 0.5)


def refused(name: str = "hf:owner/name") -> str:
    with pytest.raises(InputError) as error:
        archcalc.load(name)
    return str(error.value)


@contextmanager
def speaking(speak: Speak) -> Iterator[str]:
    """Each connection, by a function that may send whatever it likes."""
    ended = Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while not ended.is_set():
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                Thread(target=spoken, args=(connection,), daemon=True).start()

        def spoken(connection: socket.socket) -> None:
            with connection:
                try:
                    connection.recv(65536)
                    speak(connection, ended)
                except OSError:
                    return

        Thread(target=serve, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            ended.set()
            server.shutdown(socket.SHUT_RDWR)


def silent(connection: socket.socket, ended: Event) -> None:
    ended.wait(30)


def dripping_header(connection: socket.socket, ended: Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not ended.wait(0.05):
        connection.sendall(b"x")


def dripping_body(connection: socket.socket, ended: Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while not ended.wait(0.05):
        connection.sendall(b" ")


def continuing(connection: socket.socket, ended: Event) -> None:
    while not ended.wait(0.001):
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")


def closing(connection: socket.socket, ended: Event) -> None:
    """Without a word."""


def closing_in_the_middle(connection: socket.socket, ended: Event) -> None:
    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"siblings": []')


def not_http(connection: socket.socket, ended: Event) -> None:
    connection.sendall(b"220 mail.example.com ESMTP\r\n")


def many_headers(connection: socket.socket, ended: Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 5000 + b"\r\n")


def endless(connection: socket.socket, ended: Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while not ended.is_set():
        connection.sendall(b" " * 2**20)


@pytest.mark.parametrize(
    ("speak", "fact"),
    [
        (silent, "nothing came back within"),
        (dripping_header, "nothing came back within"),
        (dripping_body, "nothing more came within"),
        (continuing, "nothing came back within"),
        (closing, "dropped the connection"),
        (closing_in_the_middle, "dropped the connection"),
        (not_http, "is not HTTP"),
        (many_headers, "is not HTTP"),
        (endless, "longer than 20,000,000 bytes"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_server_that_does_not_answer_is_told(speak: Speak, fact: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with speaking(speak) as endpoint:
        monkeypatch.setenv("HF_ENDPOINT", endpoint)
        message = refused()
    assert message.startswith("hf:owner/name: ")
    assert fact in message


def test_a_name_that_is_looked_up_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """As without a network, where a look-up waits for servers that are not there."""
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(30))
    monkeypatch.setattr(web, "CONNECTING", 0.3)
    monkeypatch.setenv("HF_ENDPOINT", "http://hub.example")
    assert "hub.example: nothing was reached within 0.3 s" in refused()


def test_a_host_that_is_not_known_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setenv("HF_ENDPOINT", "http://hub.example")
    assert "the host hub.example cannot be found" in refused()


def test_what_is_waited_for_without_a_network_is_short() -> None:
    """Looking up, connecting: one limit for both, and no second attempt."""
    assert web.CONNECTING < 3


@pytest.mark.parametrize(
    "written",
    [
        *(
            "not an address",
            "huggingface.co",
            "ftp://huggingface.co",
            "file:///etc",
            "//host",
            "https:/host",
            "http://",
        ),
        *("http://host:port", "http://host:99999", "http://[::1", "http://a b", "http://user@host", "http://host?x"),
        "http://host/\x1b[2J",
    ],
)
def test_an_endpoint_that_is_no_address_is_told(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", written)
    message = refused()
    assert "HF_ENDPOINT" in message
    assert "\x1b" not in message


class Hub(BaseHTTPRequestHandler):
    """By path: a status, headers and a body. What is not there is not found."""

    answers: ClassVar[dict[str, tuple[int, dict[str, str], bytes]]] = {}
    asked: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers.get("Authorization")))
        name = "list" if self.path.startswith("/api/models/") else self.path.rsplit("/", 1)[-1]
        status, headers, body = self.answers.get(name, (404, {"X-Error-Code": "EntryNotFound"}, b""))
        self.send_response(status)
        for key, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    with serving() as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        yield Hub


@contextmanager
def serving() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.daemon_threads = True
    Hub.asked.clear()
    Hub.answers.clear()
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def listing(*names: str) -> tuple[int, dict[str, str], bytes]:
    listed = [{"rfilename": name} for name in names]
    return 200, {}, json.dumps({"sha": COMMIT, "siblings": listed}).encode()


def holding(hub: type[Hub], **files: bytes) -> None:
    """Files by their names, in which `__` stands for a dot."""
    named = {name.replace("__", "."): body for name, body in files.items()}
    hub.answers["list"] = listing(*named)
    hub.answers.update({name: (200, {}, body) for name, body in named.items()})


@pytest.mark.parametrize(
    ("answer", "token", "fact", "hint"),
    [
        ((401, "RepoNotFound"), "", "no such repository, or it is private (401)", "HF_TOKEN"),
        ((401, ""), "", "no such repository, or it is private (401)", "check the spelling"),
        ((401, ""), "hf_old", "does not accept the token (401)", "hf auth login"),
        ((401, "GatedRepo"), "", "this repository is gated (401)", "accept its licence on http://127.0.0.1"),
        ((403, "GatedRepo"), "hf_mine", "the token's account has no access (403)", "accept its licence"),
        ((403, ""), "", "refuses to show this repository (403)", "token"),
        ((404, "RepoNotFound"), "", "no such repository, or it is private (404)", "check the spelling"),
        ((404, "RevisionNotFound"), "", "it has no revision main (404)", "a branch, a tag or a commit"),
        ((429, ""), "", "asked too often (429)", "wait 17 s"),
        ((451, ""), "", "legal reasons (451)", ""),
        ((500, ""), "", "the Hub has a fault (500)", "try again later"),
        ((503, ""), "", "the Hub has a fault (503)", "try again later"),
        ((418, ""), "", "does not know (418)", "HF_ENDPOINT"),
    ],
)
@pytest.mark.parametrize("where", ["list", "config.json", "model.safetensors"])
def test_each_status_is_told_with_what_to_do(
    hub: type[Hub],
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    answer: tuple[int, str],
    token: str,
    fact: str,
    hint: str,
) -> None:
    """Wherever it is met: the list of a gated repository is public, its files are not."""
    holding(hub, config__json=json.dumps(CONFIG).encode(), model__safetensors=file(WEIGHTS))
    status, code = answer
    hub.answers[where] = (status, {"X-Error-Code": code, "Retry-After": "17"}, b"{}")
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
    message = refused()
    assert fact in message
    assert hint in message


@pytest.mark.parametrize("location", ["/here", "http://127.0.0.1:{port}/there", "//127.0.0.1:{port}/x"])
def test_redirects_have_an_end(hub: type[Hub], monkeypatch: pytest.MonkeyPatch, location: str) -> None:
    port = os.environ["HF_ENDPOINT"].rsplit(":", 1)[1]
    moved = (302, {"Location": location.format(port=port)}, b"")
    hub.answers |= dict.fromkeys(("list", "here", "there", "x"), moved)
    assert "redirects more than 5 times" in refused()
    assert len(hub.asked) == 6


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://host/x", "x:"])
def test_a_redirect_out_of_the_web_is_not_followed(hub: type[Hub], location: str) -> None:
    hub.answers["list"] = (302, {"Location": location}, b"")
    assert "which is not followed" in refused()


def test_a_token_is_not_given_to_where_the_hub_leads(hub: type[Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights lie on other hosts; here the same one under its other name."""
    port = os.environ["HF_ENDPOINT"].rsplit(":", 1)[1]
    holding(hub, config__json=json.dumps(CONFIG).encode())
    hub.answers["elsewhere"] = hub.answers["config.json"]
    hub.answers["config.json"] = (302, {"Location": f"http://localhost:{port}/elsewhere"}, b"")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    archcalc.load("hf:owner/name")
    sent = {path.rsplit("/", 1)[-1]: token for path, token in hub.asked}
    assert sent == {"main": "Bearer hf_secret", "config.json": "Bearer hf_secret", "elsewhere": None}


def test_the_token_of_a_login_is_used(hub: type[Hub], tmp_path: Path) -> None:
    (tmp_path / "hf").mkdir()
    (tmp_path / "hf" / "token").write_text("hf_kept\n")
    holding(hub, config__json=json.dumps(CONFIG).encode())
    archcalc.load("hf:owner/name")
    assert {token for _, token in hub.asked} == {"Bearer hf_kept"}


def changed(**fields: object) -> bytes:
    """The weights, with fields of the first tensor as they cannot be."""
    content = file(WEIGHTS)
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    first = next(name for name in header if name != "__metadata__")
    header[first] |= fields
    written = json.dumps(header).encode()
    return len(written).to_bytes(8, "little") + written + content[8 + length :]


@pytest.mark.parametrize(
    "weights",
    [
        b"",
        b"\0" * 8,
        b"\xff" * 8 + b"{}",
        (2**40).to_bytes(8, "little") + b"{}",
        (200_000).to_bytes(8, "little") + b"[" * 200_000,
        (2).to_bytes(8, "little") + b"[]",
        file(WEIGHTS)[:-1],
        file(WEIGHTS) + b"\0",
        changed(shape=[-1, 2]),
        changed(shape="x"),
        changed(data_offsets=[0, -2]),
        changed(data_offsets=[8, 0]),
        changed(data_offsets=[0]),
        changed(dtype=["F32"]),
        changed(dtype="F33"),
    ],
    ids=range(15),
)
@pytest.mark.parametrize("beside", [True, False])
def test_headers_are_checked_as_those_of_a_file(hub: type[Hub], tmp_path: Path, weights: bytes, beside: bool) -> None:
    """What is refused of a file on disk is refused of the Hub's, for the same reason."""
    config = {"config__json": json.dumps(CONFIG).encode()} if beside else {}
    holding(hub, model__safetensors=weights, **config)
    local = tmp_path / "model.safetensors"
    local.write_bytes(weights)
    there, here = refused(), refused(str(local))
    assert there.startswith("hf:owner/name/model.safetensors: ")
    assert there.splitlines()[0].split(": ", 1)[1] == here.splitlines()[0].split(": ", 1)[1]


def test_a_long_header_is_read_whole(hub: type[Hub]) -> None:
    """Longer than what is asked for at first."""
    many = {f"layers.{index}.weight": ("F32", [2]) for index in range(3000)}
    holding(hub, model__safetensors=file(many))
    assert archcalc.load("hf:owner/name").params().total == 6000


def test_shards_are_joined_as_their_index_says(hub: type[Hub]) -> None:
    names = list(WEIGHTS)
    parts = {f"part-{index}.safetensors": names[index::20] for index in range(min(20, len(names)))}
    index = {"weight_map": {name: part for part, held in parts.items() for name in held}}
    files = {part: file({name: WEIGHTS[name] for name in held}) for part, held in parts.items()}
    files |= {"model.safetensors.index.json": json.dumps(index).encode(), "config.json": json.dumps(CONFIG).encode()}
    hub.answers["list"] = listing(*files)
    hub.answers.update({name: (200, {}, body) for name, body in files.items()})
    model = archcalc.load("hf:owner/name")
    assert any("as the config says" in note for note in (*model.document.notes, *model.document.file_notes))
    del hub.answers["part-1.safetensors"]
    noted = archcalc.load("hf:owner/name").document.file_notes
    assert any(note.startswith("1 of the ") and "are not here; bytes are as the config says" in note for note in noted)
    hub.answers["model.safetensors.index.json"] = (200, {}, b'{"weight_map": {"a": "../../x.safetensors"}}')
    assert "not beside it" in refused()
    many = {"weight_map": {f"t{index}": f"{index}.safetensors" for index in range(3000)}}
    hub.answers["model.safetensors.index.json"] = (200, {}, json.dumps(many).encode())
    assert "3,000 shards" in refused()


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[]",
        b"null",
        b"\xff",
        b"",
        b"{",
        b'{"model_type": "gpt2", "n_embd": 1e999}',
    ],
)
def test_a_config_is_checked_as_a_file_is(hub: type[Hub], tmp_path: Path, raw: bytes) -> None:
    holding(hub, config__json=raw)
    local = tmp_path / "config.json"
    local.write_bytes(raw)
    there, here = refused(), refused(str(local))
    assert there.startswith("hf:owner/name/config.json:")
    assert there.replace("hf:owner/name/config.json", "") == here.replace(str(local), "")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b'{"siblings": 3}',
        b'{"siblings": [3]}',
        b'{"siblings": [{"rfilename": []}]}',
        b"[" * 99_999,
    ],
)
def test_a_list_of_files_that_is_none_is_told(hub: type[Hub], body: bytes) -> None:
    hub.answers["list"] = (200, {}, body)
    assert "list of the repository's files cannot be read" in refused()


def test_a_config_of_three_gigabytes_takes_no_memory(hub: type[Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "PIECE", 2**20)

    def endless_config(connection: socket.socket, ended: Event) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3000000000\r\n\r\n")
        while not ended.is_set():
            connection.sendall(b" " * 2**20)

    with speaking(endless_config) as address:
        hub.answers["list"] = listing("config.json")
        hub.answers["config.json"] = (302, {"Location": f"{address}/x"}, b"")
        assert "longer than 32,000,000 bytes" in refused()


@pytest.mark.skipif(sys.platform != "linux", reason="reads how much memory a process took from /proc")
def test_little_memory_is_taken_of_an_endless_answer() -> None:
    """In a process of its own: the program's own memory, and a few times the limit."""
    with speaking(endless) as address:
        script = (
            "import pathlib, archcalc\n"
            "try: archcalc.load('hf:owner/name')\n"
            "except archcalc.InputError as error: print(error)\n"
            "print(pathlib.Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0])"
        )
        environ = {**os.environ, "HF_ENDPOINT": address}
        ran = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True)
    assert "longer than 20,000,000 bytes" in ran.stdout
    assert int(ran.stdout.splitlines()[-1]) < 200_000  # kB


def test_what_beside_the_config_tells_the_format_is_fetched(hub: type[Hub]) -> None:
    holding(hub, config__json=json.dumps(CONFIG).encode(), hf_quant_config__json=b"{}", other__json=b"{}")
    archcalc.load("hf:owner/name")
    fetched = [path.rsplit("/", 1)[-1] for path, _ in hub.asked]
    assert fetched == ["main", "config.json", "hf_quant_config.json"]
    assert all(f"/resolve/{COMMIT}/" in path for path, _ in hub.asked[1:])


def test_an_endpoint_without_a_list_is_asked_for_the_usual_names(hub: type[Hub]) -> None:
    """Simple mirrors serve files alone."""
    hub.answers["config.json"] = (200, {}, json.dumps(CONFIG).encode())
    counted = archcalc.load("hf:owner/name").params().total
    hub.answers["model.safetensors"] = (200, {}, file(WEIGHTS))
    assert any("as the config says" in note for note in archcalc.load("hf:owner/name").document.file_notes)
    del hub.answers["config.json"]
    assert archcalc.load("hf:owner/name").params().total == counted


def test_a_config_that_is_not_read_leaves_the_tensors(hub: type[Hub]) -> None:
    """As it does in a folder."""
    holding(hub, config__json=b'{"model_type": "sphinx"}', model__safetensors=file(WEIGHTS))
    model = archcalc.load("hf:owner/name")
    assert any("the tensors of the repository, without a forward pass" in note for note in model.document.notes)
    holding(hub, config__json=b'{"model_type": "sphinx"}', model__safetensors=b"")
    assert "sphinx" in refused()


def test_a_repository_of_gguf_files_is_told_as_such(hub: type[Hub]) -> None:
    hub.answers["list"] = listing("a-Q4_K_M.gguf", "a-Q8_0.gguf")
    assert "download one" in refused()


@pytest.mark.parametrize(
    "written",
    [
        "https://huggingface.co/owner/name",
        "https://huggingface.co/owner/name/",
        "http://huggingface.co/owner/name?library=transformers#files",
        "https://hf.co/owner/name",
        "https://HuggingFace.co/owner/name",
        "huggingface.co/owner/name",
        "hf:owner/name",
    ],
)
def test_the_address_of_a_page_is_its_repository(hub: type[Hub], written: str) -> None:
    holding(hub, config__json=json.dumps(CONFIG).encode())
    model = archcalc.load(written)
    assert model.name == "owner/name"
    assert hub.asked[0][0] == "/api/models/owner/name/revision/main"


@pytest.mark.parametrize(
    "written",
    [
        "https://huggingface.co/owner/name/tree/v2.0",
        "https://huggingface.co/owner/name/tree/v2.0/",
        "https://huggingface.co/owner/name/blob/v2.0/config.json",
        "https://huggingface.co/owner/name/resolve/v2.0/config.json?download=true",
        "https://huggingface.co/owner/name/raw/v2.0/config.json",
        "https://huggingface.co/owner/name/blob/v2.0/model.safetensors.index.json",
        "hf:owner/name@v2.0",
    ],
)
def test_an_address_may_name_a_revision(hub: type[Hub], written: str) -> None:
    holding(hub, config__json=json.dumps(CONFIG).encode())
    assert archcalc.load(written).name == "owner/name@v2.0"
    assert hub.asked[0][0] == "/api/models/owner/name/revision/v2.0"


def test_a_revision_may_have_strokes(hub: type[Hub]) -> None:
    holding(hub, config__json=json.dumps(CONFIG).encode())
    archcalc.load("https://huggingface.co/owner/name/tree/refs%2Fpr%2F1")
    assert hub.asked[0][0] == "/api/models/owner/name/revision/refs%2Fpr%2F1"


def test_a_repository_without_an_owner_has_an_address_too(hub: type[Hub]) -> None:
    holding(hub, config__json=json.dumps(CONFIG).encode())
    assert archcalc.load("https://huggingface.co/gpt2/tree/main").name == "gpt2@main"


@pytest.mark.parametrize(
    "written",
    [
        "https://example.com/owner/name",
        "https://huggingface.co.example.com/owner/name",
        "ftp://huggingface.co/owner/name",
        "file:///etc/passwd",
        "https://huggingface.co/",
        "https://huggingface.co/datasets/owner/name",
        "https://huggingface.co/spaces/owner/name",
        "https://huggingface.co/owner/name/discussions/1",
        "https://huggingface.co/owner/name/tree/main/onnx",
        "https://huggingface.co/owner/name/blob/main/model-Q4_K_M.gguf",
        "https://huggingface.co/owner/../name",
        "https://[::1/owner/name",
        "hf:",
        "hf:owner/name@",
        "hf:../name",
        "hf:owner/name@../../x",
        "hf:owner/name/more",
        "hf:a b",
        "hf:owner/na\x1bme",
    ],
)
def test_other_addresses_are_refused_unasked(hub: type[Hub], written: str) -> None:
    message = refused(written)
    assert "\x1b" not in message
    assert not hub.asked


def test_without_a_network_the_cache_answers_and_says_so(hub: type[Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    holding(hub, config__json=json.dumps(CONFIG).encode())
    counted = archcalc.load("hf:owner/name").params().total
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    model = archcalc.load("hf:owner/name")
    assert model.params().total == counted
    assert any(
        "refuses the connection: read from the cache" in note
        for note in (*model.document.notes, *model.document.file_notes)
    )
    assert "refuses the connection" in refused("hf:owner/other")
    assert "refuses the connection" in refused("hf:owner/name@v2")


def test_the_cache_is_laid_out_as_huggingface_hub_has_it(hub: type[Hub], tmp_path: Path) -> None:
    """So that either finds what the other fetched."""
    huggingface_hub = pytest.importorskip("huggingface_hub")
    holding(hub, config__json=json.dumps(CONFIG).encode())
    archcalc.load("hf:owner/name")
    kept = huggingface_hub.try_to_load_from_cache("owner/name", "config.json", cache_dir=tmp_path / "hf" / "hub")
    assert json.loads(Path(kept).read_text()) == CONFIG
