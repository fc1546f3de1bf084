"""A model type that no translator reads: what it is like by class and fields, and whether transformers has it."""

from __future__ import annotations

from typing import Any

import pytest
from hf_types import buildable
from transformers import CONFIG_MAPPING

import archcalc
from archcalc.core.errors import InputError
from archcalc.importers.hf._helpers.resembling import built_by_transformers, unknown_type

DECODER = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96}
GROUPED = {**DECODER, "num_key_value_heads": 2, "hidden_act": "silu", "vocab_size": 100}
LATENT = {**GROUPED, "kv_lora_rank": 8, "q_lora_rank": 8, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8}
SPARSE = {**LATENT, "n_routed_experts": 4, "moe_intermediate_size": 8, "first_k_dense_replace": 1, "n_group": 1}
WINDOWED = {**GROUPED, "use_sliding_window": False, "max_window_layers": 2, "sliding_window": None, "head_dim": 16}


def hint(model_type: str, said: dict[str, Any], name: str = "OwnForCausalLM", **more: Any) -> str:
    return unknown_type({"model_type": model_type, "architectures": [name], **said, **more}).hint


@pytest.mark.parametrize(
    ("said", "like"),
    [(GROUPED, "llama"), (SPARSE, "deepseek_v3"), (WINDOWED, "qwen3"), (DECODER, "llama")],
    ids=["llama", "deepseek_v3", "qwen3", "plain"],
)
def test_fields_tell_what_it_is_like(said: dict[str, Any], like: str) -> None:
    """Whatever it is called: `bert_own` has nothing of a BERT."""
    for model_type in ("own", "bert_own", "gemma17"):
        assert f"the closest supported type is {like}, by the fields " in hint(
            model_type, {**said, "rms_norm_eps": 1e-6}
        )


def test_fields_that_it_does_not_share_are_named() -> None:
    assert "(but llama has no router_rank)" in hint("own", GROUPED, router_rank=[])


def test_a_class_tells_more_than_fields() -> None:
    told = hint("own", GROUPED, "DeepseekV3ForCausalLM")
    assert "the closest supported type is deepseek_v3, whose class DeepseekV3ForCausalLM the config names" in told


def test_what_is_like_nothing_is_compared_with_nothing() -> None:
    told = hint("segformer_own", {"depths": [2, 2], "sr_ratios": [8, 4], "hidden_sizes": [8, 16]}, "OwnForSegmentation")
    assert "neither its class nor its fields" in told


def test_trace_is_offered_only_where_it_helps() -> None:
    """Types of transformers, and no others; code of a repository is never run."""
    assert "`params --trace` counts this one" in hint("convbert", {})
    assert "--trace cannot count it either" in hint("own", GROUPED)
    assert "which archcalc never runs" in hint("own", GROUPED, auto_map={"AutoModel": "own.Own"})


def test_the_list_of_types_is_that_of_transformers() -> None:
    """As installed here: `python tools/hf_types.py` writes it anew."""
    assert sorted(built_by_transformers()) == buildable()
    assert built_by_transformers() <= set(CONFIG_MAPPING)


def test_a_type_of_a_repository_is_read_by_its_class() -> None:
    """Kimi K2 is DeepSeek-V3's class under a type of its own; a misspelt type is not."""
    own = {**GROUPED, "model_type": "own", "architectures": ["LlamaForCausalLM"]}
    known = archcalc.load({**own, "model_type": "llama"})
    model = archcalc.load({**own, "auto_map": {"AutoConfig": "configuration_own.OwnConfig"}})
    assert model.params().total == known.params().total
    assert "model_type own is read as llama, whose class LlamaForCausalLM the config names" in model.document.notes
    with pytest.raises(InputError, match="archcalc does not support model_type own"):
        archcalc.load(own)


def test_a_new_type_of_a_later_transformers_is_read_by_its_class() -> None:
    """What this version knows by another name: a version that it knows itself has no such type."""
    own = {**GROUPED, "model_type": "own", "architectures": ["LlamaForCausalLM"]}
    known = archcalc.load({**own, "model_type": "llama"})
    for version in ("5.23.0", "5.100.0.dev0", "6.0"):
        assert archcalc.load({**own, "transformers_version": version}).params().total == known.params().total
    for known_version in ("5.22.2", "4.57.1", "later", None):
        with pytest.raises(InputError, match="archcalc does not support model_type own"):
            archcalc.load({**own, "transformers_version": known_version})


@pytest.mark.parametrize("changes", [{"hidden_size": ...}, {"n_embd": 64}, {"block_configs": []}], ids=str)
def test_a_type_of_a_repository_that_says_other_things_is_refused(changes: dict[str, Any]) -> None:
    """Its config class may have other defaults and other fields: phi-msft counts its layers as n_layer."""
    said = {**GROUPED, "model_type": "own", "architectures": ["LlamaForCausalLM"], "auto_map": {}, **changes}
    with pytest.raises(InputError, match="archcalc does not support model_type own"):
        archcalc.load({key: value for key, value in said.items() if value is not ...})
