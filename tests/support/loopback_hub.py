"""Servers on loopback that play the Hub: one that answers by path, and one that may send whatever it likes."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import ClassVar

import pytest

import archcalc
from archcalc.core.errors import InputError

COMMIT = "c" * 40
Answer = tuple[int, dict[str, str], bytes]
Speak = Callable[[socket.socket, Event], None]


class Quiet(BaseHTTPRequestHandler):
    """A handler that answers GET and HEAD by a status, headers and a body, and logs nothing."""

    def do_GET(self) -> None:
        self.answer()

    def do_HEAD(self) -> None:
        self.answer()

    def answer(self) -> None:
        raise NotImplementedError

    def send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server, for as long as it is needed."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Hub(Quiet):
    """By the last part of a path: a status, headers and a body. What is not there is not found."""

    answers: ClassVar[dict[str, Answer]] = {}
    asked: ClassVar[list[tuple[str, str | None]]] = []

    def answer(self) -> None:
        self.asked.append((self.path, self.headers.get("Authorization")))
        name = "list" if self.path.startswith("/api/models/") else self.path.rsplit("/", 1)[-1]
        self.send(*self.answers.get(name, (404, {"X-Error-Code": "EntryNotFound"}, b"")))


def refused(name: str = "hf:owner/name") -> str:
    with pytest.raises(InputError) as error:
        archcalc.load(name)
    return str(error.value)


def listing(*names: str) -> Answer:
    listed = [{"rfilename": name} for name in names]
    return 200, {}, json.dumps({"sha": COMMIT, "siblings": listed}).encode()


def holding(hub: type[Hub], **files: bytes) -> None:
    """Files by their names, in which `__` stands for a dot."""
    named = {name.replace("__", "."): body for name, body in files.items()}
    hub.answers["list"] = listing(*named)
    hub.answers.update({name: (200, {}, body) for name, body in named.items()})


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


def endless(connection: socket.socket, ended: Event) -> None:
    """An answer without an end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while not ended.is_set():
        connection.sendall(b" " * 2**20)
