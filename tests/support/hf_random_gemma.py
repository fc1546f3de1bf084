"""Random Gemma 4: blocks of two kinds, with heads of their own sizes, of which the last may read earlier keys."""

from __future__ import annotations

import random
from typing import Any

Fields = dict[str, Any]

_BY_LAYER = {
    "full_attention": {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25},
    "sliding_attention": {"rope_type": "default", "rope_theta": 5e3},
}


def _unified(drawn: Fields, rng: random.Random) -> Fields:
    blocks, kinds = drawn["num_hidden_layers"], ("sliding_attention", "full_attention")
    chosen: Fields = {
        "rope_parameters": rng.choice([None, _BY_LAYER]),
        "use_bidirectional_attention": rng.choice([None, "vision", "all"]),
    }
    if rng.random() < 0.5:
        chosen["layer_types"] = [rng.choice(kinds) for _ in range(blocks)]
    chosen |= _heads(drawn, rng)
    layers = chosen.get("layer_types") or [kinds[(block + 1) % 6 == 0] for block in range(blocks)]
    layers = [*layers[:-1], kinds[1]]
    able = [number for number in range(blocks) if set(layers[blocks - number :]) <= set(layers[: blocks - number])]
    return {**chosen, "num_kv_shared_layers": rng.choice(able)}


def _heads(drawn: Fields, rng: random.Random) -> Fields:
    """Of global blocks, as older files say them and as newer ones do."""
    few, wide = rng.choice([None, 1, drawn["num_attention_heads"]]), rng.choice([8, 24])
    if rng.random() < 0.6:
        return {"global_head_dim": wide, "num_global_key_value_heads": few}
    own = {"head_dim": wide, "num_key_value_heads": few or 1}
    last = drawn["num_hidden_layers"] - 1
    types = ["sliding_attention"] * last + ["full_attention"]
    return {"per_layer_config": {str(last): own}, "layer_types": types}


def _text(drawn: Fields, rng: random.Random) -> Fields:
    return _unified(drawn, rng) | {
        "hidden_size_per_layer_input": rng.choice([0, 8, 16]),
        "vocab_size_per_layer_input": rng.choice([drawn["vocab_size"], 50]),
        "top_k_experts": rng.choice([1, 2]),
        "moe_intermediate_size": rng.randint(8, 60),
    }


def _vision(drawn: Fields, rng: random.Random) -> Fields:
    heads, each = drawn["num_attention_heads"], rng.choice([8, 16])
    sizes = {"patch_size": rng.choice([4, 8]), "pooling_kernel_size": rng.choice([1, 2, 3])}
    return {"hidden_size": heads * each, "head_dim": each, "position_embedding_size": rng.randint(60, 90), **sizes}


def _whole(text: str, vision: str) -> Any:
    """A model of several parts, each with sizes of its own; long enough for an image."""

    def choose(drawn: Fields, rng: random.Random) -> Fields:
        from support.hf_random import random_fields

        words = {**random_fields(text, rng), "model_type": text, "max_position_embeddings": 2000}
        words.pop("tie_word_embeddings", None)
        seen = {**random_fields(vision, rng), "model_type": vision, "vision_use_head": False}
        own = {"projection_dim": words["hidden_size"]} if text == "gemma" else {}
        return {"text_config": words, "vision_config": seen, **own}

    return choose


def _without_a_tower(drawn: Fields, rng: random.Random) -> Fields:
    found = _whole("gemma4_unified_text", "gemma4_vision")(drawn, rng)
    width = rng.choice([24, 40])
    sizes = {"mm_embed_dim": width, "output_proj_dims": width, "mm_posemb_size": 300, "patch_size": rng.choice([2, 4])}
    heard = {"model_type": "gemma4_unified_audio", "audio_embed_dim": rng.choice([12, 20])}
    seen = {"model_type": "gemma4_unified_vision", **sizes}
    return {**found, "vision_config": seen, "audio_config": rng.choice([None, heard])}


def _audio(drawn: Fields, rng: random.Random) -> Fields:
    heads = rng.choice([1, 2, 4])
    return {
        "hidden_size": heads * rng.choice([8, 16]),
        "num_attention_heads": heads,
        "subsampling_conv_channels": [rng.choice([8, 16, 30]), rng.randint(1, 9)],
        "conv_kernel_size": rng.randint(1, 6),
        "attention_chunk_size": rng.randint(1, 9),
        "attention_context_left": rng.randint(1, 9),
        "attention_context_right": rng.randint(0, 4),
        "output_proj_dims": rng.randint(8, 40),
    }


def _hearing(drawn: Fields, rng: random.Random) -> Fields:
    found = _whole("gemma4_text", "gemma4_vision")(drawn, rng)
    heard = {"model_type": "gemma4_audio", "num_hidden_layers": rng.randint(1, 3), **_audio(drawn, rng)}
    missing = rng.choice([{}, {}, {"vision_config": None}])
    return {**found, **missing, "audio_config": rng.choice([None, heard, heard])}


def _pooled(drawn: Fields, rng: random.Random) -> Fields:
    found = _whole("gemma3_text", "siglip_vision_model")(drawn, rng)
    seen = {**found["vision_config"], "image_size": 64, "patch_size": 8}
    return {**found, "vision_config": seen, "mm_tokens_per_image": rng.choice([1, 4, 16, 64])}


GEMMA = {
    "gemma4_text": _text,
    "gemma4_unified_text": _unified,
    "gemma4_vision": _vision,
    "gemma3": _pooled,
    "gemma4": _hearing,
    "gemma4_audio": _audio,
    "gemma4_unified": _without_a_tower,
    "paligemma": _whole("gemma", "siglip_vision_model"),
}
