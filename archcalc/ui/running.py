"""Runs the local server until it is interrupted: a socket on loopback, a token, and the address that has both."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from urllib.parse import quote

from archcalc.core.errors import InputError, MissingExtra

LOOPBACK = "127.0.0.1"
PATIENCE = 1  # seconds that connections get to end


def check_installed() -> None:
    try:
        import starlette
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtra("the server of the explorer (starlette, uvicorn)", "ui") from None
    _ = starlette


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
    import uvicorn

    from archcalc.ui.rules import Rules
    from archcalc.ui.server import application

    rules = Rules(listening.getsockname()[1], secrets.token_urlsafe(24))
    settings = uvicorn.Config(
        application(rules),
        log_config=None,  # a log of requests would hold the token
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=PATIENCE,
    )
    opened(address(rules.port, rules.token, model))
    try:
        uvicorn.Server(settings).run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        listening.close()


def address(port: int, token: str, model: str) -> str:
    view = f"#model={quote(model)}" if model else ""
    return f"http://{LOOPBACK}:{port}/?token={token}{view}"
