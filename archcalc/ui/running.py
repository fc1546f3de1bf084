"""Runs the local server until it is interrupted: a socket on loopback, a token, and the address that has both."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from archcalc.core.errors import InputError, MissingExtra

if TYPE_CHECKING:
    import uvicorn

    from archcalc.ui.rules import Rules

LOOPBACK = "127.0.0.1"
PATIENCE = 1  # seconds that connections get to end


def check_installed() -> None:
    if not all(map(find_spec, ("starlette", "uvicorn"))):
        raise MissingExtra("the server of the explorer (starlette, uvicorn)", "ui")


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
    from archcalc.ui.rules import Rules

    rules = Rules(listening.getsockname()[1], secrets.token_urlsafe(24))
    opened(address(rules.port, rules.token, model))
    with suppress(KeyboardInterrupt), listening:
        server(rules).run(sockets=[listening])


def server(rules: Rules) -> uvicorn.Server:
    """It runs until it is told that it `should_exit`."""
    import uvicorn

    from archcalc.ui.lanes import Lanes
    from archcalc.ui.server import MOST, Connection, application

    lanes = Lanes()

    class Server(uvicorn.Server):
        """Whose questions end when it does."""

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await lanes.close()
            await super().shutdown(sockets)

    # Requests are nobody's business.
    quiet: dict[str, Any] = {"log_config": None, "log_level": "critical", "access_log": False}
    plain: dict[str, Any] = {"server_header": False, "date_header": False, "proxy_headers": False, "lifespan": "off"}
    # Of further requests on a connection uvicorn holds any number of bytes.
    plain["headers"] = [("connection", "close")]
    bounded: dict[str, Any] = {"http": Connection, "ws": "none", "backlog": MOST, "timeout_graceful_shutdown": PATIENCE}
    return Server(uvicorn.Config(application(rules, lanes), **quiet, **plain, **bounded))


def address(port: int, token: str, model: str) -> str:
    view = f"#model={quote(model)}" if model else ""
    return f"http://{LOOPBACK}:{port}/?token={token}{view}"
