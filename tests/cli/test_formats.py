"""The same answer as a table, as JSON, as CSV and as Markdown."""

from __future__ import annotations

import csv
import io
import os
import pty
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from support.assumption_texts import texts

from archcalc.spec import paths

if TYPE_CHECKING:
    from conftest import Run, Write

FIGURES = ["total", "trainable", "frozen", "adapters", "non_embedding", "without_head"]
FIGURES += ["active", "active_non_embedding", "bytes", "buffers"]
PARAMS_KEYS = ["schema_version", "model", "scope", "left_out", *FIGURES, "assumptions", "rows"]
ROW_KEYS = ["path", "kind", "shape", "each", "repeat", "total", "worked", "tied_to", "trainable"]


def test_the_keys_of_params(run: Run) -> None:
    """Programs rely on them."""
    answer = run("params", "t5-small", "--format", "json").json
    assert list(answer) == PARAMS_KEYS
    assert all(list(row) == ROW_KEYS for row in answer["rows"])


def test_the_keys_of_shapes(run: Run) -> None:
    """Programs rely on them."""
    answer = run("shapes", "gpt2", "--batch", "2", "--seq", "8", "--format", "json").json
    row = next(row for row in answer["rows"] if row["path"] == "decoder.blocks.ffn.in")
    assert row == {
        "path": "decoder.blocks.ffn.in",
        "repeat": 12,
        "shape": [2, 8, 3072],
        "dims": ["batch", "seq", "ffn"],
        "signal": "in",
        "note": "first layer, then gelu_tanh",
    }
    assert (answer["batch"], answer["seq"]) == (2, 8)


@pytest.mark.wide(20)
@pytest.mark.parametrize("name", sorted(paths.presets()))
def test_tensors_add_up_to_the_total(run: Run, name: str) -> None:
    """Tensors alone make the sum; a tied use adds nothing; each × repeat is the total of a row."""
    answer = run("params", name, "--format", "json").json
    rows = answer["rows"]
    assert sum(row["total"] for row in rows if row["kind"] == "tensor") == answer["total"]
    assert all(row["each"] * row["repeat"] == row["total"] for row in rows if not row["tied_to"])
    assert all(row["total"] == 0 for row in rows if row["tied_to"])


@pytest.mark.wide(15)
@pytest.mark.parametrize("name", sorted(paths.presets()))
def test_modules_are_the_sums_of_what_they_hold(run: Run, name: str) -> None:
    """Every subtotal is the total of the tensors below it."""
    rows = run("params", name, "--format", "json").json["rows"]
    tensors = [row for row in rows if row["kind"] == "tensor"]
    for module in (row for row in rows if row["kind"] == "module" and row["path"] != "model"):
        inside = sum(row["total"] for row in tensors if row["path"].startswith(f"{module['path']}."))
        assert inside == module["total"], module["path"]


@pytest.mark.wide(20)
@pytest.mark.parametrize("name", sorted(paths.presets()))
def test_a_tensor_has_as_many_elements_as_its_shape(run: Run, name: str) -> None:
    """The count and the shape are two ways to say one thing."""
    for row in run("params", name, "--format", "json").json["rows"]:
        if row["kind"] == "tensor" and not row["tied_to"]:
            elements = 1
            for size in row["shape"]:
                elements *= size
            assert elements == row["each"], row["path"]


@pytest.mark.wide(16)
@pytest.mark.parametrize("name", sorted(paths.presets()))
@pytest.mark.parametrize("names", [False, True])
def test_every_working_comes_to_its_value(run: Run, name: str, names: bool) -> None:
    """By numbers it can be evaluated; by names it has no number that stands for a size."""
    for row in run("params", name, "--format", "json", *(["--names"] if names else [])).json["rows"]:
        if names:
            assert not re.search(r"\b\d{3,}\b", row["worked"]), row["worked"]
        else:
            text = row["worked"].replace("×", "*").replace("−", "-").replace(",", "").replace("²", "**2")
            assert eval(text) == row["each"], row["path"]


@pytest.mark.parametrize("name", ["textbook", "t5-small", "bert-base", "llama-3-8b"])
@pytest.mark.parametrize("columns", [80, 140])
def test_the_printed_columns_add_up(run: Run, name: str, columns: int) -> None:
    """The lines at the left margin add up to the total printed above them."""
    out = run("params", name, columns=columns).out
    total = int(out.splitlines()[1].split(" · ")[1].replace(",", ""))
    table = out[out.index("\npart") :].split("\n\n")[0].splitlines()[2:]
    numbers = [re.findall(r"\d[\d,]*(?= +<?\d+\.\d %)", line) for line in table if not line.startswith(" ")]
    assert sum(int(found[-1].replace(",", "")) for found in numbers) == total


@pytest.mark.wide(20)
@pytest.mark.parametrize("command", ["params", "shapes"])
@pytest.mark.parametrize("columns", [80, 140])
@pytest.mark.parametrize("name", sorted(paths.presets()))
def test_no_line_is_wider_than_the_terminal(run: Run, name: str, command: str, columns: int) -> None:
    """Nothing wraps by accident."""
    for line in run(command, name, "--set", "batch=32", columns=columns).out.splitlines():
        assert len(line) <= columns, line


def test_csv_has_the_rows_of_json(run: Run) -> None:
    """For spreadsheets."""
    rows = list(csv.DictReader(io.StringIO(run("params", "--format", "csv").out)))
    answer = run("params", "--format", "json").json
    assert [row["path"] for row in rows] == [row["path"] for row in answer["rows"]]
    assert sum(int(row["total"]) for row in rows if row["kind"] == "tensor") == answer["total"]


def test_markdown_is_a_table(run: Run) -> None:
    """For notes and pull requests."""
    lines = run("params", "--format", "markdown", "--explain").out.splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert {line.count("|") for line in table} == {6}
    assert "- **parameters**: 201.5 M · 201,466,160" in lines


@pytest.mark.parametrize(
    ("command", "working"), [("params", "50 × 100 + 100"), ("flops", "2 × 50 × 100 + 8 × 2 × 50 × 100")]
)
@pytest.mark.parametrize("style", ["table", "markdown", "csv", "json"])
def test_every_format_keeps_the_working(run: Run, command: str, working: str, style: str) -> None:
    """Of the same layer; LaTeX has it as an equation."""
    out = run(command, "recursive-autoencoder", "--explain", "--format", style, columns=140).out
    assert re.search(rf"[=`,\"] ?{re.escape(working)}(?!\d)", out)


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("params", "10.25 k · 10,252\n  `= (100 × 50 + 50) + (50 × 100 + 100) + (50 × 2 + 2)`"),
        ("flops", "181.8 k · 181,800\n  `= 2 × 90,000 + 1,800`"),
    ],
)
def test_markdown_works_the_answer_out(run: Run, command: str, line: str) -> None:
    """As the table does under its headline."""
    assert line in run(command, "recursive-autoencoder", "--explain", "--format", "markdown").out
    assert "`" not in run(command, "recursive-autoencoder", "--format", "markdown").out


def test_markdown_says_what_a_figure_leaves_out(run: Run) -> None:
    lines = run("params", "deepseek-v3", "--format", "markdown").out.splitlines()
    assert "- **buffers**: 14.85 k · 14,848 (not counted as parameters)" in lines


@pytest.mark.parametrize("command", ["params", "flops"])
@pytest.mark.parametrize("style", ["table", "markdown", "latex", "latex-document"])
def test_names_without_a_working_are_refused(run: Run, command: str, style: str) -> None:
    """In formats for people, which show the working only with --explain."""
    answer = run(command, "--names", "--format", style)
    assert (answer.code, answer.err) == (
        2,
        "error: --names: --names has no effect without --explain\n  add --explain\n",
    )


def test_every_report_carries_its_assumptions(run: Run, write: Write) -> None:
    """What the spec leaves open is said, in the table and in JSON."""
    spec = write("vocab: 100\nd_model: 8\nheads: 2\nffn: 16\ndecoder: 1\n")
    assumptions = " ".join(texts(run("shapes", spec, "--format", "json").json))
    assert "batch 1" in assumptions
    assert "seq 2,048" in assumptions
    assert "fp32 weights" in run("params", spec).out
    assert "batch 1" in run("shapes", spec).out


def test_piped_output_is_plain(run: Run) -> None:
    """No escape sequence reaches a file."""
    assert "\x1b" not in run("params", "--explain").out


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_no_color_is_honoured(variables: dict[str, str], coloured: bool) -> None:
    """On a terminal there is colour, unless the user wants none."""
    out: list[bytes] = []

    def read(descriptor: int) -> bytes:
        out.append(os.read(descriptor, 4096))
        return out[-1]

    environment = [f"{name}={value}" for name, value in {"TERM": "xterm-256color", **variables}.items()]
    pty.spawn(["env", "-u", "NO_COLOR", *environment, sys.executable, "-m", "archcalc", "params"], read)
    assert (b"\x1b[36m" in b"".join(out)) == coloured


def test_a_closed_pipe_is_no_error() -> None:
    """`archcalc shapes | head -1` ends quietly."""
    command = f"{sys.executable} -m archcalc shapes --parameters | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout.strip()) == ("", "textbook Transformer")


def test_symbolic_shapes(run: Run) -> None:
    """Names instead of sizes."""
    out = run("shapes", "--symbolic").out
    assert "batch × src_seq × d_model" in out
    assert "batch × heads × src_seq × kv_src_seq" in out


def test_shapes_of_parameters(run: Run) -> None:
    """As PyTorch keeps them: [out, in]."""
    rows: list[dict[str, Any]] = run("shapes", "--parameters", "--format", "json").json["rows"]
    shapes = {row["path"]: row["shape"] for row in rows}
    assert shapes["encoder.blocks.attention.q.weight"] == [4 * 192, 1024]
    assert shapes["encoder.blocks.attention.out.weight"] == [1024, 4 * 192]
    assert shapes["head.bias"] == [30000]


def test_depth_cuts_the_tree(run: Run) -> None:
    """Level by level, down to single tensors."""
    assert "block" not in run("params", "--depth", "1").out.split("part")[1]
    assert "attention" not in run("params", "--depth", "2").out
    assert "weight" in run("params", "--depth", "5").out


def test_source_and_target_may_have_different_lengths(run: Run) -> None:
    """--seq sets both; --src-seq and --tgt-seq override."""
    rows = run("shapes", "--seq", "8", "--tgt-seq", "5", "--batch", "2", "--format", "json").json["rows"]
    shapes = {row["path"]: row["shape"] for row in rows}
    assert shapes["encoder.blocks.attention.scores"] == [2, 4, 8, 8]
    assert shapes["decoder.blocks.attention.scores"] == [2, 4, 5, 5]
    assert shapes["decoder.blocks.cross.scores"] == [2, 4, 5, 8]


@pytest.mark.parametrize(
    ("written", "size"), [("8k", 8000), ("8Ki", 8192), ("3e4", 30000), ("30_000", 30000), ("2,048", 2048)]
)
def test_sizes_as_people_write_them(run: Run, written: str, size: int) -> None:
    """On the command line, and in --set."""
    assert run("shapes", "llama-3-8b", "--seq", written, "--format", "json").json["seq"] == size
    if "," not in written:
        rows = run("params", "gpt2", "--set", f"vocab={written}", "--format", "json").json["rows"]
        assert next(row for row in rows if row["path"] == "embedding.tokens.weight")["shape"] == [size, 768]
