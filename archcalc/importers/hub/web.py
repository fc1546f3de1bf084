"""One HTTP request with limits on everything: connecting, waiting, total time, redirects, length.

The question is asked in a thread of its own, since neither a name that is looked up nor a header that arrives byte by
byte can be interrupted. A thread that is no longer waited for ends with its connection, or with the process.
"""

from __future__ import annotations

import contextlib
import http.client
import importlib
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.error import URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

from archcalc.core.errors import InputError
from archcalc.version import __version__

CONNECTING = 2.5  # seconds, for looking the name up, connecting and agreeing on a key
SILENCE = 5.0  # for the first byte of an answer, and for each further piece
WHOLE = 30.0  # for all of it
PIECE = 2**16
REDIRECTS = 5
_MOVED = (301, 302, 303, 307, 308)
_CHECK = "check the connection, HF_ENDPOINT and proxies"


class Unreachable(InputError):
    """The server did not answer, or not completely; the cache may still have the file."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the Hub cannot be reached: {why}", _CHECK)


@dataclass(frozen=True)
class Answer:
    """A response, whatever its status."""

    status: int
    headers: Mapping[str, str]  # by names in lower case; of redirects too, where the last answer does not have them
    body: bytes


class Question:
    """Starts the request at once; `answer` waits for it. Many requests can run at a time."""

    def __init__(self, url: str, *, most: int, cut: bool = False, token: str = "", span: str = "") -> None:
        self.url, self.most, self.cut = url, most, cut
        self.headers = {"User-Agent": f"archcalc/{__version__}", **({"Range": f"bytes={span}"} if span else {})}
        self.token, self.origin = token, _origin(url)
        self.last = time.monotonic() + WHOLE
        self._wait(CONNECTING, "was reached")
        self.done, self.given_up = threading.Event(), False
        self.socket: socket.socket | None = None
        self.found: Answer | Exception | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def answer(self) -> Answer:
        """Raises Unreachable, or InputError for an unusable answer."""
        while not self.done.wait(max(0.0, self.until - time.monotonic())):
            if time.monotonic() >= self.until:
                self.given_up = True
                if self.socket is not None:
                    with contextlib.suppress(OSError):
                        self.socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads from it
                raise Unreachable(f"{_host(self.url)}: nothing {self.step}")
        if isinstance(self.found, Answer):
            return self.found
        assert self.found is not None
        raise _told(self.found, _host(self.url)) from None

    def connected(self, to: socket.socket) -> None:
        self.socket = to
        self._wait(SILENCE, "came back")

    def _wait(self, seconds: float, step: str) -> None:
        self.until, self.step = min(time.monotonic() + seconds, self.last), f"{step} within {seconds:g} s"

    def _run(self) -> None:
        try:
            self.found = self._follow()
        except Exception as reason:
            self.found = reason
        self.done.set()

    def _follow(self) -> Answer:
        seen: dict[str, str] = {}
        for _ in range(REDIRECTS + 1):
            found = self._ask()
            seen = {**seen, **found.headers}
            if found.status not in _MOVED or "location" not in found.headers:
                return Answer(found.status, seen, found.body)
            self.url = _moved(self.url, seen.pop("location"))
        raise InputError(f"the Hub redirects more than {REDIRECTS} times", "check HF_ENDPOINT and proxies")

    def _ask(self) -> Answer:
        self._wait(CONNECTING, "was reached")
        request = Request(self.url, headers=self.headers)
        if self.token and _origin(self.url) == self.origin:  # a token is for the Hub, not for where it leads
            request.add_header("Authorization", f"Bearer {self.token}")
        with _opener(self).open(request, timeout=WHOLE) as response:
            headers = {name.lower(): value for name, value in response.headers.items()}
            return Answer(response.status, headers, self._body(response))

    def _body(self, response: Any) -> bytes:
        if not self.cut and (response.length or 0) > self.most:
            raise self._too_long()
        found = bytearray()
        while len(found) <= self.most and not self.given_up:
            self._wait(SILENCE, "more came")
            piece = response.read(min(PIECE, self.most + 1 - len(found)))
            if not piece:
                break
            found += piece
        if len(found) > self.most and not self.cut:
            raise self._too_long()
        if len(found) <= self.most and response.length:
            raise ConnectionError("the connection ended in the middle of the answer")
        return bytes(found[: self.most])

    def _too_long(self) -> InputError:
        return InputError(f"the answer is longer than {self.most:,} bytes", "no such file is that long")


def _opener(question: Question) -> OpenerDirector:
    """Allows http and https only, through the environment's proxies; redirects and statuses are handled here."""

    class Plain(http.client.HTTPConnection):
        def connect(self) -> None:
            super().connect()
            question.connected(self.sock)

    class Secure(http.client.HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            question.connected(self.sock)

    class PlainHandler(HTTPHandler):
        def http_open(self, req: Request) -> http.client.HTTPResponse:
            return self.do_open(Plain, req)

    class SecureHandler(HTTPSHandler):
        def https_open(self, req: Request) -> http.client.HTTPResponse:
            return self.do_open(partial(Secure, context=_context()), req)

    found = OpenerDirector()
    for handler in (ProxyHandler(), PlainHandler(), SecureHandler()):
        found.add_handler(handler)
    return found


def _context() -> ssl.SSLContext:
    """Python for macOS may come without certificates; certifi, if it is there, has them."""
    found, paths = ssl.create_default_context(), ssl.get_default_verify_paths()
    if not (paths.cafile or paths.capath):
        with contextlib.suppress(ImportError):
            found.load_verify_locations(importlib.import_module("certifi").where())
    return found


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _host(url: str) -> str:
    return urlsplit(url).netloc


def _moved(url: str, location: str) -> str:
    """Follows a redirect only to http or https, and never from https to http."""
    found = urljoin(url, location)
    before, after = urlsplit(url).scheme, urlsplit(found).scheme
    if after not in ("http", "https") or (before, after) == ("https", "http") or not urlsplit(found).netloc:
        raise InputError(
            f"the Hub redirects to {location}; archcalc does not follow that", "check HF_ENDPOINT and proxies"
        )
    return found


def _told(reason: Exception, host: str) -> InputError:
    if isinstance(reason, InputError):
        return reason
    cause: Any = reason.reason if isinstance(reason, URLError) else reason
    if isinstance(cause, ssl.SSLCertVerificationError):
        hint = "SSL_CERT_FILE can name the certificates of your network; `pip install certifi` brings the usual ones"
        return InputError(f"the certificate of {host} cannot be verified", hint)
    if isinstance(cause, socket.gaierror):
        return Unreachable(f"the host {host} cannot be found")
    if isinstance(cause, ConnectionRefusedError):
        return Unreachable(f"{host} refuses the connection")
    if isinstance(cause, TimeoutError):
        return Unreachable(f"{host} did not answer in time")
    if isinstance(cause, http.client.RemoteDisconnected | http.client.IncompleteRead | ConnectionError):
        return Unreachable(f"{host} dropped the connection")
    if isinstance(cause, OSError):
        return Unreachable(f"{host}: {cause.strerror or cause}")
    if isinstance(cause, http.client.HTTPException | ValueError):
        return InputError(f"what {host} sends is not HTTP", _CHECK)
    raise reason
