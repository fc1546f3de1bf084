"""Files of other libraries and weights that are not read are answered in words; what can be counted is."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from support.safetensors_files import CONFIG, COUNTED, WEIGHTS, Tensors, file

from archcalc import load

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run, Write

UNET = {"_class_name": "UNet2DConditionModel", "_diffusers_version": "0.21.4", "block_out_channels": [320, 640]}
PIPELINE = {
    "_class_name": "StableDiffusionXLPipeline",
    "_diffusers_version": "0.19.0",
    "unet": ["diffusers", "UNet2DConditionModel"],
    "vae": ["diffusers", "AutoencoderKL"],
}
ADAPTER = {"peft_type": "LORA", "r": 16, "base_model_name_or_path": "owner/base", "target_modules": ["q_proj"]}
TIMM = {"architecture": "vit_base_patch16_224", "num_classes": 1000, "pretrained_cfg": {"input_size": [3, 224, 224]}}
OPEN_CLIP = {"model_cfg": {"embed_dim": 512, "vision_cfg": {}, "text_cfg": {}}, "preprocess_cfg": {}}


@pytest.mark.parametrize(
    ("name", "said", "words"),
    [
        ("model_index.json", PIPELINE, "a diffusers pipeline (StableDiffusionXLPipeline)"),
        ("config.json", UNET, "a diffusers model (UNet2DConditionModel)"),
        ("scheduler_config.json", {"_class_name": "EulerDiscreteScheduler"}, "a diffusers scheduler"),
        ("adapter_config.json", ADAPTER, "a PEFT adapter (LORA of rank 16) for owner/base"),
        ("config.json", TIMM, "a timm model (vit_base_patch16_224)"),
        ("open_clip_config.json", OPEN_CLIP, "an open_clip model"),
        (
            "tokenizer_config.json",
            {"tokenizer_class": "LlamaTokenizer", "model_max_length": 4096},
            "a tokenizer's config",
        ),
        ("generation_config.json", {"do_sample": True, "transformers_version": "4.40"}, "a generation config"),
        (
            "preprocessor_config.json",
            {"image_processor_type": "ViTImageProcessor"},
            "an image, sound or text processor",
        ),
        ("hf_quant_config.json", {"producer": {"name": "modelopt"}, "quantization": {}}, "a quantisation config"),
    ],
)
def test_a_file_of_another_kind_is_called_what_it_is(
    run: Run, write: Write, name: str, said: dict[str, Any], words: str
) -> None:
    """The file itself, and standard input; with one hint of what to give instead."""
    answer = run("params", write(json.dumps(said), name))
    assert answer.code == 2
    assert words in " ".join(answer.err.split())
    assert "give" in answer.err


@pytest.mark.parametrize(
    ("name", "said", "weights"),
    [
        ("config.json", UNET, "diffusion_pytorch_model.safetensors"),
        ("config.json", UNET, "diffusion_pytorch_model.fp16.safetensors"),
        ("config.json", TIMM, "model.safetensors"),
        ("open_clip_config.json", OPEN_CLIP, "open_clip_model.safetensors"),
        ("adapter_config.json", ADAPTER, "adapter_model.safetensors"),
        ("config.json", {"model_type": "not_in_any_library"}, "model.safetensors"),
    ],
)
def test_weights_beside_a_config_that_is_not_read_are_counted(
    run: Run, write: Write, name: str, said: dict[str, Any], weights: str
) -> None:
    write(json.dumps(said), name)
    write(file(WEIGHTS), weights)
    answer = run("params", ".")
    assert f"{COUNTED:,}" in answer.out
    assert f"the tensors of {weights}, without a forward pass" in " ".join(answer.out.split())


class Loud:
    """What runs when a pickle is opened."""

    def __reduce__(self) -> Any:
        return (exec, ("raise SystemExit('opened')",))


@pytest.mark.parametrize(
    ("name", "raw", "words"),
    [
        ("pytorch_model.bin", pickle.dumps(Loud()), "a pickle"),
        ("consolidated.00.pth", b"PK\x03\x04" + bytes(100), "a zip archive, as PyTorch pickles are"),
        ("model.ckpt", b"no magic at all", "a PyTorch pickle"),
        ("weights", pickle.dumps([1, 2, 3]), "a pickle"),
        ("model.yaml", pickle.dumps([1, 2, 3]), "a pickle"),
        ("model.yml", b"PK\x03\x04" + bytes(100), "a zip archive"),
        ("spec.yaml", b"version https://git-lfs.github.com/spec/v1", "a Git LFS pointer"),
        ("tf_model.h5", b"\x89HDF\r\n\x1a\n", "weights of Keras"),
        ("flax_model.msgpack", b"\x81\xa1a\x01", "weights of Flax"),
        ("model.onnx", b"\x08\x07\x12", "weights of another library"),
        (
            "model.safetensors",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
            "Git LFS pointer",
        ),
    ],
)
def test_weights_that_are_not_read_are_named_and_never_opened(
    run: Run, write: Write, name: str, raw: bytes, words: str
) -> None:
    answer = run("params", write(raw, name))
    assert answer.code == 2
    assert words in " ".join(answer.err.split())


def test_a_config_beside_pickles_is_read_and_they_are_named(run: Run, write: Write) -> None:
    write(json.dumps(CONFIG), "config.json")
    write(pickle.dumps(Loud()), "pytorch_model.bin")
    out = " ".join(run("params", ".").out.split())
    assert f"{COUNTED:,}" in out
    assert "pytorch_model.bin is a PyTorch pickle" in out


def test_an_index_of_pickles_is_answered_in_words(run: Run, write: Write) -> None:
    index = {"weight_map": {"wte.weight": "pytorch_model-00001-of-00002.bin"}}
    answer = run("params", write(json.dumps(index), "pytorch_model.bin.index.json"))
    assert answer.code == 2
    assert "pytorch_model-00001-of-00002.bin, a PyTorch pickle" in " ".join(answer.err.split())


HALVES = dict(list(WEIGHTS.items())[:5]), dict(list(WEIGHTS.items())[5:])


def shards(write: Write, stem: str, *, index: bool, tail: str = "") -> None:
    listed: dict[str, str] = {}
    for number, half in enumerate(HALVES, 1):
        name = f"{stem}-{number:05}-of-00002{tail}.safetensors"
        write(file(half), name)
        listed |= dict.fromkeys(half, name)
    if index:
        write(json.dumps({"metadata": {"total_size": 5}, "weight_map": listed}), f"{stem}.safetensors.index{tail}.json")


@pytest.mark.parametrize(
    ("stem", "index", "tail"),
    [
        ("model", True, ""),
        ("model", False, ""),
        ("diffusion_pytorch_model", True, ""),
        ("model", True, ".fp16"),
        ("model", False, ".fp16"),
    ],
)
def test_shards_are_found_by_their_names(run: Run, write: Write, stem: str, index: bool, tail: str) -> None:
    """With an index or without one, of diffusers, and of variants."""
    shards(write, stem, index=index, tail=tail)
    assert run("params", ".", "--format", "json").json["total"] == COUNTED
    write(json.dumps(CONFIG), "config.json")
    assert f"holds {COUNTED:,} weights, as the config says" in " ".join(run("params", ".").out.split())


def test_one_shard_is_called_one(run: Run, write: Write) -> None:
    shards(write, "model", index=False)
    assert "shard 1 of 2: the others are not counted" in " ".join(
        run("params", "model-00001-of-00002.safetensors").out.split()
    )


def test_variants_beside_the_usual_weights_are_left_alone(run: Run, write: Write) -> None:
    write(file(WEIGHTS), "model.safetensors")
    write(file(WEIGHTS), "model.fp16.safetensors")
    assert run("params", ".", "--format", "json").json["total"] == COUNTED


def test_of_several_files_one_must_be_named(run: Run, write: Write) -> None:
    write(file(WEIGHTS), "a.safetensors")
    write(file(WEIGHTS), "b.safetensors")
    answer = run("params", ".")
    assert answer.code == 2
    assert "there are several weight files here (a.safetensors, b.safetensors)" in answer.err
    write(json.dumps(CONFIG), "config.json")
    assert "bytes are computed from the config" in " ".join(run("params", ".").out.split())


def test_shards_that_were_not_fetched_leave_the_config(run: Run, write: Write) -> None:
    """A repository without its large files: the index tells their bytes."""
    write(json.dumps(CONFIG), "config.json")
    index = {"metadata": {"total_size": 5678}, "weight_map": {"lm_head.weight": "model-00001-of-00001.safetensors"}}
    write(json.dumps(index), "model.safetensors.index.json")
    out = " ".join(run("params", ".").out.split())
    assert "1 of the 1 shards that model.safetensors.index.json lists, 5,678 bytes in all, are not here" in out


LLAMA_3 = {
    "dim": 4096,
    "n_layers": 32,
    "n_heads": 32,
    "n_kv_heads": 8,
    "vocab_size": 128256,
    "multiple_of": 1024,
    "ffn_dim_multiplier": 1.3,
    "norm_eps": 1e-05,
    "rope_theta": 500000.0,
}
LLAMA_2_70B = {**LLAMA_3, "dim": 8192, "n_layers": 80, "n_heads": 64, "multiple_of": 4096, "vocab_size": 32000}
MISTRAL = {
    "dim": 4096,
    "n_layers": 32,
    "head_dim": 128,
    "hidden_dim": 14336,
    "n_heads": 32,
    "n_kv_heads": 8,
    "norm_eps": 1e-05,
    "sliding_window": 4096,
    "vocab_size": 32000,
}
MIXTRAL = {**MISTRAL, "sliding_window": None, "moe": {"num_experts_per_tok": 2, "num_experts": 8}}


@pytest.mark.parametrize(
    ("said", "published"),
    [
        (LLAMA_3, 8_030_261_248),
        (LLAMA_2_70B, 68_976_648_192),
        (MISTRAL, 7_241_732_096),
        (MIXTRAL, 46_702_792_704),
    ],
)
def test_params_json_of_meta_and_mistral(tmp_path: Path, said: dict[str, Any], published: int) -> None:
    """The parameters of Llama 3 8B, Llama 2 70B, Mistral 7B and Mixtral 8x7B."""
    (tmp_path / "params.json").write_text(json.dumps(said), encoding="utf-8")
    for named in (tmp_path, tmp_path / "params.json"):
        assert load(named).params().total == published
    assert load(said).params().total == published


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"vocab_size": -1}, "left to the tokenizer"),
        ({"vision_encoder": {"hidden_size": 1024}}, "vision_encoder: archcalc does not read this field"),
        ({"moe": {"num_experts": 8, "route_every_n": 2, "num_experts_per_tok": 2}}, "this mixture of experts"),
        ({"quantization": {"qformat_weight": "int4"}}, "this quantisation"),
        ({"dim": "many"}, "dim: expected a whole number"),
        ({"n_layers": None}, "n_layers: expected a whole number"),
    ],
)
def test_what_params_json_says_beyond_that_is_refused(
    run: Run, write: Write, change: dict[str, Any], words: str
) -> None:
    answer = run("params", write(json.dumps({**MISTRAL, **change}), "params.json"))
    assert answer.code == 2
    assert words in answer.err


def test_mistrals_own_weights_lie_beside_its_params(run: Run, write: Write) -> None:
    small = {"dim": 8, "n_layers": 1, "head_dim": 4, "hidden_dim": 16, "n_heads": 2, "n_kv_heads": 2, "vocab_size": 100}
    write(json.dumps({**small, "norm_eps": 1e-5, "tied_embeddings": True}), "params.json")
    tensors: Tensors = {"tok_embeddings.weight": ("BF16", [100, 8]), "norm.weight": ("BF16", [8])}
    tensors |= {f"layers.0.attention.w{name}.weight": ("BF16", [8, 8]) for name in "qkvo"}
    tensors |= {f"layers.0.feed_forward.w{n}.weight": ("BF16", [8, 16] if n == 2 else [16, 8]) for n in (1, 2, 3)}
    tensors |= {f"layers.0.{name}_norm.weight": ("BF16", [8]) for name in ("attention", "ffn")}
    write(file(tensors), "consolidated.safetensors")
    assert f"consolidated.safetensors holds {COUNTED:,} weights, as the config says" in " ".join(
        run("params", ".").out.split()
    )
