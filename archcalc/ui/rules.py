"""Who may ask the local server what: this machine's browser, from the page itself, with the token of its address.

A name that was made to point to this machine (DNS rebinding) is no host of it, and a page of another origin is refused
whatever it sends. What is answered is kept by nobody, framed by nobody, and loads nothing from elsewhere.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

TOKEN_HEADER = "X-Archcalc-Token"
LARGEST_QUESTION = 48 << 20  # bytes: one header of 32 MiB, of which base64 takes a third more
MOST_HELD = 2 * LARGEST_QUESTION  # bytes of all questions that are read or answered at once
MOST_VALUES = 1_000_000  # of a question: empty lists take twenty times their bytes, a header is one value
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


class Refused(Exception):
    """A request that breaks a rule, with the status that says so."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


@dataclass(frozen=True)
class Rules:
    port: int
    token: str

    @property
    def hosts(self) -> tuple[str, str]:
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    def check_place(self, headers: Mapping[str, str]) -> None:
        """Of every request."""
        host = headers.get("host", "")
        if host not in self.hosts:
            raise Refused(421, "this server is asked by its own address alone")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            raise Refused(403, "another page may not ask this server")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise Refused(403, "another page may not ask this server")

    def check_question(self, headers: Mapping[str, str]) -> None:
        """Of requests that are answered with figures. Tokens are compared in a time that tells nothing of them."""
        given = headers.get(TOKEN_HEADER.lower(), "").encode("utf-8", "replace")
        if not secrets.compare_digest(given, self.token.encode()):
            raise Refused(403, "open the address that `archcalc ui` printed: it has the token of this run")
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "a question is sent as application/json")
