"""`archcalc verify --peak`: a training step of transformers' own classes, to the byte."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from archcalc import load
from archcalc.core.errors import InputError
from archcalc.verify.hf.peak import Asked, asked_ways, verify_peak

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run

DECODER: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 176,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 96,
    "max_position_embeddings": 512,
    "tie_word_embeddings": False,
}
CONFIGS: dict[str, dict[str, Any]] = {
    "LlamaForCausalLM": {**DECODER, "model_type": "llama"},
    "MistralForCausalLM": {**DECODER, "model_type": "mistral", "sliding_window": None},
    "Qwen3ForCausalLM": {**DECODER, "model_type": "qwen3", "head_dim": 16},
    "GPT2LMHeadModel": {"model_type": "gpt2", "n_embd": 64, "n_layer": 3, "n_head": 4, "vocab_size": 96},
    "GPTNeoXForCausalLM": {**DECODER, "model_type": "gpt_neox"},
}
WAYS = (
    Asked(attention="eager", optimizer="adamw"),
    Asked(recompute="full", optimizer="adamw"),
    Asked(precision="fp32", attention="eager", optimizer="adamw"),
)


def compared(folder: Path, name: str, *ways: Asked, **changes: Any) -> Any:
    file = folder / "config.json"
    file.write_text(json.dumps({**CONFIGS[name], "architectures": [name], **changes}), encoding="utf-8")
    return verify_peak(load(file), ways, 2, 24, lambda *_: None)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.words)
@pytest.mark.parametrize("name", CONFIGS)
def test_a_step_keeps_and_peaks_as_the_class_does(name: str, way: Asked, tmp_path: Path) -> None:
    report = compared(tmp_path, name, way)
    assert [row.quantity for row in report.rows if not row.equal] == []
    assert len(report.rows) == 5


@pytest.mark.parametrize("sizes", [{"vocab_size": 4000}, {"intermediate_size": 4000}, {"hidden_size": 256}], ids=str)
def test_wherever_the_peak_is(sizes: dict[str, int], tmp_path: Path) -> None:
    """In the loss, in a feed-forward layer, in attention."""
    assert compared(tmp_path, "LlamaForCausalLM", Asked(attention="eager"), **sizes).ok


def test_adapters_are_those_of_peft(tmp_path: Path) -> None:
    assert compared(tmp_path, "LlamaForCausalLM", Asked(lora=4)).ok


def test_what_is_not_compared_is_said(tmp_path: Path) -> None:
    """GPT-2 has one matrix for queries, keys and values."""
    report = compared(tmp_path, "GPT2LMHeadModel", Asked(lora=4))
    assert report.rows == () and "queries and values" in next(iter(report.left_out.values()))


def test_a_difference_is_found_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With another library's norm a layer keeps another tensor: the row says how many, and where."""
    from archcalc.run.code import norms
    from archcalc.run.code.lowering import OPS

    monkeypatch.setitem(OPS["rms_norm", "rms_norm"], "upcast", norms.fused)
    report = compared(tmp_path, "LlamaForCausalLM", Asked(attention="eager"))
    kept = report.rows[0]
    assert not report.ok and not kept.equal
    assert "bytes against" in kept.first and "model.layers" in kept.first


def test_without_a_class_there_is_nothing_to_compare(run: Run) -> None:
    """A textbook's exercise is nobody's model."""
    found = run("verify", "--peak", "textbook")
    assert found.code == 2 and "no config.json" in found.err


def test_an_unknown_choice_names_those_that_there_are() -> None:
    with pytest.raises(InputError, match="choose one of eager, flash"):
        asked_ways({"attention": "ring"})
