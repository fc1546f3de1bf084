"""The server on standard input and output: lists the tools, and answers one question after the other."""

from __future__ import annotations

import inspect
import signal
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import typer
from mcp import types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server

from archcalc.cli.mcp.answers import SCHEMA, in_words, structured
from archcalc.cli.mcp.inputs import ANSWERED, arguments, function, schema
from archcalc.cli.options import collected
from archcalc.core.errors import InputError, did_you_mean
from archcalc.spec.reach import Reach, within
from archcalc.ui.ask import bug
from archcalc.version import __version__

ABOUT = (
    "Exact parameters, shapes and memory of neural-network architectures, and which GPUs they fit on. Options are "
    "those of archcalc's command line. Figures are exact, or carry the assumption that they rest on: tell both."
)
HARMLESS = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True)


def run(reach: Reach) -> None:
    """Until the client ends its side, or by an interrupt, which could not wake what reads standard input."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(_serve, reach)


async def _serve(reach: Reach) -> None:
    turn = anyio.CapacityLimiter(1)

    async def listed(_: Any, asked: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(name) for name in ANSWERED])

    async def called(_: Any, asked: types.CallToolRequestParams) -> types.CallToolResult:
        answer = partial(answered, asked.name, asked.arguments or {}, reach)
        return await anyio.to_thread.run_sync(answer, limiter=turn)

    server = Server[Any]("archcalc", version=__version__, instructions=ABOUT, on_list_tools=listed, on_call_tool=called)
    async with stdio_server() as (asked, answers):
        await server.run(asked, answers, server.create_initialization_options(NotificationOptions()))


def answered(name: str, given: dict[str, Any], reach: Reach) -> types.CallToolResult:
    """What the command of that name answers, or its message as an error of the tool."""
    try:
        if name not in ANSWERED:
            raise InputError(f"no tool is called {name}", did_you_mean(name, ANSWERED))
        values = arguments(name, given)
        with within(reach), collected() as reports, suppress(typer.Exit):  # an exit code, of an answer that was given
            function(name)(**values)
        (report, notes), *_ = reports
        text, content = in_words(report, notes=notes), structured(report, notes=notes)
    except InputError as error:
        return _error("\n".join(error.messages()))
    except Exception as error:  # as on the command line: a message, and a server that goes on
        return _error(bug(error)["error"]["text"])
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=content)


def _tool(name: str) -> types.Tool:
    about = inspect.getdoc(function(name))
    return types.Tool(
        name=name, description=about, input_schema=schema(name), output_schema=SCHEMA, annotations=HARMLESS
    )


def _error(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)
