"""Names that others chose: no character of theirs is obeyed by a terminal, forges a line, or is lost to a program."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
import unicodedata
from itertools import product
from typing import TYPE_CHECKING

import pytest
from support.safetensors_files import file

from archcalc.core.errors import InputError
from archcalc.core.visible import visible

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run, Write

OSC_52, CLEAR, C1_CSI = "\x1b]52;c;bWluZQ==\x07", "\x1b[2J", "\x9b31m"
HOSTILE = f"a{OSC_52}{CLEAR}{C1_CSI}\r\u202e\u2028\u2066\x7f\n1 parameter\n\ue002|`<img>`[x](y)\\"
SPEC = {"vocab": 10, "d_model": 8, "heads": 2, "ffn": 8, "decoder": 1}
OWN = re.compile(r"\x1b\[(0|1|2|3[1-6])m")  # what archcalc itself sends: weight, shade and colours
HARM = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ue000-\uf8ff]")


def hostile_files(folder: Path) -> dict[str, str]:
    """By kind, a file whose names are as bad as its format allows."""
    config = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2}
    config |= {"num_attention_heads": 4, "vocab_size": 100, HOSTILE: HOSTILE}
    texts = {
        "name.yaml": json.dumps({**SPEC, "name": HOSTILE, "about": HOSTILE, "source": HOSTILE}),
        "key.yaml": json.dumps({**SPEC, HOSTILE: 1}),
        "value.yaml": json.dumps({**SPEC, "precision": HOSTILE}),
        "config.json": json.dumps(config),
        "type.json": json.dumps({**config, "model_type": HOSTILE, "architectures": [HOSTILE]}),
        "raw.json": f'{{"model_type": "llama",\n"{HOSTILE}" 1}}',
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "m.safetensors").write_bytes(file({HOSTILE: ("F32", [2, 2]), "b.weight": ("F32", [3])}))
    return {name: str(folder / name) for name in (*texts, "m.safetensors")}


KINDS = ["name.yaml", "key.yaml", "value.yaml", "config.json", "type.json", "raw.json", "m.safetensors"]


def in_terminal(*arguments: str, **variables: str) -> str:
    """What a terminal is sent, by standard output and standard error."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "archcalc", *arguments]
    environment = {**os.environ, "TERM": "xterm-256color", **variables}
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        sent = b""
        while True:
            try:
                sent += (part := os.read(ours, 4096))
            except OSError:  # how Linux tells that the other side is closed
                part = b""
            if not part:
                break
    os.close(ours)
    return sent.decode("utf-8").replace("\r\n", "\n")


@pytest.mark.wide(2)
@pytest.mark.parametrize("kind", ["name.yaml", "key.yaml", "raw.json", "m.safetensors"])
@pytest.mark.parametrize("variables", [{}, {"FORCE_COLOR": "1"}, {"NO_COLOR": "1"}])
def test_a_terminal_is_sent_no_command(tmp_path: Path, kind: str, variables: dict[str, str]) -> None:
    sent = in_terminal("params", hostile_files(tmp_path)[kind], "--depth", "9", **variables)
    assert sent.strip()
    assert not HARM.search(OWN.sub("", sent)), sent


COMMANDS = ["params", "memory", "fit", "compare", "plot"]
FORMATS = ["table", "json", "csv", "latex", "markdown"]
IN_FORMATS = [("show", ""), *product(COMMANDS, FORMATS)]  # a spec is printed in one format


@pytest.mark.wide(19)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("command", "format"), IN_FORMATS)
@pytest.mark.parametrize("colour", ["1", "0"])
def test_no_format_lets_a_command_through(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, command: str, format: str, colour: str
) -> None:
    monkeypatch.setenv("FORCE_COLOR", colour)
    model = hostile_files(tmp_path)[kind]
    beside = {"compare": ["gpt2"], "plot": ["gpt2", "--x", "batch=1,2"]}.get(command, [])
    answer = run(command, model, *beside, *(["--format", format] if format else []))
    assert answer.code in (0, 2), answer.err
    assert not HARM.search(OWN.sub("", answer.out) if colour == "1" else answer.out)
    assert not HARM.search(answer.err)


def test_a_break_in_a_name_forges_no_headline(run: Run, tmp_path: Path) -> None:
    """What stands in the second line is the answer, and archcalc's own."""
    lines = run("params", hostile_files(tmp_path)["name.yaml"], columns=300).out.splitlines()
    assert lines[0].startswith(r"a\x1b]52;c;bWluZQ==\x07\x1b[2J")
    assert lines[1].endswith(" parameters")
    assert "1 parameter" not in lines


def test_a_break_in_a_name_forges_no_line_of_an_error() -> None:
    error = InputError("no such field", f"did you mean {HOSTILE}?", more=HOSTILE, field=HOSTILE)
    error.file, error.line, error.excerpt = HOSTILE, 3, HOSTILE
    assert len(str(error).splitlines()) == 4


@pytest.mark.parametrize("kind", ["name.yaml", "m.safetensors"])
def test_programs_read_names_as_they_are(run: Run, tmp_path: Path, kind: str) -> None:
    """JSON has escapes, and CSV those that it is documented to have."""
    path = hostile_files(tmp_path)[kind]
    answer = run("params", path, "--format", "json").json
    cells = [cell for row in csv.reader(io.StringIO(run("params", path, "--format", "csv").out)) for cell in row]
    if kind == "name.yaml":
        assert answer["model"] == HOSTILE
    else:
        names = [row["path"] for row in answer["rows"] if row["path"].startswith("a\x1b")]
        assert names
        assert {name.encode("unicode_escape").decode() for name in names} <= {
            cell.encode("latin-1", "backslashreplace").decode("latin-1") for cell in cells
        }


@pytest.mark.parametrize("name", ["=1+1", "+a", "-a", "@a", "\t=a", "\r=a", "＝a", "'=a", "a;=1+1", "-1-a", "--x"])
@pytest.mark.parametrize("command", ["params", "shapes", "compare", "plot", "fit"])
def test_no_name_is_a_formula_to_a_spreadsheet(run: Run, write: Write, command: str, name: str) -> None:
    """Whatever separates its cells, and one apostrophe less is the name again."""
    path = write(json.dumps({"family": "network", "name": name, "input": 4, "layers": [{"linear": 3, "name": "a"}]}))
    beside = {"compare": [f"{path}:input=5"], "plot": ["--x", "batch=1,2"]}.get(command, [])
    rows = [*csv.reader(io.StringIO(run(command, path, *beside, "--format", "csv").out))]
    assert rows[1:]
    for cell in (cell for row in rows for cell in row):
        for part in cell.split(";"):
            assert not re.match(r"[=+@＝\t\r]|-(?!\d+(\.\d+)?$)", part), cell


def test_the_name_of_a_tensor_is_read_back_without_its_apostrophe(run: Run, write: Write) -> None:
    names = ["=1+1", "'=a", "''+a", "-a", "a"]
    path = write(file({f"{name}.weight": ("F32", [2]) for name in names}), "m.safetensors")
    rows = csv.DictReader(io.StringIO(run("params", path, "--format", "csv").out))
    tensors = [row["path"] for row in rows if row["kind"] == "tensor"]
    assert {re.sub("^'(?='*[=+-])", "", name).split(".")[0] for name in tensors} == {*names}


def test_numbers_below_zero_stay_numbers(run: Run) -> None:
    rows = csv.DictReader(io.StringIO(run("compare", "gpt2-medium", "gpt2", "--format", "csv").out))
    assert min(int(row["B - A"]) for row in rows) == 124_439_808 - 354_823_168


def test_markdown_has_as_many_cells_in_each_row(run: Run, tmp_path: Path) -> None:
    """A sign of Markdown in a name is a sign, not markup."""
    out = run("params", hostile_files(tmp_path)["m.safetensors"], "--format", "markdown", "--depth", "9").out
    table = [line for line in out.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {6}
    assert r"\|\`\<img>\`\[x\](y)\\" in out


def test_every_control_of_unicode_is_made_visible() -> None:
    """Commands, breaks of lines, halves of characters, and what turns the direction of writing."""
    turning = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    for code in range(0x110000):
        character = chr(code)
        harms = unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        if harms or unicodedata.bidirectional(character) in turning:
            assert visible(character).isascii()
            assert visible(character).isprintable()


@pytest.mark.parametrize("text", ["Ärger", "模型", "😀", "C:\\models", "a b", "é"])
def test_other_names_are_left_as_they_are(text: str) -> None:
    assert visible(text) == text


def test_a_long_value_is_not_repeated(run: Run, write: Write) -> None:
    """Five thousand digits in a spec, in an option, in a name."""
    digits = "9" * 5000
    asked = [
        ["params", write(json.dumps({**SPEC, "heads": digits}))],
        ["params", write(json.dumps({**SPEC, digits: 1}), "key.yaml")],
        ["params", "gpt2", "--seq", digits],
        ["params", "gpt2", "--set", f"heads={digits}"],
        ["params", "gpt2", "--depth", digits],
        ["params", f"{digits}.yaml"],
        ["params", digits],
        ["params", "gpt2", digits],
        ["fit", "gpt2", "--gpu", digits],
        ["fit", "gpt2", "--gpu", f"{digits}GB"],
        ["fit", "gpt2", "--zero", digits],
        ["gpus", "--min-memory", digits],
        ["memory", "gpt2", "--overhead", digits],
        ["memory", "gpt2", "--weights", digits],
        [digits],
    ]
    for arguments in asked:
        answer = run(*arguments)
        assert (answer.code, answer.out) == (2, ""), arguments
        assert answer.err.startswith("error: ")
        assert len(answer.err) < 1500
