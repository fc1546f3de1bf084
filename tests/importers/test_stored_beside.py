"""How weights are stored, where config.json does not say it, or not by a method's name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.quantised_llama import BLOCK, FFN, LAYERS, LLAMA, REST, VOCAB, D, each

from archcalc import load
from archcalc.core.errors import InputError
from archcalc.importers import files

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run, Write

Fields = dict[str, Any]


def nvfp4(out: int, into: int) -> int:
    """weight, weight_scale, weight_scale_2 and input_scale, as ModelOpt exports them."""
    return into * out // 2 + into * out // 16 + 4 + 4


def fp8(out: int, into: int) -> int:
    return into * out + 4 + 4


def held(folder: Path, config: Fields, **beside: Fields) -> int:
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    for name, said in beside.items():
        (folder / f"{name}.json").write_text(json.dumps(said), encoding="utf-8")
    sizes = {int(load(named).memory(seq=32, overhead=0).parts["weights"]) for named in (folder, folder / "config.json")}
    assert len(sizes) == 1  # the folder and its config.json are the same model
    return sizes.pop()


@pytest.mark.parametrize(
    ("name", "said", "size"),
    [
        ("hf_quant_config", {"quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}}, nvfp4),
        ("hf_quant_config", {"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}}, fp8),
        ("hf_quant_config", {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "fp8"}}, fp8),
        (
            "quantize_config",  # of AutoGPTQ, before it wrote into config.json
            {"bits": 4, "group_size": 128, "desc_act": False, "damp_percent": 0.1},
            lambda out, into: into * out // 2 + into // 128 * (out // 2 + 2 * out) + 4 * into,
        ),
        (
            "quant_config",  # of AutoAWQ
            {"zero_point": True, "q_group_size": 64, "w_bit": 4, "version": "GEMM"},
            lambda out, into: into * out // 2 + into // 64 * (out // 2 + 2 * out),
        ),
    ],
)
def test_a_file_beside_the_config_says_how_weights_are_stored(
    tmp_path: Path, name: str, said: Fields, size: Any
) -> None:
    assert held(tmp_path, LLAMA, **{name: said}) == REST + each(BLOCK, size)


def test_what_the_config_itself_says_goes_first(tmp_path: Path) -> None:
    said = {**LLAMA, "quantization_config": {"quant_algo": "FP8", "ignore": ["lm_head"]}}
    beside = {"quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}}
    assert held(tmp_path, said, hf_quant_config=beside) == REST + each(BLOCK, fp8)


def test_files_by_name_give_the_same_document_wherever_they_come_from(tmp_path: Path) -> None:
    """What a folder holds, given as bytes: the door for repositories that are not on this disk."""
    beside = {"quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}}
    held(tmp_path, LLAMA, hf_quant_config=beside)
    given = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert files.of_files(given, "a repository").data == files.of_path(tmp_path, "a folder").data


def test_a_file_beside_the_config_that_is_broken_is_named(run: Run, write: Write) -> None:
    write(json.dumps(LLAMA), "config.json")
    for text in ("{", "[]", ""):
        write(text, "hf_quant_config.json")
        answer = run("params", ".")
        assert answer.code == 2
        assert "hf_quant_config.json" in answer.err


def test_layers_of_several_algorithms_are_counted_each_by_its_own(tmp_path: Path) -> None:
    """ModelOpt's MIXED_PRECISION: what is not listed stays unquantised."""
    listed: dict[str, Fields] = {"lm_head": {"quant_algo": "W4A16_NVFP4", "group_size": 16}}
    listed |= {f"model.layers.{at}.self_attn.{name}_proj": {"quant_algo": "FP8"} for at in (0, 2) for name in "qk"}
    listed |= {f"model.layers.{layer}.mlp.down_proj": {"quant_algo": "NVFP4", "group_size": 16} for layer in range(3)}
    said = {"quant_algo": "MIXED_PRECISION", "quantized_layers": listed}
    less = 2 * sum(2 * out * D - fp8(out, D) for out in (D, D // 4)) + 3 * (2 * D * FFN - nvfp4(D, FFN))
    less += 2 * VOCAB * D - (nvfp4(VOCAB, D) - 4)  # inputs in 16 bits have no scale
    plain = REST + each(BLOCK, lambda out, into: 2 * out * into)
    assert held(tmp_path, LLAMA, hf_quant_config={"quantization": said}) == plain - less
    (tmp_path / "hf_quant_config.json").unlink()
    assert held(tmp_path, {**LLAMA, "quantization_config": {**said, "quant_method": "modelopt"}}) == plain - less


def affine(bits: int, group: int) -> Any:
    return lambda out, into: into * out * bits // 8 + into // group * out * 4


def mxfp4(out: int, into: int) -> int:
    return into * out // 2 + into // 32 * out


def mlx(folder: Path, said: Fields, config: Fields = LLAMA) -> int:
    found = {held(folder, {**config, **keys}) for keys in ({"quantization": said}, {"quantization_config": said})}
    assert len(found) == 1  # mlx-lm writes both, older versions the first alone
    return found.pop()


NORMS = 2 * (LAYERS * 2 * D + D)


def test_mlx_quantises_tables_and_the_head_too(tmp_path: Path) -> None:
    """A scale and a bias of 16 bits for each group."""
    size = affine(4, 64)
    expected = NORMS + each(BLOCK, size) + 2 * size(VOCAB, D)
    assert mlx(tmp_path, {"bits": 4, "group_size": 64}) == expected
    assert mlx(tmp_path, {"bits": 4, "group_size": 64, "mode": "affine"}) == expected
    microscaled = NORMS + each(BLOCK, mxfp4) + 2 * mxfp4(VOCAB, D)
    assert mlx(tmp_path, {"bits": 4, "group_size": 32, "mode": "mxfp4"}) == microscaled


def test_mlx_may_treat_modules_by_their_names(tmp_path: Path) -> None:
    own = {
        "model.embed_tokens": {"bits": 8, "group_size": 32},
        "language_model.lm_head": False,
        "model.layers.1.mlp.down_proj": {"bits": 6},
    }
    wide = affine(6, 64)(D, FFN) - affine(4, 64)(D, FFN)
    expected = NORMS + each(BLOCK, affine(4, 64)) + affine(8, 32)(VOCAB, D) + 2 * VOCAB * D + wide
    assert mlx(tmp_path, {"bits": 4, "group_size": 64, **own}) == expected


def test_mlx_leaves_inputs_that_are_no_whole_groups(tmp_path: Path) -> None:
    config = {**LLAMA, "intermediate_size": FFN + 32}
    size = affine(4, 64)
    plain = LAYERS * 2 * D * (FFN + 32)
    rest = [matrix for matrix in BLOCK if FFN not in matrix]
    quantised = each(rest, size) + LAYERS * 2 * size(FFN + 32, D) + 2 * size(VOCAB, D)
    assert mlx(tmp_path, {"bits": 4, "group_size": 64}, config) == NORMS + quantised + plain


def test_mlx_quantises_routers(tmp_path: Path) -> None:
    """mlx-lm keeps many of them in 8 bits, by name."""
    config = {**LLAMA, "model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "num_experts": 64}
    config |= {"moe_intermediate_size": 128, "num_experts_per_tok": 2, "head_dim": 64}
    usual = mlx(tmp_path, {"bits": 4, "group_size": 64}, config)
    routers = {f"model.layers.{layer}.mlp.gate": {"bits": 8, "group_size": 64} for layer in range(LAYERS)}
    assert mlx(tmp_path, {"bits": 4, "group_size": 64, **routers}, config) - usual == LAYERS * 64 * D // 2


@pytest.mark.parametrize(
    ("said", "size"),
    [
        (
            {"config_groups": {"0": {"weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}}},
            lambda out, into: into * out + 2 * out,
        ),
        ({"activation_scheme": "static", "fmt": "e4m3"}, fp8),
        (
            {
                "quant_method": "quark",
                "global_quant_config": {"weight": {"dtype": "fp8_e4m3", "qscheme": "per_tensor"}},
                "exclude": ["lm_head"],
            },
            lambda out, into: into * out + 4,
        ),
        (
            {
                "quant_method": "quark",
                "global_quant_config": {
                    "weight": {"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0"}
                },
                "exclude": ["lm_head"],
            },
            lambda out, into: into * out // 2 + into * out // 32,
        ),
    ],
)
def test_methods_are_known_by_their_fields(tmp_path: Path, said: Fields, size: Any) -> None:
    if "config_groups" in said:
        said = {**said, "ignore": ["lm_head"]}
    assert held(tmp_path, {**LLAMA, "quantization_config": said}) == REST + each(BLOCK, size)


def test_an_algorithm_that_is_not_known_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="modelopt stores W2A16"):
        held(tmp_path, LLAMA, hf_quant_config={"quantization": {"quant_algo": "W2A16"}})


def test_a_config_of_some_megabytes_and_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    """Formats of every expert of every layer by their names take 3 MB in a real config."""
    listed = {
        f"model.layers.{layer}.mlp.experts.{expert}.{name}_proj": {"quant_algo": "NVFP4", "group_size": 16}
        for layer in range(40)
        for expert in range(256)
        for name in ("gate", "up", "down")
    }
    config = {**LLAMA, "quantization_config": {"quant_algo": "MIXED_PRECISION", "quantized_layers": listed}}
    raw = json.dumps(config).encode("utf-8-sig")
    assert len(raw) > 2_000_000
    (tmp_path / "config.json").write_bytes(raw)
    assert load(tmp_path / "config.json").params().total == load(LLAMA).params().total
