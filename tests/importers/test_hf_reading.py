"""A config.json is read as its class reads it: spellings, defaults and heads, and what cannot be counted is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from archcalc import load
from archcalc.importers.hf._helpers.reading import Config, when

if TYPE_CHECKING:
    from conftest import Run, Write

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "vocab_size": 1000,
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
DEBERTA = {"model_type": "deberta-v2", "architectures": ["DebertaV2ForSequenceClassification"]}
BLOCKS = 3 * (64 + 2 * 64 * 64 + 2 * 64 * 32 + 64 + 3 * 64 * 160) + 64
TABLE = 1000 * 64


def config(**changes: Any) -> str:
    said = {key: value for key, value in {**LLAMA, **changes}.items() if value is not ...}
    return json.dumps(said)


@pytest.fixture
def total(run: Run, write: Write) -> Any:
    def total(**changes: Any) -> int:
        answer = run("params", write(config(**changes), "config.json"), "--format", "json")
        assert answer.code == 0, answer.err
        return int(answer.json["total"])

    return total


def test_a_config_counts_as_its_class(total: Any) -> None:
    """Table, blocks, final norm, and a head of its own."""
    assert total() == TABLE + BLOCKS + TABLE


def test_defaults_are_the_raw_ones_of_the_class(total: Any) -> None:
    """head_dim follows from the file's sizes, intermediate_size is Llama's 11,008."""
    assert total(intermediate_size=...) == 2 * TABLE + BLOCKS + 3 * 3 * 64 * (11_008 - 160)


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("LlamaModel", 0),
        ("LlamaForSequenceClassification", 5 * 64),
        ("LlamaForTokenClassification", 5 * 64 + 5),
        ("LlamaForQuestionAnswering", 2 * 64 + 2),
    ],
)
def test_the_head_follows_the_class(total: Any, name: str, head: int) -> None:
    """The number of classes is the length of id2label."""
    labels = {str(number): "x" for number in range(5)}
    assert total(architectures=[name], id2label=labels) == TABLE + BLOCKS + head


def test_without_a_class_the_usual_one_is_counted_and_said(run: Run, write: Write) -> None:
    answer = run("params", write(config(architectures=...), "config.json"))
    assert "the config names no class: counted as LlamaForCausalLM" in answer.out


def test_old_and_new_spellings_are_the_same(run: Run, write: Write) -> None:
    """rope_theta beside rope_scaling, or both in rope_parameters; torch_dtype or dtype."""
    old = config(rope_theta=5000.0, torch_dtype="bfloat16")
    new = config(rope_parameters={"rope_theta": 5000.0, "rope_type": "default"}, dtype="bfloat16")
    shown = [run("show", write(text, "config.json")).out for text in (old, new)]
    assert shown[0] == shown[1]
    assert "theta: 5000" in shown[0]
    assert "precision: bf16" in shown[0]


def test_an_alias_is_the_field_it_stands_for(run: Run, write: Write) -> None:
    """GPT-2 knows n_embd as hidden_size too."""
    said = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_layer": 1, "n_head": 2, "vocab_size": 10}
    one = run("show", write(json.dumps({**said, "hidden_size": 8}), "config.json")).out
    other = run("show", write(json.dumps({**said, "n_embd": 8}), "config.json")).out
    assert one == other
    assert "d_model: 8" in one


def test_show_prints_a_spec_that_counts_the_same(run: Run, write: Write) -> None:
    """As a person would have written it: nothing that follows from the rest."""
    shown = run("show", write(config(), "config.json")).out
    assert shown.splitlines() == [
        "vocab: 1000",
        "d_model: 64",
        "heads: 4",
        "kv_heads: 2",
        "ffn: {width: 160, act: silu, gated: true}",
        "norm: rms",
        "bias: false",
        "position: {kind: rope, length: 2048}",
        "softmax: fp32",
        "decoder: 3",
    ]
    again = run("params", write(shown, "shown.yaml"), "--format", "json").json["total"]
    assert again == 2 * TABLE + BLOCKS


def test_a_config_may_be_a_dict() -> None:
    """As `json.load` gives it, or `to_dict` of a config object."""
    assert load(LLAMA).params().total == 2 * TABLE + BLOCKS


def test_a_folder_is_read_by_its_config(run: Run, write: Write) -> None:
    write(config(), "config.json")
    assert run("params", ".", "--format", "json").json["total"] == 2 * TABLE + BLOCKS


def test_a_model_can_be_changed_as_any_spec(run: Run, write: Write) -> None:
    answer = run("params", write(config(), "config.json"), "--set", "vocab=2000", "--format", "json")
    assert answer.json["total"] == 4 * TABLE + BLOCKS


@pytest.mark.parametrize(
    ("changes", "fact", "hint"),
    [
        ({"model_type": "llamma"}, "archcalc does not support model_type llamma", "closest supported type is llama"),
        ({"model_type": "zz", "architectures": ["ZzForMaskedLM"]}, "model_type zz", "closest supported type is bert"),
        ({"model_type": ...}, "this config names no model_type", '"model_type": "llama"'),
        ({"architectures": ["LlamaForKaraoke"]}, "LlamaForKaraoke is not a class", "LlamaForCausalLM"),
        ({"hidden_size": "64"}, "hidden_size: expected a whole number from 1 to", ""),
        ({"num_hidden_layers": 10**11}, "num_hidden_layers: expected a whole number from 1 to 100,000", ""),
        ({"hidden_act": "prelu"}, "hidden_act", "parameters of its own"),
        ({"per_layer_config": {"0": {"num_key_value_heads": 1}}}, "per_layer_config", "--trace"),
        ({**DEBERTA, "pooler_hidden_size": 3}, "pooler_hidden_size", "such a model cannot run"),
    ],
)  # fmt: skip
def test_what_cannot_be_counted_is_refused(
    run: Run, write: Write, changes: dict[str, Any], fact: str, hint: str
) -> None:
    """Exit code 2, what it is, and what to do."""
    answer = run("params", write(config(**changes), "config.json"))
    assert answer.code == 2
    assert fact in answer.err
    assert hint in answer.err
    assert "config.json" in answer.err


def test_a_declared_key_that_nobody_reads_is_refused(run: Run, write: Write) -> None:
    """ViT declares no such thing as a decoder; CodeGen's tie is read; BEiT's feature pyramid changes its tensors."""
    said = {"model_type": "qwen2_moe", "architectures": ["Qwen2MoeForCausalLM"], "is_encoder_decoder": True}
    assert run("params", write(json.dumps(said), "config.json")).code == 0
    said = {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "feed_forward_proj": "odd-gelu"}
    answer = run("params", write(json.dumps(said), "config.json"))
    assert answer.code == 2
    assert "feed_forward_proj" in answer.err


def test_an_undeclared_key_is_ignored_and_named(run: Run, write: Write) -> None:
    answer = run("params", write(config(favourite_colour="blue"), "config.json"))
    assert "ignored, as LlamaConfig declares no such field: favourite_colour" in answer.out


def test_the_text_part_of_a_larger_model_is_counted_and_labelled(run: Run, write: Write) -> None:
    inner = {key: value for key, value in LLAMA.items() if key != "architectures"}
    outer: dict[str, Any] = {
        "model_type": "lighton_ocr",
        "architectures": ["LightOnOcrForConditionalGeneration"],
        "text_config": inner,
    }
    outer["tie_word_embeddings"] = False
    answer = run("params", write(json.dumps({**outer, "vision_config": {"hidden_size": 8}}), "config.json"))
    assert f"{2 * TABLE + BLOCKS:,}" in answer.out
    assert "lighton_ocr is multimodal: only its text_config (llama) is counted" in " ".join(answer.out.split())
    assert answer.out.startswith("text model of lighton_ocr")


def test_quantised_weights_are_said(run: Run, write: Write) -> None:
    quantised = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    answer = run("params", write(config(quantization_config=quantised), "config.json"))
    assert "stored quantised (gptq int4, group 128)" in " ".join(answer.out.split())


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ({"model_type": "gpt2"}, ["dropout: 0.1"]),
        ({"model_type": "opt"}, ["dropout: 0.1", "attention: {dropout: 0.0}"]),
        ({"model_type": "bert", "attention_probs_dropout_prob": 0.3}, ["dropout: 0.1", "attention: {dropout: 0.3}"]),
        ({"model_type": "llama", "attention_dropout": 1}, ["attention: {dropout: 0.99}"]),
    ],
    ids=lambda value: value["model_type"] if isinstance(value, dict) else "",
)
def test_dropout_is_carried_over(run: Run, write: Write, said: dict[str, Any], written: list[str]) -> None:
    """Training keeps a mask for it: on branches and embedding, and on attention's weights where that rate differs."""
    shown = run("show", write(json.dumps(said), "config.json")).out.splitlines()
    assert set(written) <= set(shown)
    assert sum("dropout" in line for line in shown) == len(written)


def test_a_dropout_that_is_no_fraction_is_refused(run: Run, write: Write) -> None:
    answer = run("params", write(json.dumps({"model_type": "gpt2", "resid_pdrop": "high"}), "config.json"))
    assert answer.code == 2
    assert 'resid_pdrop: expected a fraction from 0 to 1, found "high"' in answer.err


def test_roberta_counts_positions_from_behind_the_padding(run: Run, write: Write) -> None:
    """Of 514 rows the first two are no token's: 512 tokens are the most."""
    said = {"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}
    shown = run("show", write(json.dumps(said), "config.json")).out
    assert "position: {kind: learned, length: 512, offset: 2}" in shown


def test_a_gemma_that_sees_both_ways_is_an_encoder() -> None:
    """EmbeddingGemma: of a window of 4 two positions on each side, fewer at both ends; and no cache."""
    said = {"model_type": "gemma3_text", "architectures": ["Gemma3TextModel"], "num_hidden_layers": 2}
    model = load({**said, "vocab_size": 100, "sliding_window": 4, "use_bidirectional_attention": True})
    assert model.memory(seq=64).parts["kv_cache"] == 0
    whole, seen = (model.flops(mode="prefill", seq=64, causal=way).kinds for way in ("full", "half"))
    pairs = 64 * 5 - 2 * (1 + 2)
    assert whole["attention scores"].forward * pairs == seen["attention scores"].forward * 64 * 64


def test_words_for_what_a_config_has_on_a_condition() -> None:
    read = Config("llama", {"attention_bias": True, "num_key_value_heads": None, "no_such_switch": True})
    assert when(read.flag("attention_bias"), bias=3) == {"bias": 3}
    assert when(read.flag("mlp_bias"), bias=3) == {}
    assert read.choose("attention_bias", "on", "off") == "on"
    assert read.choose("no_such_switch", "on", "off") == "off"  # no class declares it
    assert read.given_or("num_key_value_heads", 7) == 7
    assert read.given_or("vocab_size", 7) == 32_000  # the default of transformers' LlamaConfig
