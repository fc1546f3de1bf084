"""A Hub that is silent, slow, endless or not there: one message, soon, and little memory."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from threading import Event

import pytest
from support.loopback_hub import Hub, Speak, endless, listing, refused, speaking

from archcalc.importers.hub import web


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
