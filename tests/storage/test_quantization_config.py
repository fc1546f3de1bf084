"""`quantization_config`: the bytes of weights as a checkpoint stores them, module by module."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from support.assumption_texts import texts
from support.quantised_llama import ATTENTION, BLOCK, FFN, LAYERS, LLAMA, MLP, REST, VOCAB, D, each

from archcalc import load
from archcalc.core.errors import InputError
from archcalc.storage.module_names import Names
from archcalc.storage.quantization_config.methods import METHODS

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run, Write

Fields = dict[str, Any]


def weights(folder: Path, config: Fields, quantised: Fields | None = None, **options: Any) -> int:
    file = folder / "config.json"
    file.write_text(json.dumps({**config, "quantization_config": quantised}), encoding="utf-8")
    return int(load(file).memory(seq=32, overhead=0, **options).parts["weights"])


INT4 = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128, "symmetric": True}
FLOAT8 = {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True}
NVFP4 = {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}
DYNAMIC = {"dynamic": True}


def tensors(weights: Fields, form: str, **more: Any) -> Fields:
    group = {"targets": ["Linear"], "weights": weights, "input_activations": DYNAMIC}
    return {
        "quant_method": "compressed-tensors",
        "format": form,
        "ignore": ["lm_head"],
        "config_groups": {"0": group},
        **more,
    }


@pytest.mark.parametrize(
    ("quantised", "size"),
    [
        # qweight, qzeros, scales in fp16, and g_idx in int32
        (
            {"quant_method": "gptq", "bits": 4, "group_size": 128},
            lambda out, into: into * out // 2 + into // 128 * (out // 2 + 2 * out) + 4 * into,
        ),
        (
            {"quant_method": "gptq", "bits": 8, "group_size": -1},
            lambda out, into: into * out + (out + 2 * out) + 4 * into,
        ),
        # qweight, qzeros and scales
        (
            {"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": True},
            lambda out, into: into * out // 2 + into // 64 * (out // 2 + 2 * out),
        ),
        # blocks of 64 with an fp32 scale; scales in 8 bits, 256 of which share an fp32
        (
            {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
            lambda out, into: into * out // 2 + 4 * (into * out // 64),
        ),
        (
            {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True},
            lambda out, into: into * out // 2 + into * out // 64 + 4 * (into * out // 64 // 256),
        ),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, lambda out, into: into * out + 4 * out),
        # weight_scale_inv of every tile of 128 × 128
        (
            {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"},
            lambda out, into: into * out + 4 * (out // 128) * (into // 128),
        ),
        ({"quant_method": "fp8", "activation_scheme": "static"}, lambda out, into: into * out + 4 + 4),
        ({"quant_method": "fbgemm_fp8"}, lambda out, into: into * out + 4 * out),
        ({"quant_method": "eetq"}, lambda out, into: into * out + 2 * out),
        ({"quant_method": "bitnet"}, lambda out, into: into * out // 4 + 2),
        (
            {"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4, "group_size": 64}}},
            lambda out, into: into * out // 2 + into // 64 * out * (2 + 2),
        ),
        ({"quant_method": "quanto", "weights": "int8"}, lambda out, into: into * out + 2 * out),
        (
            {"quant_method": "torchao", "quant_type": "int4_weight_only", "quant_type_kwargs": {"group_size": 32}},
            lambda out, into: into * out // 2 + into // 32 * out * (2 + 2),
        ),
        # codes of 16 bits for 8 weights, a book of 65,536 × 8 numbers, a scale a row
        (
            {
                "quant_method": "aqlm",
                "num_codebooks": 1,
                "nbits_per_codebook": 16,
                "in_group_size": 8,
                "out_group_size": 1,
            },
            lambda out, into: 2 * out * into // 8 + 2 * 65536 * 8 + 2 * out,
        ),
        # weight_packed, weight_scale in bf16, weight_shape of two int64
        (tensors(INT4, "pack-quantized"), lambda out, into: into * out // 2 + 2 * into // 128 * out + 16),
        (
            tensors({**INT4, "symmetric": False}, "pack-quantized"),
            lambda out, into: into * out // 2 + into // 128 * (2 * out + out // 2) + 16,
        ),
        (tensors(FLOAT8, "float-quantized"), lambda out, into: into * out + 2 * out),
        (tensors(NVFP4, "nvfp4-pack-quantized"), lambda out, into: into * out // 2 + into * out // 16 + 4),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, lambda out, into: into * out + 4 + 4),
    ],
)
def test_every_linear_layer_takes_what_its_method_stores(tmp_path: Path, quantised: Fields, size: Any) -> None:
    """The table, the head and the norms stay as they are."""
    assert weights(tmp_path, LLAMA, quantised) == REST + each(BLOCK, size)


def half(out: int, into: int) -> int:
    return into * out // 2 + into // 128 * (out // 2 + 2 * out)


@pytest.mark.parametrize(
    ("skipped", "attention", "mlp"),
    [
        (["self_attn"], 0, LAYERS),
        (["lm_head", "model.layers.0", "model.layers.3"], LAYERS - 2, LAYERS - 2),
        (["model.layers.1.mlp", "language_model.model.layers.2.self_attn.o_proj"], LAYERS, LAYERS - 1),
        (["re:.*[.](0|1)[.]mlp[.].*"], LAYERS, LAYERS - 2),
        (["*.mlp.*"], LAYERS, 0),
        (["mlp.gate", "vision_tower"], LAYERS, LAYERS),
    ],
)
def test_modules_that_a_list_names_stay_as_they_are(
    tmp_path: Path, skipped: list[str], attention: int, mlp: int
) -> None:
    """By parts of a name between dots, by whole names, by expressions; `mlp.gate` is no `mlp.gate_proj`."""
    awq = {"quant_method": "awq", "bits": 4, "group_size": 128, "modules_to_not_convert": skipped}
    both = [(attention, ATTENTION), (mlp, MLP)]
    packed = sum(number * half(*one) for number, matrices in both for one in matrices)
    plain = sum((LAYERS - number) * 2 * rows * columns for number, matrices in both for rows, columns in matrices)
    alone = half(D, D) - 2 * D * D if "o_proj" in skipped[-1] else 0
    assert weights(tmp_path, LLAMA, awq) == REST + packed + plain - alone


@pytest.mark.parametrize(
    "only",
    [
        {
            "modules_in_block_to_quantize": [
                ["self_attn.q_proj", "self_attn.k_proj"],
                ["self_attn.v_proj", "self_attn.o_proj"],
            ]
        },
        {"dynamic": {r"-:.*\.mlp\..*": {}}},
    ],
)
def test_gptq_may_name_what_it_quantises_or_what_not(tmp_path: Path, only: Fields) -> None:
    """By lists of modules in a block, or by expressions with a minus."""
    quantised = {"quant_method": "gptq", "bits": 4, "group_size": 128, **only}
    packed = each(ATTENTION, lambda out, into: half(out, into) + 4 * into)
    assert weights(tmp_path, LLAMA, quantised) == REST + packed + each(MLP, lambda out, into: 2 * out * into)


def packed(bits: int, group: int, beside: int) -> Any:
    """A matrix in so many bits, with so many more for each group."""
    return lambda out, into: into * out * bits // 8 + into // group * out * beside // 8


def indexed(bits: int, group: int) -> Any:
    return lambda out, into: packed(bits, group, 16 + bits)(out, into) + 4 * into


GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 128}
DOWN, VALUE = [(D, FFN)], [(D // 4, D)]
BUT_DOWN = [*ATTENTION, (FFN, D), (FFN, D)]
BUT_VALUE = [(D, D), (D // 4, D), (D, D), *MLP]


@pytest.mark.parametrize("rule", [".*down_proj.*", r"+:.*\.down_proj$"])
def test_gptq_widths_module_by_module(tmp_path: Path, rule: str) -> None:
    """A rule of `dynamic` has its own width and group."""
    quantised = {**GPTQ, "dynamic": {rule: {"bits": 8, "group_size": 32}}}
    expected = REST + each(BUT_DOWN, indexed(4, 128)) + each(DOWN, indexed(8, 32))
    assert weights(tmp_path, LLAMA, quantised) == expected
    name = "gptq int4, group 128 and int8, group 32"
    assert any(name in str(words) for words in load(tmp_path / "config.json").memory(seq=32).assumptions)


def test_a_rule_for_values_is_none_for_queries(tmp_path: Path) -> None:
    """Though `qkv_proj`, which other families have for all three, ends in `v_proj`."""
    quantised = {**GPTQ, "dynamic": {".*v_proj.*": {"bits": 8}}}
    expected = REST + each(BUT_VALUE, indexed(4, 128)) + each(VALUE, indexed(8, 128))
    assert weights(tmp_path, LLAMA, quantised) == expected


def test_the_first_rule_of_gptq_that_matches_counts(tmp_path: Path) -> None:
    """One layer in 8 bits, by its number; then what is left as it is."""
    quantised = {**GPTQ, "dynamic": {r".*\.2\..*down_proj": {"bits": 8}, "-:.*down_proj": {}}}
    plain = (LAYERS - 1) * 2 * D * FFN
    expected = REST + each(BUT_DOWN, indexed(4, 128)) + indexed(8, 128)(D, FFN) + plain
    assert weights(tmp_path, LLAMA, quantised) == expected


def test_auto_round_widths_module_by_module(tmp_path: Path) -> None:
    """By whole names or expressions; 16 bits are as they are, and a head that is named is quantised too."""
    extra = {f"model.layers.{layer}.mlp.down_proj": {"bits": 8, "group_size": 32} for layer in range(LAYERS)}
    quantised = {"quant_method": "auto-round", "bits": 4, "group_size": 128, "extra_config": extra}
    expected = REST + each(BUT_DOWN, packed(4, 128, 20)) + each(DOWN, packed(8, 32, 24))
    assert weights(tmp_path, LLAMA, quantised) == expected
    quantised["extra_config"] = {".*down_proj.*": {"bits": 8, "group_size": 32}}
    assert weights(tmp_path, LLAMA, quantised) == expected
    quantised["extra_config"] = {".*down_proj.*": {"bits": 16}, "lm_head": {"bits": 8}}
    head = packed(8, 128, 24)(VOCAB, D) - 2 * VOCAB * D
    plain = each(DOWN, lambda out, into: 2 * out * into)
    assert weights(tmp_path, LLAMA, quantised) == REST + head + each(BUT_DOWN, packed(4, 128, 20)) + plain


def test_hqq_settings_for_layers_by_name(tmp_path: Path) -> None:
    """Layers without any are not quantised."""
    by_name = {"mlp.down_proj": {"weight_quant_params": {"nbits": 8, "group_size": 32}}}
    by_name |= {"self_attn.v_proj": {"weight_quant_params": {"nbits": 4, "group_size": 64}}}
    two = each(DOWN, packed(8, 32, 32)) + each(VALUE, packed(4, 64, 32))
    plain = each([(D, D), (D // 4, D), (D, D), (FFN, D), (FFN, D)], lambda out, into: 2 * out * into)
    assert weights(tmp_path, LLAMA, {"quant_method": "hqq", "quant_config": by_name}) == REST + two + plain


@pytest.mark.parametrize("method", [{"quant_method": "bitsandbytes"}, {}])
def test_bitsandbytes_in_neither_width_is_not_quantised(tmp_path: Path, method: Fields) -> None:
    """Nor does any note say that it is."""
    quantised = {**method, "load_in_4bit": False, "load_in_8bit": False}
    assert weights(tmp_path, LLAMA, quantised) == REST + each(BLOCK, lambda out, into: 2 * out * into)
    assert not any("quantised" in str(words) for words in load(tmp_path / "config.json").params().assumptions)


UNCOUNTED = {
    "bits is missing, and gptq": {"quant_method": "gptq", "group_size": 128},
    "bits is missing, and awq": {"quant_method": "awq", "group_size": 128},
    "modules_in_block_to_quantize and widths in dynamic": {
        **GPTQ,
        "modules_in_block_to_quantize": [["self_attn.q_proj"]],
        "dynamic": {".*q_proj": {"bits": 8}},
    },
}


@pytest.mark.parametrize(("told", "quantised"), UNCOUNTED.items())
def test_what_cannot_be_counted_is_named(tmp_path: Path, told: str, quantised: Fields) -> None:
    """Bytes are refused, parameters are not."""
    with pytest.raises(InputError, match=told):
        weights(tmp_path, LLAMA, quantised)
    assert load(tmp_path / "config.json").params().total > 0


@pytest.mark.parametrize("said", [[1], "awq", 4])
def test_what_is_no_object_is_a_mistake(tmp_path: Path, said: Any) -> None:
    with pytest.raises(InputError, match="expected an object"):
        weights(tmp_path, LLAMA, said)


def test_an_explicit_format_wins(tmp_path: Path) -> None:
    quantised = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    assert weights(tmp_path, LLAMA, quantised, weights="bf16") == REST + each(BLOCK, lambda out, into: 2 * out * into)


@pytest.mark.parametrize("command", ["memory", "fit"])
def test_the_choice_is_told(run: Run, write: Write, command: str) -> None:
    """Where the format comes from, and what changes it."""
    quantised = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    answer = run(command, write(json.dumps({**LLAMA, "quantization_config": quantised}), "config.json"))
    assert "weights: gptq int4, group 128, from quantization_config; --weights changes it" in answer.out


@pytest.mark.parametrize("quantised", [{"quant_method": "vptq"}, {"quant_method": "quark"}, {"bits": 3}])
def test_a_method_that_is_not_known_is_named_and_not_guessed(tmp_path: Path, quantised: Fields) -> None:
    """Parameters are counted all the same, and so are bytes in a format that is asked for."""
    with pytest.raises(InputError, match="is not known to archcalc"):
        weights(tmp_path, LLAMA, quantised)
    assert weights(tmp_path, LLAMA, quantised, weights="int8") > 0
    report = load(tmp_path / "config.json").params()
    assert report.total > 0
    notes = " ".join(map(str, report.assumptions))
    assert "is not known to archcalc, so --weights must say what to count" in notes
    assert "counts what they take" not in notes


@pytest.mark.parametrize(
    "bad", [{"bits": "four"}, {"group_size": 1.5}, {"bits": True}, {"bits": 4, "dynamic": {".*": {"bits": "8"}}}]
)
def test_a_value_of_the_wrong_kind_is_a_mistake(tmp_path: Path, bad: Fields) -> None:
    with pytest.raises(InputError, match="of a kind that gptq takes"):
        weights(tmp_path, LLAMA, {"quant_method": "gptq", **bad})


def test_training_does_not_quantise(run: Run, write: Write) -> None:
    """LoRA over quantised weights is asked for by --weights; the config alone does not choose it."""
    quantised = {"quant_method": "awq", "bits": 4, "group_size": 128}
    file = write(json.dumps({**LLAMA, "quantization_config": quantised}), "config.json")
    answer = run("memory", file, "--mode", "train", "--format", "json").json
    assert answer["states"]["weights"] == REST + each(BLOCK, lambda out, into: 2 * out * into)
    assert any("not as they are stored (awq int4, group 128)" in words for words in texts(answer))


def test_experts_alone_are_mxfp4_in_gpt_oss(tmp_path: Path) -> None:
    """The preset's 12.8 GiB, from a config; biases and the router stay in bf16."""
    config = {"model_type": "gpt_oss", "architectures": ["GptOssForCausalLM"], "torch_dtype": "bfloat16"}
    shape = {"num_hidden_layers": 24, "num_local_experts": 32}
    left = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]
    quantised = {"quant_method": "mxfp4", "modules_to_not_convert": left}
    expected = load("gpt-oss-20b").memory(weights="mxfp4_moe", precision="bf16").parts["weights"]
    assert weights(tmp_path, {**config, **shape}, quantised) == expected


MIXTURE = {
    "model_type": "qwen3_moe",
    "architectures": ["Qwen3MoeForCausalLM"],
    "hidden_size": 256,
    "intermediate_size": 512,
    "moe_intermediate_size": 128,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "num_experts": 8,
    "mlp_only_layers": [0],
    "vocab_size": 500,
    "torch_dtype": "bfloat16",
}
LATENT = {
    "model_type": "deepseek_v3",
    "architectures": ["DeepseekV3ForCausalLM"],
    "hidden_size": 256,
    "intermediate_size": 512,
    "moe_intermediate_size": 128,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "q_lora_rank": 128,
    "kv_lora_rank": 128,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 64,
    "v_head_dim": 64,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "first_k_dense_replace": 1,
    "vocab_size": 500,
    "torch_dtype": "bfloat16",
}


@pytest.mark.parametrize("config", [LLAMA, MIXTURE, LATENT], ids=["llama", "mixture", "latent"])
@pytest.mark.parametrize("skipped", [["lm_head"], ["lm_head", "model.layers.1.self_attn"]])
def test_fp8_is_what_transformers_builds(tmp_path: Path, config: Fields, skipped: list[str]) -> None:
    """Its FP8 layers in the place of linear ones, on the meta device: every parameter's bytes, scales included."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from transformers.integrations.finegrained_fp8 import replace_with_fp8_linear

    asked = transformers.FineGrainedFP8Config(modules_to_not_convert=skipped, weight_block_size=(128, 128))
    made = transformers.AutoConfig.for_model(**{key: value for key, value in config.items() if key != "architectures"})
    with torch.device("meta"):
        built = transformers.AutoModelForCausalLM.from_config(made, dtype=torch.bfloat16)
    built = replace_with_fp8_linear(built, skipped, asked, pre_quantized=True)
    expected = sum(tensor.numel() * tensor.element_size() for tensor in built.parameters())
    quantised = {"quant_method": "fp8", "weight_block_size": [128, 128], "modules_to_not_convert": skipped}
    buffers = 2 * 8 * 2 if config is LATENT else 0  # what steers the router, in two layers
    assert weights(tmp_path, config, quantised) - buffers == expected


def test_no_method_fails_without_its_fields() -> None:
    """A config may leave everything to a method's defaults; that of bitsandbytes is not to quantise."""
    assert METHODS["bitsandbytes"]({"quant_method": "bitsandbytes"}) is None
    for method in set(METHODS) - {"bitsandbytes"}:
        found = METHODS[method]({"quant_method": method})
        assert found is not None
        assert found.name
        assert found.unknown or found.groups or method == "compressed-tensors"


LLAMA_2_13B = {
    **LLAMA,
    "hidden_size": 5120,
    "intermediate_size": 13824,
    "num_hidden_layers": 40,
    "num_attention_heads": 40,
    "num_key_value_heads": 40,
    "vocab_size": 32000,
    "torch_dtype": "float16",
}


@pytest.mark.parametrize(
    ("quantised", "published"),
    [
        ({"quant_method": "gptq", "bits": 4, "group_size": 128}, 7.26),
        ({"quant_method": "gptq", "bits": 4, "group_size": 64}, 7.51),
        ({"quant_method": "gptq", "bits": 4, "group_size": 32}, 8.00),
        ({"quant_method": "gptq", "bits": 8, "group_size": -1}, 13.36),
        ({"quant_method": "gptq", "bits": 8, "group_size": 128}, 13.65),
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, 7.25),
    ],
)
def test_real_checkpoints_of_llama_2_13b(tmp_path: Path, quantised: Fields, published: float) -> None:
    """The tables on the model cards of TheBloke/Llama-2-13B-GPTQ and -AWQ, in GB. The GPTQ files of that time hold a
    bias of zeros beside every matrix, 4 MB in all, which the model does not have."""
    assert weights(tmp_path, LLAMA_2_13B, quantised) / 10**9 == pytest.approx(published, abs=0.009)


def test_experts_of_kimi_k2_thinking(tmp_path: Path) -> None:
    """The checkpoint has 594 GB: routed experts in int4, groups of 32, and everything else in bf16."""
    shape = {
        "vocab_size": 163840,
        "hidden_size": 7168,
        "intermediate_size": 18432,
        "moe_intermediate_size": 2048,
        "num_hidden_layers": 61,
        "num_attention_heads": 64,
        "num_key_value_heads": 64,
        "q_lora_rank": 1536,
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "v_head_dim": 128,
        "n_routed_experts": 384,
    }
    ignored = ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*", r"re:.*mlp\.(gate|up|gate_up|down)_proj.*"]
    quantised = tensors({**INT4, "group_size": 32}, "pack-quantized", ignore=ignored)
    assert round(weights(tmp_path, {**LATENT, **shape}, quantised) / 10**9) == 594


def test_a_name_in_the_list_that_nothing_has_is_told(tmp_path: Path) -> None:
    """It may be spelled in a way that archcalc does not know; towers that are not counted are no mistake."""
    file = tmp_path / "config.json"
    for listed, told in (("model.layers.0.mixer.wide_proj", True), ("model.visual.blocks.0.attn.qkv", False)):
        quantised = {"quant_method": "awq", "bits": 4, "modules_to_not_convert": [listed]}
        file.write_text(json.dumps({**LLAMA, "quantization_config": quantised}), encoding="utf-8")
        assumptions = load(file).memory(seq=32).assumptions
        assert any(f"excludes module {listed} from quantisation" in str(words) for words in assumptions) is told


def test_what_a_config_leaves_open_is_fp16_beside_quantised_weights(tmp_path: Path) -> None:
    """The type that GPTQ and AWQ kernels take."""
    config = {key: value for key, value in LLAMA.items() if key != "torch_dtype"}
    awq = {"quant_method": "awq", "bits": 4, "group_size": 128}
    assert weights(tmp_path, config, awq) == weights(tmp_path, LLAMA, awq)


def test_a_cache_that_the_checkpoint_has_scales_for_is_told(run: Run, write: Write) -> None:
    quantised = tensors(FLOAT8, "float-quantized", kv_cache_scheme={"num_bits": 8, "type": "float"})
    answer = run("memory", write(json.dumps({**LLAMA, "quantization_config": quantised}), "config.json"))
    assert "--kv-dtype fp8 counts it that way" in " ".join(answer.out.split())


def test_a_folder_of_packed_weights_is_compared_in_bytes(tmp_path: Path) -> None:
    """A GPTQ checkpoint as AutoGPTQ writes it: every tensor by its name."""
    from support.safetensors_files import file

    config = {**LLAMA, "num_hidden_layers": 1, "hidden_size": 64, "intermediate_size": 128, "vocab_size": 100}
    shapes = {"q": (64, 64), "k": (16, 64), "v": (16, 64), "o": (64, 64)}
    names = {f"self_attn.{name}_proj": shape for name, shape in shapes.items()}
    names |= {"mlp.gate_proj": (128, 64), "mlp.up_proj": (128, 64), "mlp.down_proj": (64, 128)}
    stored: dict[str, tuple[str, list[int]]] = {
        "model.embed_tokens.weight": ("BF16", [100, 64]),
        "lm_head.weight": ("BF16", [100, 64]),
        "model.norm.weight": ("BF16", [64]),
        **{f"model.layers.0.{name}_layernorm.weight": ("BF16", [64]) for name in ("input", "post_attention")},
    }
    for name, (out, into) in names.items():
        under = f"model.layers.0.{name}"
        stored[f"{under}.qweight"] = ("I32", [into // 8, out])
        stored[f"{under}.qzeros"] = ("I32", [into // 32, out // 8])
        stored[f"{under}.scales"] = ("BF16", [into // 32, out])
        stored[f"{under}.g_idx"] = ("I32", [into])
    quantised = {"quant_method": "gptq", "bits": 4, "group_size": 32}
    expected = weights(tmp_path, config, quantised)
    (tmp_path / "model.safetensors").write_bytes(file(stored))
    notes = " ".join(map(str, load(tmp_path).memory(seq=32).assumptions))
    assert f"as the config says, and takes {expected:,} bytes, as quantization_config says" in notes


def test_each_layer_is_asked_once_for_all_its_matrices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules for layers by their numbers are matched with as many names as there are layers, not matrices."""
    asked: Counter[tuple[int, int]] = Counter()
    of_layer = Names.of_layer

    def noted(self: Names, layer: int) -> Any:
        asked[id(self), layer] += 1
        return of_layer(self, layer)

    rules = {r"+:.*\.18\..*gate.*": {"bits": 8}, "-:.*down.*": {}}
    model = load({**LLAMA, "quantization_config": {**GPTQ, "dynamic": rules}})
    monkeypatch.setattr("archcalc.storage.checkpoint.Names.of_layer", noted)
    model.memory(seq=32)
    assert {layer for _, layer in asked} == set(range(LAYERS))
    assert max(times for (_, layer), times in asked.items() if layer) < len(BLOCK)


def test_rules_for_more_layers_than_any_model_has_are_refused(run: Run, write: Write) -> None:
    deep = {**LLAMA, "num_hidden_layers": 20_000, "quantization_config": {**GPTQ, "dynamic": {"-:.*down.*": {}}}}
    answer = run("memory", write(json.dumps(deep), "config.json"))
    assert answer.code == 2
    assert "20,000 layers are too many for quantization_config" in answer.err
