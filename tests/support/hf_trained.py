"""Random configs that transformers can train on the meta device: sizes that belong together, and long enough.

What a class still refuses is left out by whoever runs it, which takes the next one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from archcalc.importers.hf import translator
from archcalc.importers.hf._helpers.reading import described
from support.hf_random import random_fields

Fields = dict[str, Any]

LENGTHS = (
    "max_position_embeddings", "n_positions", "max_seq_len", "max_target_positions",
    "max_encoder_position_embeddings", "max_decoder_position_embeddings",
)  # fmt: skip
LONGEST = 1280  # positions that every config has
INNER = (
    "intermediate_size", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "n_inner", "d_ff", "moe_intermediate_size",
)  # fmt: skip
LARGER = 8  # times widths, vocabulary and length of other tests' configs, so that layers have most of the bytes
HEADS = ("attention_heads", "num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads")
WIDTHS = ("hidden_size", "d_model", "n_embd", "dim", "emb_dim")
OF_HEADS = ("head_dim", "d_kv")
MULTIPLE = 8  # of which widths of heads are in practice; kernels pad others
ACTIVATIONS = ("hidden_act", "activation_function", "hidden_activation", "mlp_hidden_act", "dense_act_fn")
WITHOUT_KERNEL = ("mish",)  # whose gradient the meta device computes in steps, and a GPU in one kernel
ASKS_FOR_VALUES = ("dynamic", "longrope")  # scaled rotary positions, whose code looks at the numbers of positions
ON_SEVERAL_AXES = (  # types whose rotary positions count time, height and width, each in some of a head's numbers
    "qwen2_vl_text", "qwen2_5_vl_text", "glm4v_text", "glm4v_moe_text", "glm_image_text", "glm_ocr_text",
    "hunyuan_vl_text",
)  # fmt: skip
DRAWS = 24
OTHER_TASKS = ("causal", "image", "base")  # for types whose usual task has no class of its own


@dataclass(frozen=True)
class Drawn:
    """A config.json, and the sizes that it is trained with."""

    config: Fields
    batch: int
    seq: int


def trained_class(model_type: str) -> tuple[str, str] | None:
    """The class that people train, by its name, and its task."""
    classes, family = described(model_type)["classes"], translator(model_type)
    tasks = (family.usual if family else "", *OTHER_TASKS)
    return next(((name, task) for wanted in tasks for name, task in classes.items() if task == wanted), None)


def drawn(model_type: str) -> list[Drawn]:
    """The same in every run: those with the heads that models have in practice, or all where there are none."""
    made = [_drawn(model_type, random.Random(f"trained {model_type} {seed}")) for seed in range(DRAWS)]
    return [one for one in made if _has_usual_heads(one.config)] or made


def _drawn(model_type: str, rng: random.Random) -> Drawn:
    found, (name, task) = random_fields(model_type, rng), trained_class(model_type) or ("", "")
    batch, seq = rng.choice([1, 2, 3]), LARGER * rng.choice([24, 32, 40, 48, 64])
    sizes = ("vocab_size", *WIDTHS, *INNER)
    found |= {key: LARGER * found[key] for key in sizes if isinstance(found.get(key), int)}
    found |= {key: LONGEST for key in LENGTHS if key in found}
    found |= {"mask_ratio": 0.0} if "mask_ratio" in described(model_type)["defaults"] else {}  # all patches are read
    found |= {"max_source_positions": seq} if "max_source_positions" in found else {}
    found |= (
        _belonging(found) | _rotated(found, model_type) | (_sections(found) if model_type in ON_SEVERAL_AXES else {})
    )
    left_out = ("add_cross_attention", "is_decoder", *(("tie_word_embeddings",) if task == "pixels" else ()))
    kept = {key: value for key, value in found.items() if key not in left_out}
    decoder = {"is_decoder": True} if task == "causal" and "is_decoder" in described(model_type)["defaults"] else {}
    return Drawn({**kept, **decoder, "model_type": model_type, "architectures": [name]}, batch, seq)


def _belonging(found: Fields) -> Fields:
    """Fields whose values depend on those of others."""
    changed: Fields = {}
    if "kv_lora_rank" in found and "num_attention_heads" in found:
        changed["num_key_value_heads"] = found["num_attention_heads"]
    changed |= {key: "gelu" for key in ACTIVATIONS if found.get(key) in WITHOUT_KERNEL}
    experts = next((found[key] for key in ("num_experts", "num_local_experts", "n_routed_experts") if key in found), 0)
    if experts and found.get("num_experts_per_tok", 1) > experts:
        changed["num_experts_per_tok"] = experts
    return changed


def _rotated(found: Fields, model_type: str) -> Fields:
    """Rotary positions that the class computes: scaled without looking at values, and in part if it knows that."""
    rope = found.get("rope_parameters")
    if not isinstance(rope, dict):
        return {}
    if rope.get("rope_type") in ASKS_FOR_VALUES:
        return {"rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0}}
    left_out = () if "partial_rotary_factor" in str(described(model_type).get("rope")) else ("partial_rotary_factor",)
    return {"rope_parameters": {key: value for key, value in rope.items() if key not in left_out}}


def _sections(found: Fields) -> Fields:
    """All numbers of a head divided in four, two of which are the first axis's."""
    width = found.get("head_dim") or found["hidden_size"] // found["num_attention_heads"]
    quarter = width // 8
    sections = {"mrope_section": [2 * quarter, quarter, quarter], "partial_rotary_factor": 1.0}
    return {"rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0, **sections}}


def _has_usual_heads(config: Fields) -> bool:
    heads = next((config[key] for key in HEADS if key in config), 0)
    widths = [config[key] // heads for key in WIDTHS if key in config and heads]
    widths += [config[key] for key in OF_HEADS if isinstance(config.get(key), int)]
    return all(width and width % MULTIPLE == 0 for width in widths)
