"""Random models of several parts: every field of the towers, of what stands behind them and of the text config, so that
what one part gives is what the next one reads."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from archcalc.spec.model_types import described
from support.hf_random import random_fields

Fields = dict[str, Any]

VISION = {
    "gemma3": ["siglip_vision_model"],
    "paligemma": ["siglip_vision_model"],
    "mistral3": ["pixtral"],
    "llava": ["clip_vision_model", "siglip_vision_model", "pixtral"],
    "llava_next": ["clip_vision_model", "siglip_vision_model"],
    "llava_onevision": ["siglip_vision_model", "clip_vision_model"],
}
TEXTS = {
    "gemma3": ["gemma3_text"],
    "paligemma": ["gemma", "gemma2"],
    "mistral3": ["mistral", "ministral3", "llama"],
    "llava": ["llama", "mistral", "qwen2", "gemma"],
    "llava_next": ["llama", "mistral", "qwen2"],
    "llava_onevision": ["qwen2", "qwen3"],
    "internvl": ["qwen2", "qwen3", "llama"],
    "idefics3": ["llama", "mistral"],
    "smolvlm": ["llama"],
    "kimi_k25": ["deepseek_v3"],
    "kimi_k3": ["kimi_linear"],
    "qwen3_asr": ["qwen3"],
}
MERGING = (
    "qwen2_vl",
    "qwen2_5_vl",
    "qwen3_vl",
    "qwen3_vl_moe",
    "qwen3_5",
    "qwen3_5_moe",
    "glm4v",
    "glm4v_moe",
    "glm46v",
    "glm_ocr",
)
WHOLE = sorted({*MERGING, *TEXTS, "llama4"})


def whole(model_type: str, rng: random.Random) -> Fields:
    """Some files leave out fields, and say in one place or the other whether the head is tied."""
    made = {"model_type": model_type, **_top(model_type, rng)}
    parts = described(model_type)["parts"]
    made["text_config"] = _text(rng.choice(TEXTS.get(model_type, [parts["text_config"]["type"]])), rng)
    for key in parts.keys() & {"vision_config", "audio_config"}:
        kind = rng.choice(VISION.get(model_type, [parts[key]["type"]]))
        made[key] = {**_TOWERS.get(kind, _vit)(rng), **_switches(kind, rng), "model_type": kind}
    _JOINED.get(model_type, _nothing)(made, rng)
    for where in (made, made["text_config"]):
        where.pop("tie_word_embeddings", None)
        if rng.random() < 0.4:
            where["tie_word_embeddings"] = rng.random() < 0.5
    return made


def _text(kind: str, rng: random.Random) -> Fields:
    """Images fit into the text, or do not: its length is no table."""
    return {**random_fields(kind, rng), "model_type": kind, "max_position_embeddings": rng.choice([64, 512, 8192])}


def _switches(kind: str, rng: random.Random) -> Fields:
    """Flags of the tower, any way round."""
    defaults = described(kind)["defaults"]
    kept = ("use_clipped_linears", "standardize", "is_encoder_decoder", "multi_modal_projector_bias", "scale_embedding")
    flags = [name for name, usual in defaults.items() if isinstance(usual, bool) and name not in kept]
    return {name: rng.random() < 0.5 for name in flags if rng.random() < 0.6}


def _top(model_type: str, rng: random.Random) -> Fields:
    choices: Fields = {
        "vision_feature_layer": [-1, -2, [-1], [-2, -1], [0, -1, -2]],
        "vision_feature_select_strategy": ["default", "full"],
        "multimodal_projector_bias": [True, False],
        "projector_hidden_act": ["gelu", "relu", "silu"],
        "spatial_merge_size": [1, 2, 3],
        "downsample_ratio": [0.5, 0.25, 1.0],
        "scale_factor": [1, 2, 4],
        "vision_aspect_ratio": ["anyres_max_4", "anyres_max_9"],
    }
    known = described(model_type)["defaults"]
    return {name: rng.choice(several) for name, several in choices.items() if name in known and rng.random() < 0.7}


def _sizes(rng: random.Random) -> tuple[int, int, int]:
    """Width, heads, blocks."""
    heads = rng.choice([1, 2, 3, 6])
    return heads * rng.choice([8, 16, 20]), heads, rng.randint(1, 9)


def _vit(rng: random.Random) -> Fields:
    width, heads, blocks = _sizes(rng)
    patch = rng.choice([4, 7, 8])
    return {
        "hidden_size": width,
        "num_attention_heads": heads,
        "num_hidden_layers": blocks,
        "intermediate_size": rng.randint(8, 90),
        "patch_size": patch,
        "image_size": patch * rng.choice([4, 8]) + rng.choice([0, 0, 3]),
        "num_channels": rng.choice([1, 3]),
        "hidden_act": rng.choice(["gelu", "silu", "quick_gelu"]),
    }


def _merging(rng: random.Random) -> Fields:
    """Lists of blocks may name some that are not there, as the classes' defaults do of a small tower."""
    width, heads, blocks = _sizes(rng)
    some = sorted(rng.sample(range(blocks + 3), rng.randint(0, min(4, blocks))))
    fields: Fields = {
        "depth": blocks,
        "num_heads": heads,
        "hidden_size": width,
        "intermediate_size": rng.randint(8, 90),
        "patch_size": rng.choice([4, 7, 14, 16]),
        "spatial_merge_size": rng.choice([1, 2, 3]),
        "temporal_patch_size": rng.choice([1, 2, 3]),
        "in_channels": rng.choice([1, 3, 4]),
        "image_size": 112,
        "num_position_embeddings": rng.choice([4, 49, 2304]),
        "deepstack_visual_indexes": some,
        "fullatt_block_indexes": some,
        "window_size": rng.choice([48, 96, 112]),
        "mlp_ratio": rng.choice([1, 2, 4]),
    }
    needed = ("depth", "num_heads", "hidden_size")
    return {name: value for name, value in fields.items() if name in needed or rng.random() < 0.8}


def _square_merges(rng: random.Random) -> Fields:
    fields, sizes = _vit(rng), {"pos_emb_height": rng.choice([4, 9]), "pos_emb_width": rng.choice([4, 6])}
    return {**fields, **sizes, "merge_kernel_size": rng.choice([[1, 1], [2, 2], [3, 3]])}


def _renamed_tower(rng: random.Random) -> Fields:
    """The width of a head stands apart from that of the model; fields have names of their own."""
    width, heads, blocks = _sizes(rng)
    return {
        "vt_hidden_size": width,
        "vt_num_attention_heads": heads,
        "vt_num_hidden_layers": blocks,
        "vt_intermediate_size": rng.randint(8, 90),
        "qkv_hidden_size": rng.choice([None, 8 * heads, 24 * heads]),
        "init_pos_emb_height": rng.choice([4, 9]),
        "init_pos_emb_width": rng.choice([4, 6]),
        "merge_kernel_size": rng.choice([[1, 1], [2, 2], [3, 3]]),
        "norm_type": rng.choice(["rmsnorm", "layernorm"]),
        "mm_projector_type": rng.choice(["patchmerger", "patchmergerv2"]),
    }


def _shuffled(rng: random.Random) -> Fields:
    fields, ratio, out = _vit(rng), rng.choice([0.5, 0.25, 1.0]), rng.choice([24, 40])
    widths = dict.fromkeys(("vision_output_dim", "projector_input_dim", "projector_output_dim"), out)
    wide = fields["hidden_size"] * round(1 / ratio) ** 2
    return {
        **fields,
        **widths,
        "intermediate_size": wide,
        "pixel_shuffle_ratio": ratio,
        "image_size": 64,
        "patch_size": 8,
    }


def _hears(rng: random.Random) -> Fields:
    width, heads, blocks = _sizes(rng)
    window = rng.choice([10, 25, 50])
    return {
        "d_model": width,
        "encoder_attention_heads": heads,
        "encoder_layers": blocks,
        "encoder_ffn_dim": rng.randint(8, 90),
        "num_mel_bins": rng.choice([40, 80, 128]),
        "n_window": window,
        "n_window_infer": 2 * window * rng.choice([1, 3, 8]),
        "downsample_hidden_size": rng.choice([6, 12]),
    }


def _sees_wide(made: Fields, rng: random.Random) -> None:
    made["vision_config"]["out_hidden_size"] = made["text_config"]["hidden_size"]


def _embeds(made: Fields, rng: random.Random) -> None:
    made["vision_config"]["embed_dim"] = made["vision_config"]["hidden_size"]
    made["vision_config"]["hidden_size"] = made["text_config"]["hidden_size"]


def _pooled(made: Fields, rng: random.Random) -> None:
    side = rng.choice([1, 2, 4])
    made["vision_config"]["image_size"] = made["vision_config"]["patch_size"] * side * rng.choice([1, 3])
    made["mm_tokens_per_image"] = side**2


def _projected(made: Fields, rng: random.Random) -> None:
    made["projection_dim"] = made["text_config"]["hidden_size"]


def _normed(made: Fields, rng: random.Random) -> None:
    made["projection_hidden_size"] = made["vision_config"]["hidden_size"]


def _both_sides(made: Fields, rng: random.Random) -> None:
    """A final norm is of the blocks' kind; images may be no squares."""
    vision = made["vision_config"]
    vision |= {"norm_type": rng.choice(["layer_norm", "rms_norm"]), "use_mean_pooling": True}
    if rng.random() < 0.5:
        patch = vision["patch_size"]
        vision |= {"patch_size": [patch, patch], "image_size": [4 * patch, rng.choice([4, 8]) * patch]}


def _given_wide(made: Fields, rng: random.Random) -> None:
    made["audio_config"]["output_dim"] = made["text_config"]["hidden_size"]


def _nothing(made: Fields, rng: random.Random) -> None:
    pass


_TOWERS: dict[str, Callable[[random.Random], Fields]] = {
    **{described(name)["parts"]["vision_config"]["type"]: _merging for name in MERGING},
    "kimi_k25_vision": _square_merges,
    "kimi_k3_vision": _renamed_tower,
    "llama4_vision_model": _shuffled,
    "qwen3_asr_encoder": _hears,
}
_JOINED: dict[str, Callable[[Fields, random.Random], None]] = {
    **dict.fromkeys(MERGING, _sees_wide),
    "qwen2_vl": _embeds,
    "gemma3": _pooled,
    "paligemma": _projected,
    "kimi_k25": _normed,
    "internvl": _both_sides,
    "qwen3_asr": _given_wide,
}
