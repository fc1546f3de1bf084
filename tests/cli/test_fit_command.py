"""archcalc fit: what a user sees."""

from __future__ import annotations

import csv
import inspect
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from archcalc.cli.commands.fit import fit
from archcalc.cli.commands.memory import memory

if TYPE_CHECKING:
    from conftest import Run

KEYS = ["gpu", "capacity_bytes", "required_bytes", "fits", "max_batch", "max_seq", "limited_by"]


def test_every_option_of_memory_is_taken() -> None:
    """But how its own table is drawn and compared with a number; with the same defaults, save that several models may
    be given."""
    its, ours = (inspect.signature(command).parameters for command in (memory, fit))
    assert set(its) - set(ours) == {"timeline", "depth", "expect"}
    assert set(ours) - set(its) == {
        "check",
        "table",
        "cell",
        "models",
        "output",
        "force",
        "gpu_memory_utilization",
        "host",
    }
    assert all(ours[name].default == its[name].default for name in set(its) & set(ours) - {"model", "gpu"})


def test_the_headline_says_whether_it_fits(run: Run) -> None:
    """With how much left, or short by how much and what to do."""
    headline = _headline(run("fit", "gpt2", "--gpu", "rtx 4090").out)
    assert re.match(r"fits rtx-4090 with \d[\d.]+ GiB to spare: needs \d[\d.]+ of 23\.52 GiB ± \d+ %", headline)
    headline = _headline(run("fit", "llama-3-8b", "--gpu", "t4").out)
    assert "more than there is" in headline
    (option,) = re.findall(r"--weights (\w+) makes it fit", headline)
    assert _headline(run("fit", "llama-3-8b", "--weights", option, "--gpu", "t4").out).startswith("fits t4 with ")
    assert "of 10 devices" in _headline(run("fit", "gpt2").out)


def _headline(out: str) -> str:
    """What stands behind the run, up to the first table."""
    lines = out.split("\n\n")[0].splitlines()
    first = next(place for place, line in enumerate(lines) if place and not line.startswith("  "))
    return " ".join(" ".join(lines[first:]).split())


def test_a_missing_model_is_told(run: Run) -> None:
    """With the option that needs none."""
    answer = run("fit", "--gpu", "h100")
    assert answer.code == 2 and "--models" in answer.err


def test_json_has_the_promised_keys(run: Run) -> None:
    """Rows in the order in which devices were named."""
    record = run("fit", "gpt2", "--gpu", "h100", "--gpu", "24GB", "--format", "json").json
    assert [row["gpu"] for row in record["rows"]] == ["h100", "24GB"]
    assert list(record["rows"][0])[: len(KEYS)] == KEYS
    assert record["rows"][1]["capacity_bytes"] == 24 * 2**30
    assert record["rows"][0]["required_bytes"] >= sum(record["parts"].values())
    assert record["rows"][1]["required_bytes"] < record["rows"][0]["required_bytes"]  # no engine fills a bare size


def test_csv_has_a_line_for_each_device(run: Run) -> None:
    """With the same columns."""
    rows = list(csv.DictReader(io.StringIO(run("fit", "gpt2", "--format", "csv").out)))
    assert len(rows) == 10 and list(rows[0])[: len(KEYS)] == KEYS


def test_bars_show_what_is_needed_against_what_there_is(run: Run) -> None:
    """The limit stands at the end of what fits, and inside of what does not."""
    lines = run("fit", "llama-3-8b", "--gpu", "12GiB", "--gpu", "20GiB").out.splitlines()
    small, large = (next(line for line in lines if line.startswith(size)) for size in ("12GiB", "20GiB"))
    assert "█│█" in small and "−" in small
    assert "·│" in large and "−" not in large


@pytest.mark.wide(2)
@pytest.mark.parametrize("columns", [80, 140])
@pytest.mark.parametrize("arguments", ["llama-3-8b --gpu t4", "gpt2", "llama-3-8b --mode train"])
def test_nothing_is_wider_than_the_terminal(run: Run, arguments: str, columns: int) -> None:
    """Neither devices nor remedies."""
    assert max(map(len, run("fit", *arguments.split(), columns=columns).out.splitlines())) <= columns


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--gpu", "h10"], "did you mean h100"),
        (["--gpu", "0GiB"], "must be more than 0 bytes"),
        (["--gpu", "t4", "--optimizer", "adamw"], "--mode train"),
        (["--gpu", "t4", "--tp", "5"], "cannot be split over 5 GPUs"),
        (["--gpu", "t4", "--mode", "train", "--lora", "8", "--lora-targets", "qq"], "no linear layer is called qq"),
    ],
)
def test_mistakes_are_told(run: Run, arguments: list[str], told: str) -> None:
    """Exit code 2 and the way out."""
    answer = run("fit", "gpt2", *arguments)
    assert answer.code == 2 and told in answer.err


def test_the_workflow_in_the_docs_checks_what_it_says(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a workflow, and its last step answers."""
    root = Path(__file__).parents[2] / "docs"
    (written,) = re.findall(
        r"^```text\n(name: .*?)^```$", (root / "fit.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    (job,) = yaml.safe_load(written)["jobs"].values()
    program, *arguments = job["steps"][-1]["run"].split()
    monkeypatch.chdir(root / "examples" / "tiny")
    assert program == "archcalc" and run(*arguments).code == 0


def test_a_narrow_terminal_has_whole_names_and_words(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bars are shorter there, and words at the end of a line go on beneath it."""
    monkeypatch.setenv("COLUMNS", "80")
    answer = run("fit", "llama-3.1-8b")
    assert "…" not in answer.out
    assert max(map(len, answer.out.splitlines())) <= 80
    names = {row["gpu"] for row in run("fit", "llama-3.1-8b", "--format", "json").json["rows"]}
    assert names <= set(answer.out.split())
