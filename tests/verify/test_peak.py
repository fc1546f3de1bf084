"""`archcalc verify --peak`: a training step of transformers' own classes, within a tolerance."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from archcalc import load
from archcalc.analyze.memory.answer import Memory
from archcalc.core.errors import InputError
from archcalc.run.lora import is_adapter
from archcalc.styles.ways import WAYS as WAYS_OF_STYLES
from archcalc.verify.hf import peak
from archcalc.verify.hf.peak import Asked, asked_ways, verify_peak
from archcalc.verify.hf.training import Setting, Training

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run

    from archcalc.report.of_verify import Row, VerifyReport

DECODER: dict[str, Any] = {
    "hidden_size": 512,
    "intermediate_size": 1408,
    "num_hidden_layers": 3,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "vocab_size": 4096,
    "max_position_embeddings": 512,
    "tie_word_embeddings": False,
}
ONE_MATRIX: dict[str, dict[str, Any]] = {  # for queries, keys and values
    "GPT2LMHeadModel": {"model_type": "gpt2", "n_embd": 512, "n_layer": 3, "n_head": 8, "vocab_size": 4096},
    "GPTNeoXForCausalLM": {**DECODER, "model_type": "gpt_neox"},
}
GEMMA = {**DECODER, "head_dim": 64, "tie_word_embeddings": True}
MIXTURE = {"num_experts": 5, "num_experts_per_tok": 3, "moe_intermediate_size": 384}
T5 = {"model_type": "t5", "d_model": 512, "d_kv": 64, "d_ff": 1408, "num_heads": 8, "num_layers": 2, "vocab_size": 4096}
FAMILIES: dict[str, dict[str, Any]] = {
    **ONE_MATRIX,
    "LlamaForCausalLM": {**DECODER, "model_type": "llama"},
    "MistralForCausalLM": {**DECODER, "model_type": "mistral", "sliding_window": 128},
    "Qwen3ForCausalLM": {**DECODER, "model_type": "qwen3", "head_dim": 64},
    "GemmaForCausalLM": {**GEMMA, "model_type": "gemma"},
    "MixtralForCausalLM": {**DECODER, "model_type": "mixtral", "num_local_experts": 5, "num_experts_per_tok": 3},
    "T5ForConditionalGeneration": T5,
    "BertForMaskedLM": {**DECODER, "model_type": "bert", "tie_word_embeddings": True},
    "ViTForImageClassification": {**DECODER, "model_type": "vit", "image_size": 128, "patch_size": 8},
    "PhiForCausalLM": {**DECODER, "model_type": "phi", "num_key_value_heads": 8},
}
RELATED: dict[str, dict[str, Any]] = {  # what differs from one of those in a few places
    "Qwen2ForCausalLM": {**DECODER, "model_type": "qwen2"},
    "Gemma2ForCausalLM": {**GEMMA, "model_type": "gemma2", "sliding_window": 128},
    "Gemma3ForCausalLM": {**GEMMA, "model_type": "gemma3_text", "sliding_window": 128},
    "Qwen3MoeForCausalLM": {**DECODER, "model_type": "qwen3_moe", "head_dim": 64, **MIXTURE},
    "OlmoeForCausalLM": {**DECODER, "model_type": "olmoe", **MIXTURE},
    "Llama4ForCausalLM": {**DECODER, "model_type": "llama4_text", "num_local_experts": 5, "intermediate_size_mlp": 704},
    "untied BertForMaskedLM": {**DECODER, "model_type": "bert"},
}
WITH_SINKS = {"GptOssForCausalLM": {**DECODER, "model_type": "gpt_oss", "head_dim": 64, "num_local_experts": 5}}
CONFIGS = FAMILIES | RELATED | WITH_SINKS
T5_CLASS = "T5ForConditionalGeneration"  # checkpointed, its blocks hand a bias on that this small one is too much of
WAYS = (
    Asked(),
    Asked(recompute="full", optimizer="adamw"),
    Asked(precision="fp32", attention="eager", optimizer="adamw-for-loop"),
    Asked(lora=4),
)
VIT_CLASS = "ViTForImageClassification"  # with adapters alone, the images that a training loop holds are
TOO_SMALL = ((T5_CLASS, WAYS[1]), (VIT_CLASS, WAYS[3]))
COMPARED = [(name, way) for name in FAMILIES for way in WAYS if (name, way) not in TOO_SMALL]
COMPARED += [(name, way) for name in RELATED for way in WAYS[::2]]


def compared(folder: Path, name: str, *ways: Asked, **changes: Any) -> VerifyReport:
    return verify_peak(load(written(folder, name, **changes)), ways, 2, 256, lambda *_: None)


def written(folder: Path, name: str, **changes: Any) -> Path:
    file = folder / "config.json"
    said = {**CONFIGS[name], "architectures": [name.split()[-1]], **changes}
    file.write_text(json.dumps(said), encoding="utf-8")
    return file


@pytest.mark.wide(2)
@pytest.mark.parametrize(("name", "way"), COMPARED, ids=lambda one: getattr(one, "words", one))
def test_a_step_keeps_and_peaks_as_the_class_does(name: str, way: Asked, tmp_path: Path) -> None:
    """Every tensor above the tolerance; of models so small, ids, tables and variables are up to 2 % of a peak."""
    report = compared(tmp_path, name, way)
    wrong = [row for row in report.rows if not row.equal and not (row.tolerance and _is_near(row))]
    assert [f"{row.quantity}: {row.verdict}" for row in wrong] == []
    assert len(report.rows) == 5


def _is_near(row: Row) -> bool:
    return bool(abs(row.archcalc - row.reference) <= row.reference // 50)


@pytest.mark.parametrize("sizes", [{"vocab_size": 4000}, {"intermediate_size": 4000}, {"hidden_size": 256}], ids=str)
def test_wherever_the_peak_is(sizes: dict[str, int], tmp_path: Path) -> None:
    """In the loss, in a feed-forward layer, in attention."""
    assert compared(tmp_path, "LlamaForCausalLM", Asked(attention="eager"), **sizes).ok


@pytest.mark.parametrize("top", [1, 4])
def test_however_many_experts_are_chosen(top: int, tmp_path: Path) -> None:
    assert compared(tmp_path, "MixtralForCausalLM", Asked(), num_experts_per_tok=top, num_local_experts=4).ok


def test_gates_of_experts_are_clamped_op_by_op(tmp_path: Path) -> None:
    """gpt-oss keeps clamped gates, their sigmoids and up + 1 of every expert; its sinks are in no kernel of PyTorch."""
    assert compared(tmp_path, "GptOssForCausalLM", Asked(attention="eager")).ok


@pytest.mark.parametrize("is_normalised", [True, False])
def test_weights_of_experts_are_divided_by_their_sum_if_a_config_says_so(is_normalised: bool, tmp_path: Path) -> None:
    assert compared(tmp_path, "OlmoeForCausalLM", Asked(), norm_topk_prob=is_normalised).ok


def test_what_is_taken_for_granted_about_experts_is_said(tmp_path: Path) -> None:
    report = compared(tmp_path, "MixtralForCausalLM", Asked())
    assert any("does not depend on which experts are chosen" in one.text for one in report.assumptions)


@pytest.mark.parametrize("name", ONE_MATRIX)
def test_one_matrix_for_queries_keys_and_values_is_adapted_as_a_whole(name: str, tmp_path: Path) -> None:
    memory = Memory(load(written(tmp_path, name)), mode="train", lora=4)
    adapters = sum(one.copies * one.elements for one in memory.deployment.parameters.held if is_adapter(one.param))
    assert adapters == 3 * (4 * 512 + 3 * 512 * 4)
    assert "LoRA: q, k, v are one matrix" in str(memory.at().assumptions)


@pytest.mark.parametrize("name", ["LlamaForCausalLM", "GPT2LMHeadModel"])
def test_every_linear_layer_is_that_of_peft(name: str, tmp_path: Path) -> None:
    file = written(tmp_path, name)
    memory = Memory(load(file), mode="train", lora=4, lora_targets="all")
    adapters = sum(one.copies * one.elements for one in memory.deployment.parameters.held if is_adapter(one.param))
    there = Training(json.loads(file.read_text()), Setting(1, 8, lora=4, targets=("all-linear",))).model
    assert adapters == sum(one.numel() for one in there.parameters() if one.requires_grad)


def test_adapters_of_experts_are_refused(tmp_path: Path) -> None:
    """peft has them in a way of its own; a router is no linear layer of transformers."""
    model = load(written(tmp_path, "MixtralForCausalLM"))
    with pytest.raises(InputError, match="peft adapts the matrices of all experts"):
        Memory(model, mode="train", code="transformers", lora=4, lora_targets="all")
    with pytest.raises(InputError, match="no linear layer is called router"):
        Memory(model, mode="train", code="transformers", lora=4, lora_targets="router").total()


def test_what_cannot_be_compared_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peak, "ADAPTED", ())
    with pytest.raises(InputError, match="peft adapts"):
        compared(tmp_path, "LlamaForCausalLM", Asked(lora=4))


def test_a_difference_is_found_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With another library's norm a layer keeps another tensor: the row says how many, and where."""
    monkeypatch.setitem(WAYS_OF_STYLES["rms_norm"], "upcast", WAYS_OF_STYLES["rms_norm"]["fused"])
    report = compared(tmp_path, "LlamaForCausalLM", Asked(attention="eager"))
    kept = report.rows[0]
    assert not report.ok and not kept.equal
    assert "bytes against" in kept.first and "model.layers" in kept.first


def test_without_a_class_there_is_nothing_to_compare(run: Run) -> None:
    """A textbook's exercise is nobody's model."""
    found = run("verify", "--peak", "textbook")
    assert found.code == 2 and "no config.json" in found.err


def test_a_class_that_asks_for_values_is_refused(run: Run, tmp_path: Path) -> None:
    """NLLB's experts look up which tokens chose them, and the meta device has no values."""
    (tmp_path / "config.json").write_text('{"model_type": "nllb-moe", "d_model": 64, "vocab_size": 100}', "utf-8")
    answer = run("verify", str(tmp_path / "config.json"), "--peak", "--attention", "eager")
    assert answer.code == 2 and "NllbMoeForConditionalGeneration computes something that" in answer.err


def test_no_layer_is_skipped_at_random(tmp_path: Path) -> None:
    """M2M-100 drops one layer of twenty in training; the peak that counts is that of a step with all of them."""
    config = {"model_type": "m2m_100", "encoder_layerdrop": 0.9, "decoder_layerdrop": 0.9, "d_model": 64}
    training = Training(config, Setting(1, 8))
    assert training.model.config.encoder_layerdrop == training.model.config.decoder_layerdrop == 0


def test_an_unknown_choice_names_those_that_there_are() -> None:
    with pytest.raises(InputError, match="choose one of eager, flash"):
        asked_ways({"attention": "ring"})


def test_a_changed_config_is_not_compared(run: Run) -> None:
    found = run("verify", "--peak", "gpt2", "--set", "decoder.blocks=2")
    assert found.code == 2 and "--set changed" in found.err


def test_ways_that_a_model_does_not_have_are_left_out(run: Run, tmp_path: Path) -> None:
    """A convolutional network has no attention, its class no checkpointing, and peft no layers to adapt."""
    (tmp_path / "config.json").write_text(
        '{"model_type": "mobilenet_v2", "tf_padding": false, "image_size": 96}', "utf-8"
    )
    found = run("verify", str(tmp_path / "config.json"), "--peak", "--batch", "4", columns=200)
    assert "3 ways of training" in found.out and "bf16, adamw-fused" in found.out
    assert "has no gradient checkpointing" in found.out and "which layers of MobileNetV2" in found.out
    alone = run("verify", str(tmp_path / "config.json"), "--peak", "--recompute", "full")
    assert alone.code == 2 and "has no gradient checkpointing" in alone.err
