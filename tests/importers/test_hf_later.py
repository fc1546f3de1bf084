"""What a later transformers writes than the one whose types archcalc knows: its types, and new fields of known ones."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.core.errors import InputError

Said = dict[str, Any]
LATER = {"transformers_version": "5.99.0"}
DENSE = {"hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 3} | {
    "intermediate_size": 40,
    "vocab_size": 50,
}
CHECKPOINTS: dict[str, tuple[int, Said]] = {  # as transformers 5.23.0 builds the defaults of each type
    "lfm3": (1_728_801_536, {"architectures": ["Lfm3ForCausalLM"]}),
    "iquestcoder": (39_794_283_520, {"architectures": ["LlamaForCausalLM"]}),
    "internlm3": (8_804_241_408, {"architectures": ["LlamaForCausalLM"]}),
    "granite_docling_text": (386_630_656, {"architectures": ["GraniteDoclingTextModel"]}),
}


def counted(said: Said) -> int:
    return int(archcalc.load(said).params().total)


@pytest.mark.parametrize("model_type", CHECKPOINTS)
def test_types_of_a_later_version_that_are_built_of_known_parts(model_type: str) -> None:
    total, said = CHECKPOINTS[model_type]
    assert counted({**said, "model_type": model_type, **LATER}) == total


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"use_sandwich_norm": False}, -6 * 2 * 32),
        ({"use_attention_gate": False}, -2 * 4 * 32),
        (
            {"layer_types": ["conv"] * 6},
            2 * (3 * 32 * 32 + 5 * 32 + 32 * 32) - 2 * (2 * 32 * 32 + 2 * 16 * 32 + 16 + 4 * 32),
        ),
        ({"attention_bias": True}, 2 * (32 + 16 + 16 + 32)),
    ],
)
def test_lfm3_has_convolutions_windows_gates_and_two_norms(changes: Said, difference: int) -> None:
    """Six blocks: four convolutions of five positions, one of full attention and one with a window."""
    small = {"model_type": "lfm3", **DENSE, "num_hidden_layers": 6, "head_dim": 8, "conv_L_cache": 5, **LATER}
    assert counted({**small, **changes}) - counted(small) == difference


def test_lfm3_keeps_windows_and_states_in_its_cache() -> None:
    """Of 1000 positions: keys and values of one block, of 16 of them in another; of four convolutions six inputs."""
    small = {"model_type": "lfm3", **DENSE, "num_hidden_layers": 6, "head_dim": 8, "sliding_window": 16, **LATER}
    parts = archcalc.load(small).memory(mode="infer", seq=1000, precision="bf16").record()["parts"]
    assert parts["kv_cache"] == 2 * 2 * 8 * (1000 + 16) * 2
    assert parts["state"] == 4 * 6 * 32 * 2


@pytest.mark.parametrize("bias", [True, False])
def test_internlm3_is_written_in_two_ways(bias: bool) -> None:
    """By its repository's code, and by transformers 5.23."""
    own = {"model_type": "internlm3", **DENSE, "head_dim": 8}
    assert counted({**own, "qkv_bias": bias, "bias": bias}) == counted(
        {**own, "attention_bias": bias, "mlp_bias": bias}
    )


OUTER: Said = {"model_type": "own", "text_config": {"model_type": "qwen3", **DENSE, "head_dim": 8}, **LATER}


def test_a_language_model_inside_of_an_unknown_type_is_a_part_that_is_taken_for_granted() -> None:
    """Its class may change it, as JEV does, whose head chooses between answers."""
    model = archcalc.load({**OUTER, "architectures": ["OwnForConditionalGeneration"]})
    assert model.params().total == counted({**OUTER["text_config"], "architectures": ["Qwen3ForCausalLM"]})
    assert model.scope.name == "text model of own"
    assert "archcalc does not know model_type own" in model.spec.doubts[0]
    with pytest.raises(InputError, match="the head of OwnForDecision is not counted"):
        archcalc.load({**OUTER, "architectures": ["OwnForDecision"]})


@pytest.mark.parametrize("key", ["llm_config", "language_config"])
def test_other_names_of_the_language_model(key: str) -> None:
    said = {"model_type": "own_chat", key: OUTER["text_config"], "vision_config": {"model_type": "own_vit"}}
    model = archcalc.load(said)
    assert model.params().total == counted(OUTER)
    assert f"only its {key} (qwen3) is counted" in " ".join(model.spec.notes)
    assert [part.part for part in model.scope.left_out] == ["vision encoder and projector"]


def test_a_known_whole_is_never_read_with_another_language_model() -> None:
    """LLaVA takes any, and one of a type that nobody reads is none of LLaVA's own."""
    said = {"model_type": "llava", "text_config": {**DENSE, "model_type": "own"}, "vision_config": {}}
    with pytest.raises(InputError, match="archcalc does not support model_type own"):
        archcalc.load(said)


def test_a_whole_is_read_by_its_class() -> None:
    own = {"model_type": "own_vl", "architectures": ["Qwen3VLForConditionalGeneration"], **LATER}
    vision = {"depth": 2, "deepstack_visual_indexes": [0], "out_hidden_size": 32}
    text = {**DENSE, "head_dim": 8, "max_position_embeddings": 4096}
    said = {**own, "text_config": text, "vision_config": vision}
    model = archcalc.load(said)
    assert model.params().total == counted({**said, "model_type": "qwen3_vl"})
    assert not model.scope.left_out


@pytest.mark.parametrize(("version", "doubted"), [("5.99.0", True), ("5.22.2", False), (None, False)])
def test_a_field_that_a_later_class_may_read_is_no_exact_count(version: str | None, doubted: bool) -> None:
    model = archcalc.load({"model_type": "llama", **DENSE, "number_of_loops": 4, "transformers_version": version})
    assert any("number_of_loops" in said for said in model.spec.doubts) == doubted
    assert any("number_of_loops" in said for said in (*model.spec.doubts, *model.document.notes))


def test_the_refusal_says_which_transformers_may_count_it() -> None:
    with pytest.raises(InputError) as told:
        archcalc.load({"model_type": "own", **DENSE, **LATER})
    assert "one that has it counts this with `params --trace`" in told.value.hint
