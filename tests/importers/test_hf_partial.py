"""A model that is read in part says so wherever a figure of it stands, and --trace counts the rest."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pytest
import torch
import transformers

import archcalc
from archcalc.spec import paths

if TYPE_CHECKING:
    from conftest import Run, Write

TEXT = {
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "head_dim": 16,
    "vocab_size": 512,
    "intermediate_size": 96,
}
VISION = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2, "head_dim": 16}
SEES: dict[str, Any] = {
    "model_type": "lighton_ocr",
    "architectures": ["LightOnOcrForConditionalGeneration"],
    "tie_word_embeddings": True,
    "text_config": {"model_type": "qwen3", **TEXT},
    "vision_config": {"model_type": "pixtral", **VISION},
}
READS: dict[str, Any] = {
    "model_type": "qwen3",
    "architectures": ["Qwen3ForCausalLM"],
    "tie_word_embeddings": True,
    **TEXT,
}
LABEL = "partial count: only the text model of lighton_ocr; not counted: vision encoder and projector"
QUESTIONS = (("params",), ("shapes",), ("flops",), ("memory",), ("fit", "--gpu", "t4"))


@pytest.fixture
def sees(write: Write) -> str:
    return write(json.dumps(SEES), "sees.json")


@pytest.mark.parametrize("command", QUESTIONS, ids=lambda command: command[0])
def test_every_format_of_every_report_says_it(command: tuple[str, ...], run: Run, sees: str) -> None:
    """In the headline for people, in fields of its own for programs; and nothing calls the whole exact."""
    name, *options = command
    for style in ("table", "markdown"):
        shown = " ".join(run(name, sees, *options, "--format", style).out.split())
        assert LABEL in shown
        assert "every count is exact" not in shown
        assert "every shape is exact" not in shown
    record = run(name, sees, *options, "--format", "json").json
    assert record["scope"] == "text model of lighton_ocr"
    assert record["left_out"] == [{"part": "vision encoder and projector", "parameters": None, "needed": "images"}]
    rows = list(csv.DictReader(io.StringIO(run(name, sees, *options, "--format", "csv").out)))
    assert {row["scope"] for row in rows} == {"text model of lighton_ocr"}


def test_the_label_stands_with_the_answer(run: Run, sees: str) -> None:
    lines = run("params", sees).out.split("\n")
    assert lines[2].startswith("partial count:")


def test_a_whole_model_is_called_so(run: Run, write: Write) -> None:
    """The same keys for programs, and no further column."""
    file = write(json.dumps(READS), "reads.json")
    record = run("params", file, "--format", "json").json
    assert (record["scope"], record["left_out"]) == ("whole model", [])
    assert "partial" not in run("params", file).out
    assert "scope" not in run("params", file, "--format", "csv").out.split("\n")[0]


def test_a_part_and_a_whole_are_not_called_equal(run: Run, write: Write, sees: str) -> None:
    """LightOnOCR's text model has as many parameters as Qwen3-0.6B; the two models do not."""
    reads = write(json.dumps(READS), "reads.json")
    shown = " ".join(run("compare", sees, reads).out.split())
    assert f"{sees} (text model alone) and {reads} have the same number of parameters" in shown
    assert f"A: {LABEL}" in shown
    assert "every count is exact" not in shown
    models = run("compare", sees, reads, "--format", "json").json["models"]
    assert [model["scope"] for model in models] == ["text model of lighton_ocr", "whole model"]
    assert "(text model alone)" in run("compare", sees, reads, "--format", "csv").out.split("\n")[0]


def test_the_label_outlives_show_and_set(run: Run, write: Write, sees: str) -> None:
    written = write(run("show", sees).out, "shown.yaml")
    for arguments in ((written,), (written, "--set", "decoder=1"), (sees, "--set", "heads=2")):
        assert run("params", *arguments, "--format", "json").json["scope"] == "text model of lighton_ocr"


def test_trace_counts_the_whole(run: Run, sees: str) -> None:
    """What archcalc reads in part is built by transformers, if that is asked for."""
    with torch.device("meta"):
        config = transformers.CONFIG_MAPPING["lighton_ocr"].from_dict(json.loads(json.dumps(SEES)))
        whole = sum(p.numel() for p in transformers.LightOnOcrForConditionalGeneration(config).parameters())
    answer = run("params", sees, "--trace", "--format", "json").json
    assert answer["total"] == whole > run("params", sees, "--format", "json").json["total"]
    assert (answer["scope"], answer["left_out"]) == ("whole model", [])


@pytest.mark.wide
def test_verify_counts_what_is_left_out(run: Run, sees: str) -> None:
    """Transformers is at hand there, so that the number can be named."""
    whole = run("params", sees, "--trace", "--format", "json").json["total"]
    part = run("params", sees, "--format", "json").json["total"]
    shown = " ".join(run("verify", sees, "--quick").out.split())
    assert LABEL in shown
    assert f"transformers builds {whole:,} parameters in all: {whole - part:,} are left out here" in shown


@pytest.mark.parametrize(
    ("key", "layers", "words"),
    [
        ("num_nextn_predict_layers", 1, "multi-token prediction (1 layer)"),
        ("mtp_num_hidden_layers", 2, "multi-token prediction (2 layers)"),
        ("num_mtp_modules", 3, "multi-token prediction (3 layers)"),
    ],
)
def test_heads_for_further_tokens_are_left_out(key: str, layers: int, words: str) -> None:
    """By whatever name a config counts them, and with what else is left out."""
    assert archcalc.load({**READS, key: layers}).scope.headline().endswith(f"not counted: {words}")
    inner = archcalc.load({**SEES, "text_config": {**SEES["text_config"], key: layers}}).scope
    assert [each.part for each in inner.left_out] == ["vision encoder and projector", words]
    assert not archcalc.load({**READS, key: 0}).scope.left_out


def test_a_class_that_skips_further_heads_says_so() -> None:
    """Qwen3-Next's config does not count them, though its files hold them."""
    note = "the checkpoint may contain multi-token prediction layers, which transformers does not load: not counted"
    said = {"model_type": "qwen3_next", "num_hidden_layers": 4}
    assert note in archcalc.load(said).document.notes
    assert note not in archcalc.load({**said, "num_nextn_predict_layers": 0}).document.notes
    assert note not in archcalc.load(READS).document.notes


def test_presets_of_a_part_say_so(run: Run) -> None:
    """Their own list too, and a preset of the whole says nothing: its count is that of the published model."""
    rows = {row["name"]: row for row in run("presets", "--format", "json").json["rows"]}
    assert rows["exaone-4.5-33b"]["scope"] == "text model of EXAONE-4.5-33B"
    assert not rows["exaone-4.0-32b"]["scope"]
    assert "every count is exact" not in run("presets").out
    published = {"gemma-3-4b": 4_300_079_472, "gemma-3-12b": 12_187_325_040, "gemma-3-27b": 27_432_406_640}
    for name, total in published.items():
        assert (rows[name]["scope"], rows[name]["parameters"]) == ("", total)
        assert not archcalc.load(name).scope.left_out


def test_no_preset_is_a_part_by_name_alone() -> None:
    """`text alone` in a name goes with the field that reports read."""
    partial = {name for name in paths.presets() if archcalc.load(name).scope.left_out}
    assert partial >= {name for name in paths.presets() if "text alone" in archcalc.load(name).name}
