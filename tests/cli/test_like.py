"""`--like`: a config of an unknown model type, read as a type that archcalc knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import archcalc
from archcalc.core.errors import InputError

if TYPE_CHECKING:
    from conftest import Run

OWN: dict[str, Any] = {
    "model_type": "own",
    "architectures": ["OwnForCausalLM"],
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 3,
    "intermediate_size": 40,
    "vocab_size": 50,
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(OWN))
    return file


def total(said: dict[str, Any], **how: Any) -> int:
    return int(archcalc.load(said, **how).params().total)


def test_it_counts_what_the_named_type_counts() -> None:
    """Qwen 3 has norms of queries and keys, which Llama has not."""
    for like in ("llama", "qwen3", "mixtral"):
        known = {**OWN, "model_type": like, "architectures": None}
        assert total(OWN, like=like) == total(known)


@pytest.mark.parametrize(
    ("name", "of_head"),
    [
        ("OwnForCausalLM", 50 * 32),
        ("OwnModel", 0),
        ("OwnForSequenceClassification", 2 * 32),
        ("OwnLMHeadModel", 50 * 32),
    ],
)
def test_the_class_is_the_one_for_the_same(name: str, of_head: int) -> None:
    bare = total({**OWN, "architectures": ["OwnModel"]}, like="llama")
    assert total({**OWN, "architectures": [name]}, like="llama") - bare == of_head


@pytest.mark.parametrize("command", [("params",), ("flops",), ("memory",), ("shapes",), ("fit", "--gpu", "8gb")])
def test_every_answer_says_so_first(run: Run, config: Path, command: tuple[str, ...]) -> None:
    name, *more = command
    shown = " ".join(run(name, str(config), "--like", "llama", *more).out.split())
    assert "model_type own is read as llama, as --like asks" in shown


def test_the_refusal_proposes_it(run: Run, config: Path) -> None:
    assert "`--like llama` reads it so" in run("params", str(config)).err


def test_a_type_that_nobody_reads_is_told_with_the_nearest_name(run: Run, config: Path) -> None:
    shown = run("params", str(config), "--like", "lama").err
    assert "archcalc reads no model type called lama" in shown and "did you mean llama" in shown


@pytest.mark.parametrize(
    ("like", "more", "said"),
    [
        ("llama", {"num_experts": 4, "num_experts_per_tok": 2}, "num_experts: 4 makes layers that llama has not"),
        ("mamba", {"num_key_value_heads": 4}, "num_attention_heads: 4 makes layers that mamba has not"),
        ("bert", {}, "num_key_value_heads: 2 makes layers that bert has not"),
        ("llama", {"thinker_config": {"hidden_size": 8}}, "thinker_config: .* makes layers that llama has not"),
        ("gpt2", {"hidden_size": None, "n_layer": 3}, "expected a whole number"),
        ("vit", {}, "vit has no class for what OwnForCausalLM is for"),
    ],
)
def test_layers_that_the_type_has_not_are_refused(like: str, more: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        total({**OWN, **more}, like=like)


def test_the_refusal_names_the_closest_type_that_has_such_layers() -> None:
    experts = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8}
    with pytest.raises(InputError) as told:
        total({**OWN, **experts}, like="llama")
    assert "the closest type that has it is qwen3_moe" in told.value.hint


def test_width_and_depth_are_never_those_of_the_type() -> None:
    """They are called otherwise here, or missing."""
    said = {key: value for key, value in OWN.items() if key != "num_hidden_layers"}
    with pytest.raises(InputError, match="the config has no num_hidden_layers, which llama has"):
        total({**said, "number_of_blocks": 3}, like="llama")


def test_what_is_taken_for_granted_is_said(run: Run, tmp_path: Path) -> None:
    """A field that no type has, and sizes that the file leaves to the type."""
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**OWN, "hidden_size": 64, "own_gate": True, "own_scale": None}))
    shown = " ".join(run("params", str(file), "--like", "qwen3").out.split())
    assert "declares no such field: own_gate, own_scale; that of own may" in shown
    assert "sizes that the config does not name are those of Qwen3Config: head_dim 128" in shown
    assert "every count is exact, provided that what the notes take for granted is so" in shown


def test_fields_of_another_kind_are_refused_as_ever() -> None:
    with pytest.raises(InputError, match="hidden_size"):
        total({**OWN, "hidden_size": "wide"}, like="llama")


@pytest.mark.parametrize(
    "model", ["gpt2", {**OWN, "model_type": "llama", "architectures": None}], ids=["preset", "known"]
)
def test_what_is_known_is_read_as_itself_and_a_note_says_so(model: Any) -> None:
    plain, asked = archcalc.load(model), archcalc.load(model, like="qwen3")
    assert asked.params().total == plain.params().total
    assert any("like qwen3 has no effect" in note for note in asked.spec.notes)


TEXT = {**OWN, "head_dim": 8, "max_position_embeddings": 4096}
VISION = {"depth": 2, "hidden_size": 16, "num_heads": 2, "intermediate_size": 24, "out_hidden_size": 32}
SEES: dict[str, Any] = {
    "model_type": "own_vl",
    "architectures": ["OwnVLForConditionalGeneration"],
    "text_config": {**TEXT, "model_type": "qwen3_vl_text"},
    "vision_config": {**VISION, "deepstack_visual_indexes": [0], "model_type": "qwen3_vl_vision"},
}
KNOWN = {**SEES, "model_type": "qwen3_vl", "architectures": ["Qwen3VLForConditionalGeneration"]}


@pytest.mark.parametrize("names", [("qwen3_vl_text", "qwen3_vl_vision"), ("own_vl_text", "own_vl_vision"), None])
def test_a_model_that_sees_is_read_whole(names: tuple[str, str] | None) -> None:
    """Whatever its parts are called."""
    text, vision = names or (None, None)
    said = {
        "text_config": {**TEXT, "model_type": text},
        "vision_config": {**SEES["vision_config"], "model_type": vision},
    }
    model = archcalc.load({**SEES, **said}, like="qwen3_vl")
    assert model.params().total == total(KNOWN)
    assert not model.scope.left_out


def test_without_it_the_language_model_is_counted_and_the_whole_proposed() -> None:
    model = archcalc.load(SEES)
    assert model.scope.name == "text model of own_vl"
    assert "`--like qwen3_vl` reads the whole" in model.spec.doubts[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"text_config": {**TEXT, "model_type": "lfm2"}}, "it is of model_type lfm2"),
        ({"vision_config": None}, "has no vision_config"),
        (
            {"text_config": None, "llm_config": TEXT},
            "has no text_config, which qwen3_vl has, but vision_config, llm_config",
        ),
    ],
)
def test_parts_of_another_kind_are_refused(change: dict[str, Any], said: str) -> None:
    config = {key: value for key, value in {**SEES, **change}.items() if value is not None}
    with pytest.raises(InputError, match=said):
        total(config, like="qwen3_vl")
