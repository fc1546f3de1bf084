"""Models that see, read whole from their configs: tower, projector and language model are those of the class."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
import torch
from support.hf_random_whole import WHOLE, whole
from support.hf_truth import build, judge
from torch.utils.flop_counter import FlopCounterMode
from transformers import CONFIG_MAPPING

import archcalc
from archcalc.importers.hf._helpers.processed import known
from archcalc.importers.hf._helpers.reading import described

if TYPE_CHECKING:
    from conftest import Run, Write

Fields = dict[str, Any]
TEXT: Fields = {
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "head_dim": 16,
    "vocab_size": 512,
    "intermediate_size": 96,
}
QWEN: Fields = {"depth": 3, "num_heads": 2, "spatial_merge_size": 2, "patch_size": 8}
WIDE: Fields = {**QWEN, "hidden_size": 32, "intermediate_size": 40, "out_hidden_size": 64}
TOWER: Fields = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "image_size": 32,
    "patch_size": 8,
}
LLAMA4: Fields = {"vision_output_dim": 40, "projector_input_dim": 40, "projector_output_dim": 40}
UNIFIED: Fields = {"mm_embed_dim": 32, "output_proj_dims": 32, "mm_posemb_size": 300, "patch_size": 4}
SEEN: dict[str, Fields] = {
    "qwen2_vl": {"vision_config": {**QWEN, "embed_dim": 32, "hidden_size": 64}},
    "qwen2_5_vl": {"vision_config": {**WIDE, "window_size": 32, "fullatt_block_indexes": [1]}},
    "qwen3_vl": {"vision_config": {**WIDE, "num_position_embeddings": 36, "deepstack_visual_indexes": [0, 1]}},
    "qwen3_vl_moe": {"vision_config": {**WIDE, "num_position_embeddings": 16, "deepstack_visual_indexes": []}},
    "qwen3_5": {"vision_config": {**WIDE, "num_position_embeddings": 49}},
    "qwen3_5_moe": {"vision_config": {**WIDE, "num_position_embeddings": 49}},
    "glm4v": {"vision_config": {**WIDE, "image_size": 48}},
    "glm4v_moe": {"vision_config": {**WIDE, "image_size": 48}},
    "glm46v": {"vision_config": {"model_type": "glm4v_vision", **WIDE, "image_size": 48}},
    "glm_ocr": {"vision_config": WIDE},
    "llava": {"vision_config": TOWER, "vision_feature_layer": [-2, -1]},
    "llava_next": {"vision_config": TOWER, "multimodal_projector_bias": False},
    "llava_onevision": {"vision_config": {"model_type": "siglip_vision_model", **TOWER}},
    "mistral3": {"vision_config": {"model_type": "pixtral", **TOWER}, "spatial_merge_size": 2},
    "internvl": {"vision_config": {**TOWER, "image_size": [32, 32], "patch_size": [8, 8]}},
    "idefics3": {"vision_config": TOWER},
    "smolvlm": {"vision_config": TOWER, "scale_factor": 4},
    "lfm2_vl": {"vision_config": {"model_type": "siglip2_vision_model", **TOWER, "num_patches": 16}},
    "llama4": {"vision_config": {**TOWER, "intermediate_size": 128, **LLAMA4}},
    "step3p7": {"vision_config": {"width": 32, "layers": 2, "heads": 2, "image_size": 56, "patch_size": 7}},
    "kimi_k25": {"vision_config": {**TOWER, "pos_emb_height": 6, "pos_emb_width": 5}, "projection_hidden_size": 32},
    "paddleocr_vl": {"vision_config": TOWER},
    "gemma3": {"vision_config": {**TOWER, "vision_use_head": False}, "mm_tokens_per_image": 4},
    "paligemma": {"vision_config": {**TOWER, "vision_use_head": False}, "projection_dim": 64},
    "gemma4": {
        "vision_config": {**TOWER, "num_key_value_heads": 2, "head_dim": 16, "position_embedding_size": 200},
        "audio_config": None,
    },
    "gemma4_unified": {"vision_config": UNIFIED, "audio_config": None},
}


def small(model_type: str, task: str) -> Fields:
    """A model of a few thousand weights; the rest of each config is that of its class."""
    text = described(model_type)["parts"]["text_config"]["type"]
    name = next(name for name, meant in described(model_type)["classes"].items() if meant == task)
    return {
        "model_type": model_type,
        "architectures": [name],
        "text_config": {"model_type": text, **TEXT},
        **SEEN[model_type],
    }


@pytest.mark.parametrize("model_type", SEEN)
def test_the_whole_is_that_of_the_class(model_type: str) -> None:
    """With its language model's head and without."""
    for task in {"multimodal", "base"} & set(described(model_type)["classes"].values()):
        said = small(model_type, task)
        verdict = judge(said)
        assert verdict.outcome == "exact", (verdict, said)


@pytest.mark.parametrize("model_type", [name for name in WHOLE if name in CONFIG_MAPPING])
def test_random_wholes_are_exact(model_type: str) -> None:
    """Every field of every part drawn; none of them is refused."""
    exact = 0
    for number in range(4):
        said = whole(model_type, random.Random(f"{model_type} {number}"))
        names = [name for name, task in described(model_type)["classes"].items() if task in ("multimodal", "base")]
        said["architectures"] = [names[number % len(names)]]
        verdict = judge(said)
        assert verdict.outcome in ("exact", "invalid"), f"{verdict}\n{said}"
        exact += verdict.outcome == "exact"
    assert exact > 1


@pytest.mark.parametrize("model_type", known())
def test_an_image_of_any_size_can_be_read(model_type: str, run: Run, write: Write) -> None:
    """Its tokens are in the text, and they are as many as the processor's rule says."""
    file = write(json.dumps(small(model_type, "multimodal")), "config.json")
    for size in ("300x200", "64x900"):
        answer = run("flops", file, "--images", "2", "--image-size", size, "--seq", "60000", "--mode", "forward")
        assert answer.code == 0, answer.err
        assert "2 images of" in " ".join(answer.out.split())


HEARD: dict[str, Fields] = {
    "gemma4": {"hidden_size": 64, "subsampling_conv_channels": [16, 8], "num_hidden_layers": 2, "output_proj_dims": 48},
    "gemma4_unified": {"audio_embed_dim": 80},
}


@pytest.mark.parametrize("model_type", HEARD)
@pytest.mark.parametrize("sees", [True, False])
def test_ears_are_those_of_the_class(model_type: str, sees: bool) -> None:
    """Beside eyes, and without them."""
    said = {**small(model_type, "multimodal"), "audio_config": HEARD[model_type]}
    verdict = judge(said if sees else {**said, "vision_config": None})
    assert verdict.outcome == "exact", verdict


def test_a_recording_is_there_if_the_workload_has_one(run: Run, write: Write) -> None:
    """25 positions a second, each of 40 ms, behind a tower that runs for them alone."""
    said = {**small("gemma4", "multimodal"), "audio_config": HEARD["gemma4"]}
    file = write(json.dumps(said), "config.json")
    sizes = ("--seq", "2000", "--mode", "forward", "--images", "0")
    silent, loud = (run("flops", file, *sizes, *more) for more in ((), ("--audio-seconds", "12")))
    assert "no audio" in silent.out and "hearing" not in silent.out
    assert f"{12 * 25} positions" in loud.out and "hearing" in loud.out


@pytest.mark.parametrize("frames", [300, 257, 48])
@pytest.mark.parametrize(
    "changed", [{}, {"attention_context_right": 3, "attention_chunk_size": 7}, {"attention_context_left": 1}]
)
def test_ears_compute_what_the_class_computes(frames: int, changed: Fields) -> None:
    """Products of convolutions, chunks, distances and projections, as PyTorch counts them while the class runs."""
    said = {"model_type": "gemma4_audio", "architectures": ["Gemma4AudioModel"], **HEARD["gemma4"], **changed}
    tower: Any = build(said).to_empty(device="cpu").eval()
    with FlopCounterMode(display=False) as counted, torch.no_grad():
        tower(torch.zeros(1, frames, 16))
    model = archcalc.load(said, set=[f"input=[16, {frames}]"])
    assert int(model.flops(mode="forward").forward) == counted.get_total_flops()


def test_llama4_without_a_tower_in_its_file_is_the_text(run: Run, write: Write) -> None:
    """The class would build one that cannot be run."""
    said = small("llama4", "multimodal")
    del said["vision_config"]
    answer = run("fit", write(json.dumps(said), "config.json"), "--gpu", "h100")
    assert answer.code == 0, answer.err
    assert "not counted: vision encoder and projector" in " ".join(answer.out.split())


def test_a_flat_step_file_is_its_text(run: Run, write: Write) -> None:
    """Written for other code, with other names for the experts; what it leaves open is said."""
    flat = {**TEXT, "num_hidden_layers": 5, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
    said = {"model_type": "step3p7", "architectures": ["Step3p7FlashForCausalLM"], **flat, "first_k_dense_replace": 2}
    own = {**TEXT, "num_hidden_layers": 5, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
    dense = {"mlp_layer_types": ["dense", "dense", "sparse", "sparse", "sparse"]}
    text = archcalc.load({"model_type": "step3p5", "architectures": ["Step3p5ForCausalLM"], **own, **dense})
    answer = run("params", write(json.dumps(said), "config.json"))
    assert f"{text.params().total:,}" in answer.out
    assert "does not say how many heads" in " ".join(answer.out.split())


def test_step_halves_its_map_twice() -> None:
    """Products of the tower, of both convolutions and of the projection, as PyTorch counts them for one image."""
    said = small("step3p7", "base")
    tower: Any = build(said).to_empty(device="cpu").eval()
    tower.vision_model.config._attn_implementation = "eager"
    with FlopCounterMode(display=False) as counted, torch.no_grad():
        tower.get_image_features(torch.zeros(1, 3, 56, 56))
    work = archcalc.load(said).flops(mode="forward", seq=64).record()["rows"]
    seen = sum(row["forward"] for row in work if row["path"] in ("vision", "projector"))
    assert seen == counted.get_total_flops()


GRIDS = {"qwen2_5_vl_vision": (10, 14), "qwen3_vl_vision": (6, 8), "qwen3_5_vision": (4, 4), "glm4v_vision": (6, 4)}
OWN: dict[str, Fields] = {
    "qwen2_5_vl_vision": SEEN["qwen2_5_vl"],
    "qwen3_vl_vision": SEEN["qwen3_vl"],
    "qwen3_5_vision": SEEN["qwen3_5"],
    "glm4v_vision": SEEN["glm4v"],
}


@pytest.mark.parametrize("model_type", GRIDS)
def test_a_tower_computes_what_the_class_computes(model_type: str) -> None:
    """Products of patches, windows of three sizes, blocks and mergers, as PyTorch counts them while the class runs."""
    rows, columns = GRIDS[model_type]
    (name,) = described(model_type)["classes"]
    said = {"model_type": model_type, "architectures": [name], **OWN[model_type]["vision_config"]}
    tower: Any = build(said).to_empty(device="cpu").eval()
    tower.config._attn_implementation = "eager"
    patches = torch.zeros(rows * columns, 3 * 2 * 8 * 8)
    with FlopCounterMode(display=False) as counted, torch.no_grad():
        tower(patches, grid_thw=torch.tensor([[1, rows, columns]]))
    model = archcalc.load(said, set=[f"inputs.images=[3, 2, {8 * rows}, {8 * columns}]"])
    assert int(model.flops(mode="forward").forward) == counted.get_total_flops()


def test_windows_save_products_where_an_image_has_several() -> None:
    """A window of as many patches as the image has is attention among all of them."""
    said = {"model_type": "qwen2_5_vl_vision", **WIDE, "fullatt_block_indexes": []}
    whole = forward({**said, "fullatt_block_indexes": [0, 1, 2]})
    for size in range(16, 160, 16):
        found = forward({**said, "window_size": size})
        assert found == whole if size >= 64 else found < whole


def forward(said: Fields) -> int:
    """FLOPs of an image of 64 × 64 pixels."""
    return int(archcalc.load(said, set=["inputs.images=[3, 2, 64, 64]"]).flops(mode="forward").forward)


@pytest.mark.parametrize(
    ("method", "is_left"),
    [
        ({"quant_method": "awq", "bits": 4, "group_size": 8, "modules_to_not_convert": ["visual"]}, True),
        ({"quant_method": "gptq", "bits": 4, "group_size": 8}, True),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, False),
        ({"quant_method": "fp8", "modules_to_not_convert": ["model.visual.blocks.0.attn.qkv"]}, True),
        ({"quant_method": "fp8", "modules_to_not_convert": ["lm_head"]}, False),
    ],
)
def test_towers_that_a_method_leaves_as_they_are_take_their_bytes(method: Fields, is_left: bool) -> None:
    """Two for each number of the vision tower, or less where its matrices are quantised too."""
    said = {**small("qwen2_5_vl", "multimodal"), "dtype": "bfloat16"}
    bare, stored = archcalc.load(said), archcalc.load({**said, "quantization_config": method})
    whole, less = (tower_bytes(model) for model in (bare, stored))
    assert less == whole if is_left else less < whole
    assert stored.params().total == bare.params().total


def tower_bytes(model: Any) -> int:
    """Of the weights in memory that are not the language model's."""
    rows = model.memory(mode="prefill").record()["rows"]
    return sum(row["weights"] for row in rows if row["path"] in ("vision", "merger"))
