"""`archcalc report`: everything about a model on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.html_pages import Parsed, check_self_contained
from support.safetensors_files import file

import archcalc
from archcalc.spec import paths

if TYPE_CHECKING:
    from conftest import Run

# Bytes: a mail takes them whatever else is in it. Scripts and styles are 65,000; each picture is there for wide screens
# and for phones; a model of many unlike blocks has a long timeline in each mode.
LARGEST = 1_000_000


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def page(run: Run, *arguments: str) -> Parsed:
    answer = run("report", *arguments, "-o", "report.html", "--force")
    assert (answer.code, answer.out) == (0, "wrote report.html\n"), answer.err
    return check_self_contained(Path("report.html").read_text("utf-8"))


@pytest.mark.wide(5)
@pytest.mark.parametrize("name", sorted(paths.presets()))
def test_a_report_is_small_enough_to_mail(name: str) -> None:
    made = archcalc.load(name).report().html()
    assert len(made.encode()) < LARGEST
    check_self_contained(made)


def test_figures_are_those_of_the_commands(run: Run) -> None:
    words = page(run, "gpt2").words
    params = run("params", "gpt2", "--format", "json").json
    assert f"Parameters 124.4 M {params['total']:,}" in words
    for mode in ("infer", "train"):
        memory = run("memory", "gpt2", "--mode", mode, "--format", "json").json
        for part in memory["parts"].values():
            assert not part or f"{part:,}" in words
        fit = run("fit", "gpt2", "--mode", mode, "--format", "json").json
        assert all(row["gpu"] in words for row in fit["rows"])
        assert fit["required_bytes"] == memory["required_bytes"]
    flops = run("flops", "gpt2", "--format", "json").json
    assert f"{flops['forward']:,}" in words
    assert f"{flops['backward']:,}" in words
    assert "1 × 1024 × 50257" in words  # the logits, among the shapes


def test_both_modes_unless_one_is_asked_for(run: Run) -> None:
    assert {"Memory, inference", "Memory, training"} <= set(page(run, "gpt2").texts)
    only = set(page(run, "gpt2", "--mode", "train").texts)
    assert "Memory, training" in only
    assert "Memory, inference" not in only


def test_options_reach_the_mode_that_they_have_an_effect_in(run: Run) -> None:
    words = page(run, "gpt2", "--optimizer", "sgd", "--kv-dtype", "fp8", "--batch", "2").words
    trained = run("memory", "gpt2", "--mode", "train", "--optimizer", "sgd", "--batch", "2", "--format", "json").json
    inferred = run("memory", "gpt2", "--kv-dtype", "fp8", "--batch", "2", "--format", "json").json
    assert f"{trained['parts']['activations']:,}" in words
    assert f"{inferred['parts']['kv_cache']:,}" in words


def test_named_devices_are_judged(run: Run) -> None:
    words = page(run, "llama-3-8b", "--mode", "infer", "--gpu", "rtx-4060").words
    assert "✗ does not fit" in words
    assert "rtx-4060" in words


def test_what_cannot_be_answered_is_said(run: Run, tmp_path: Path) -> None:
    """A list of tensors has no shapes; quantised weights are not trained."""
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(file({"h.0.weight": ("F32", [8, 8]), "h.1.weight": ("F32", [8, 8])}))
    words = page(run, str(weights)).words
    assert "Not in this report" in words
    assert "a list of tensors does not describe the computation" in words
    stages = page(run, "gpt2", "--mode", "train", "--pp", "4", "--code", "megatron").words
    assert "devices, training: fit does not look for the sizes of pipeline stages" in stages
    assert "training: quantised weights cannot be trained" in page(run, "gpt2", "--weights", "q8_0").words


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("gpt2", "--optimizer", "nonsense"), "no optimizer called nonsense"),
        (("gpt2", "--precision", "nonsense"), "nonsense"),
        (("gpt2", "--mode", "train", "--kv-dtype", "fp8"), "has no effect with --mode train"),
        (("gpt2", "--gpu", "nonsense"), "nonsense"),
        (("gpt2", "-o", "report.pdf"), "a report is an HTML file"),
    ],
)
def test_a_mistake_is_told_and_nothing_is_written(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    answer = run("report", *arguments)
    assert answer.code == 2
    assert told in answer.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("model", "named"), [("gpt2", "gpt2.html"), ("my.yaml", "my.html"), ("-", "model.html")])
def test_without_a_name_the_file_is_called_as_the_model(run: Run, model: str, named: str) -> None:
    spec = "vocab: 10\nd_model: 8\nheads: 2\nffn: 8\ndecoder: 1\n"
    Path("my.yaml").write_text(spec, "utf-8")
    assert run("report", model, stdin=spec).out == f"wrote {named}\n"
    assert Path(named).exists()


def test_an_existing_file_is_kept(run: Run) -> None:
    Path("gpt2.html").write_text("mine", "utf-8")
    answer = run("report", "gpt2", "-o", "gpt2.html")
    assert answer.code == 2
    assert "--force" in answer.err
    assert run("report", "gpt2").out == "wrote gpt2-2.html\n"
    assert Path("gpt2.html").read_text("utf-8") == "mine"
    assert run("report", "gpt2", "--force").code == 0


def test_the_command_that_made_it_stands_at_the_end(run: Run) -> None:
    found = page(run, "gpt2", "--set", "decoder.blocks=2", "--gpu", "24GiB")
    assert "archcalc report gpt2 --set decoder.blocks=2 --gpu 24GiB -o report.html --force" in found.texts
    assert f"archcalc {archcalc.__version__}" in found.texts


def test_in_python_it_is_a_string_or_shows_itself() -> None:
    made = archcalc.load("gpt2").report(batch=2)
    assert {run.memory.batch for run in made.runs} == {2}
    assert made.html().startswith("<!DOCTYPE html>")
    assert made._repr_html_().startswith("<iframe srcdoc=")
