"""Runs the local server until it is interrupted: a socket on loopback, a token, and the address that has both."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import quote

from archcalc.core.errors import InputError

LOOPBACK = "127.0.0.1"


def bound(port: int) -> socket.socket:
    """A socket of this machine alone; port 0 is any that is free."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
    except OSError as reason:
        listening.close()
        hint = "choose another, or leave --port out"
        raise InputError(f"port {port} cannot be used: {reason.strerror or reason}", hint, field="--port") from None
    listening.listen()
    return listening


def run(listening: socket.socket, model: str, opened: Callable[[str], None]) -> None:
    """Serve until Ctrl-C. `opened` gets the address as soon as it answers."""
    import asyncio
    import secrets

    from archcalc.ui.rules import Rules
    from archcalc.ui.server import serve

    rules = Rules(listening.getsockname()[1], secrets.token_urlsafe(24))
    opened(address(rules.port, rules.token, model))
    with suppress(KeyboardInterrupt), listening:
        asyncio.run(serve(listening, rules))


def address(port: int, token: str, model: str) -> str:
    view = f"#model={quote(model)}" if model else ""
    return f"http://{LOOPBACK}:{port}/?token={token}{view}"
