"""`archcalc mcp`, asked by a client of the official SDK over standard input and output."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent, Tool

from archcalc.cli.mcp.answers import FIRST, LAST, MOST_CHARACTERS, SCHEMA
from archcalc.cli.mcp.inputs import ANSWERED, schema
from archcalc.run.options import options_of

if TYPE_CHECKING:
    from conftest import Run

T = TypeVar("T")
SPEC = "vocab: 100\nd_model: 16\nheads: 2\nffn: 32\ndecoder: 2\n"


def with_client(asks: Callable[[Client], Awaitable[T]], *options: str) -> T:
    """What a client finds out from a server of its own."""
    words = ["-m", "archcalc", "mcp", *options]

    async def asked() -> T:
        started = StdioServerParameters(command=sys.executable, args=words, env=None)
        async with Client(stdio_client(started)) as client:
            return await asks(client)

    return anyio.run(asked)


def answers(*questions: tuple[str, dict[str, Any]], options: tuple[str, ...] = ()) -> list[CallToolResult]:
    async def asks(client: Client) -> list[CallToolResult]:
        return [await client.call_tool(name, given) for name, given in questions]

    return with_client(asks, *options)


def text(answer: CallToolResult) -> str:
    (content,) = answer.content
    assert isinstance(content, TextContent)
    return content.text


@pytest.fixture(scope="module")
def tools() -> dict[str, Tool]:
    async def asks(client: Client) -> dict[str, Tool]:
        return {one.name: one for one in (await client.list_tools()).tools}

    return with_client(asks)


def test_a_client_finds_the_tools_with_typed_inputs(tools: dict[str, Tool]) -> None:
    assert set(tools) == {"params", "shapes", "memory", "fit", "explain", "compare"}
    for one in tools.values():
        Draft202012Validator.check_schema(one.input_schema)
        assert one.description and one.annotations and one.annotations.read_only_hint
        assert all(said["description"] for said in one.input_schema["properties"].values())
    memory = tools["memory"].input_schema
    assert memory["required"] == ["model"]
    assert memory["properties"]["batch"]["type"] == ["integer", "string"]
    assert {"train", "infer"} <= set(memory["properties"]["mode"]["enum"])


@pytest.mark.parametrize("command", ["params", "memory", "fit", "compare"])
def test_a_tool_takes_every_option_of_its_command(tools: dict[str, Tool], command: str) -> None:
    """In the words of its help."""
    told = tools[command].input_schema["properties"]
    assert {name: one.help for name, one in options_of(command)}.items() <= {
        name: said["description"] for name, said in told.items()
    }.items()


def test_the_tools_answer_as_the_commands_do(run: Run) -> None:
    counted, fits, explained, compared, shapes = answers(
        ("params", {"model": "gpt2"}),
        ("fit", {"model": "llama-3.1-8b", "gpu": ["rtx-4090"], "seq": "4k"}),
        ("explain", {"field": ["kv", "cache"]}),
        ("compare", {"models": ["gpt2", "gpt2:ffn=2048"]}),
        ("shapes", {"model": "gpt2", "batch": 2, "seq": 8}),
    )
    assert not any(one.is_error for one in (counted, fits, explained, compared, shapes))
    assert counted.structured_content and f"{12 * 7_087_872 + 39_383_808 + 1536:,}" in text(counted)
    assert counted.structured_content["figures"][0]["exact"] == "124,439,808"
    record = json.loads(run("fit", "llama-3.1-8b", "--gpu", "rtx-4090", "--seq", "4k", "--format", "json").out)
    assert fits.structured_content and fits.structured_content["rows"] == record["rows"]
    assert "KV cache" in text(explained)
    assert f"{12 * 2 * 768 * (3072 - 2048) + 12 * (3072 - 2048):,} more" in text(compared)
    assert "2 × 8 × 768" in text(shapes)


def test_an_answer_has_its_form_and_is_short() -> None:
    """Of models with many layers, too: what is left out is said."""
    layers = "".join(f"- {{conv: {width}, kernel: 3, padding: 1}}\n" for width in range(8, 400))
    spec = f"family: network\ninput: [3, 32, 32]\nlayers:\n{layers}"
    every = answers(
        ("params", {"model": spec}), ("shapes", {"model": spec}), ("memory", {"model": "gpt2", "mode": "train"})
    )
    for one in every:
        assert not one.is_error, text(one)
        Draft202012Validator(SCHEMA).validate(one.structured_content)
        assert len(text(one).splitlines()) <= FIRST + LAST + 1
        assert len(json.dumps(one.structured_content)) < 2 * MOST_CHARACTERS
    assert every[0].structured_content and every[0].structured_content["left_out"]["rows"] > 0
    assert "lines left out" in text(every[0])


def test_notes_are_few_unless_asked_for() -> None:
    few, every = answers(*(("memory", {"model": "gpt2", "notes": notes}) for notes in (False, True)))
    assert few.structured_content and every.structured_content
    assert len(few.structured_content["assumptions"]) < len(every.structured_content["assumptions"])
    assert every.structured_content["left_out"]["assumptions"] == 0


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("params", {"model": "gtp2"}, "gpt2"),
        ("params", {}, "model: missing"),
        ("params", {"model": 3}, "model: expected a text"),
        ("params", {"model": "gpt2", "bach": 2}, "no option called bach"),
        ("memory", {"model": "gpt2", "batch": "many"}, "--batch: expected a whole number"),
        ("memory", {"model": "gpt2", "sp": "yes"}, "--sp: expected True or False"),
        ("memory", {"model": "gpt2", "mode": "sleep"}, "--mode: expected one of"),
        ("params", {"model": f"{SPEC}heads: 3\n"}, "heads"),
        ("params", {"model": "{"}, "not valid"),
        ("compare", {"models": ["gpt2"]}, "only one model"),
        ("fit", {"model": "gpt2", "gpu": ["no-such-card"]}, "no-such-card"),
        ("explain", {"field": []}, "missing"),
        ("flops", {"model": "gpt2"}, "no tool is called flops"),
    ],
)
def test_a_mistake_is_an_error_of_the_tool(tool: str, given: dict[str, Any], told: str) -> None:
    from archcalc.cli.mcp.server import answered
    from archcalc.spec.reach import Reach

    answer = answered(tool, given, Reach())
    assert answer.is_error and told in text(answer) and "Traceback" not in text(answer)


def test_a_server_goes_on_after_a_mistake() -> None:
    wrong, right = answers(("params", {"model": "gtp2"}), ("params", {"model": SPEC}))
    assert wrong.is_error and "did you mean" in text(wrong)
    assert not right.is_error and "parameters" in text(right)


@pytest.mark.parametrize(
    "name", ["{folder}/secret.yaml", "../secret.yaml", "links/link.yaml", "elsewhere/secret.yaml", "-", "~"]
)
def test_no_file_outside_the_folder_is_read(tmp_path: Path, name: str) -> None:
    """Nor is it said whether there is one; a link that leads out of the folder is none of its files."""
    from archcalc.cli.mcp.server import answered
    from archcalc.spec.reach import Reach

    inside = tmp_path / "inside"
    (inside / "links").mkdir(parents=True)
    (tmp_path / "secret.yaml").write_text("password: swordfish\n")
    (inside / "links" / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (inside / "elsewhere").symlink_to(tmp_path)  # a folder, which is not read with the files beside it
    (inside / "own.yaml").write_text(SPEC)
    written = name.format(folder=tmp_path)
    for reach in (Reach(), Reach(inside)):
        for given in ({"model": written}, {"model": "gpt2", "draft": written}):
            answer = answered("memory", given, reach)
            assert answer.is_error and "swordfish" not in text(answer) and "password" not in text(answer)
    assert not answered("memory", {"model": "own.yaml"}, Reach(inside)).is_error
    assert answered("memory", {"model": str(inside / "own.yaml")}, Reach()).is_error


def test_no_link_beside_a_file_leads_out_of_the_folder(tmp_path: Path) -> None:
    """A folder is read with all that it has, and so is a file."""
    from archcalc.cli.mcp.server import answered
    from archcalc.spec.reach import Reach

    (tmp_path / "secret.json").write_text('{"model_type": "swordfish"}')
    model = tmp_path / "inside" / "model"
    model.mkdir(parents=True)
    (model / "own.yaml").write_text(SPEC)
    assert not answered("params", {"model": "model/own.yaml"}, Reach(tmp_path / "inside")).is_error
    (model / "config.json").symlink_to(tmp_path / "secret.json")
    for name in ("model", "model/config.json", "model/own.yaml"):
        answer = answered("params", {"model": name}, Reach(tmp_path / "inside"))
        assert answer.is_error and "swordfish" not in text(answer)
    assert "swordfish" in text(answered("params", {"model": "inside/model"}, Reach(tmp_path)))


def test_the_network_is_asked_only_where_that_is_allowed() -> None:
    for address in ("hf:openai-community/gpt2", "https://huggingface.co/openai-community/gpt2"):
        (answer,) = answers(("params", {"model": address}))
        assert answer.is_error and "--network" in text(answer)


def test_files_of_a_folder_go_by_their_place_in_it(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(SPEC)
    named, absolute = answers(
        ("params", {"model": "own.yaml"}),
        ("params", {"model": str(tmp_path / "own.yaml")}),
        options=("--folder", str(tmp_path)),
    )
    assert not named.is_error and text(named) == text(absolute)


def test_it_ends_with_its_client() -> None:
    ended = subprocess.run([sys.executable, "-m", "archcalc", "mcp"], input=b"", capture_output=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_an_interrupt_ends_it_while_it_waits() -> None:
    words = [sys.executable, "-m", "archcalc", "mcp"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin and server.stdout and server.stderr
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
        server.stdin.write(json.dumps(asked).encode() + b"\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["result"]["serverInfo"]["name"] == "archcalc"
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=60) == -signal.SIGINT
        assert server.stderr.read() == b""


def test_without_its_extra_the_command_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    answer = run("mcp")
    assert answer.code == 2 and "pip install 'archcalc[mcp]'" in answer.err


def test_a_folder_that_is_not_there_is_refused(run: Run) -> None:
    answer = run("mcp", "--folder", "nowhere")
    assert answer.code == 2 and "there is no such folder" in answer.err


def test_the_configuration_in_the_docs_starts_it() -> None:
    text = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text("utf-8")
    (configuration,) = re.findall(r"^```text\n(\{.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (server,) = json.loads(configuration)["mcpServers"].values()
    assert server == {"command": "archcalc", "args": ["mcp"]}
    for one in re.findall(r'`"args": (\[.*?\])`', text):
        assert json.loads(one)[0] == "mcp"


def test_the_questions_in_the_docs_are_answered() -> None:
    text = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text("utf-8")
    asked = re.findall(r"^\| `(\w+)` \| .* \| `(\{.*\})` \|$", text, re.MULTILINE)
    assert [name for name, _ in asked] == ["params", "shapes", "memory", "fit", "compare", "explain"]
    for answer in answers(*((name, json.loads(given)) for name, given in asked)):
        assert not answer.is_error


@pytest.mark.parametrize("command", ANSWERED)
def test_a_tool_has_no_option_of_printing(command: str) -> None:
    assert not {"format", "trace", "check"} & set(schema(command)["properties"])
