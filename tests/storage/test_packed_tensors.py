"""Parameters of a file of weights are told apart from what quantisation and libraries store beside them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.assumption_texts import texts
from support.safetensors_files import WIDTHS, Tensors, file, sparse

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run, Write

OUT, INTO, GROUP = 64, 256, 128
WHOLE = OUT * INTO
Layout = dict[str, tuple[str, list[int]]]

LAYOUTS: dict[str, Layout] = {  # one matrix of 64 × 256 with a bias, as each library stores it
    "gptq": {
        "qweight": ("I32", [INTO // 8, OUT]),
        "qzeros": ("I32", [INTO // GROUP, OUT // 8]),
        "scales": ("F16", [INTO // GROUP, OUT]),
        "g_idx": ("I32", [INTO]),
    },
    "gptq in 3 bits": {
        "qweight": ("I32", [INTO * 3 // 32, OUT]),
        "qzeros": ("I32", [INTO // GROUP, OUT * 3 // 32]),
        "scales": ("F16", [INTO // GROUP, OUT]),
        "g_idx": ("I32", [INTO]),
    },
    "gptq in 8 bits, without an index": {
        "qweight": ("I32", [INTO // 4, OUT]),
        "qzeros": ("I32", [INTO // GROUP, OUT // 4]),
        "scales": ("F16", [INTO // GROUP, OUT]),
    },
    "awq": {
        "qweight": ("I32", [INTO, OUT // 8]),
        "qzeros": ("I32", [INTO // GROUP, OUT // 8]),
        "scales": ("F16", [INTO // GROUP, OUT]),
    },
    "bitsandbytes in 4 bits": {
        "weight": ("U8", [WHOLE // 2, 1]),
        "weight.absmax": ("U8", [WHOLE // 64]),
        "weight.nested_absmax": ("F32", [WHOLE // 64 // 256 + 1]),
        "weight.nested_quant_map": ("F32", [256]),
        "weight.quant_map": ("F32", [16]),
        "weight.quant_state.bitsandbytes__nf4": ("U8", [180]),
    },
    "bitsandbytes in 4 bits, stored as bf16": {
        "weight": ("BF16", [WHOLE // 4, 1]),
        "weight.absmax": ("F32", [WHOLE // 64]),
        "weight.quant_map": ("F32", [16]),
        "weight.quant_state.bitsandbytes__nf4": ("U8", [90]),
    },
    "bitsandbytes in 8 bits": {"weight": ("I8", [OUT, INTO]), "SCB": ("F32", [OUT]), "weight_format": ("U8", [])},
    "nvfp4 of ModelOpt": {
        "weight": ("U8", [OUT, INTO // 2]),
        "weight_scale": ("F8_E4M3", [OUT, INTO // 16]),
        "weight_scale_2": ("F32", []),
        "input_scale": ("F32", []),
    },
    "int4 awq of ModelOpt": {
        "weight": ("U8", [OUT // 2, INTO]),
        "weight_scale": ("F32", [OUT, INTO // GROUP]),
        "pre_quant_scale": ("BF16", [INTO]),
    },
    "nvfp4 of compressed-tensors": {
        "weight_packed": ("U8", [OUT, INTO // 2]),
        "weight_scale": ("F8_E4M3", [OUT, INTO // 16]),
        "weight_global_scale": ("F32", [1]),
        "input_global_scale": ("F32", [1]),
    },
    "compressed-tensors, asymmetric": {
        "weight_packed": ("I32", [OUT, INTO // 8]),
        "weight_scale": ("BF16", [OUT, INTO // GROUP]),
        "weight_zero_point": ("I32", [OUT // 8, INTO // GROUP]),
        "weight_shape": ("I64", [2]),
    },
    "int8 of compressed-tensors": {"weight": ("I8", [OUT, INTO]), "weight_scale": ("BF16", [OUT, 1])},
    "fp8": {"weight": ("F8_E4M3", [OUT, INTO]), "weight_scale": ("F32", []), "input_scale": ("F32", [])},
    "fp8 in blocks": {"weight": ("F8_E4M3", [OUT, INTO]), "weight_scale_inv": ("F32", [1, 2])},
    "fp8 of AMD": {"weight": ("F8_E4M3FNUZ", [OUT, INTO]), "weight_scale": ("F32", [OUT, 1])},
    "mxfp4 of Quark": {"weight": ("U8", [OUT, INTO // 2]), "weight_scale": ("U8", [OUT, INTO // 32])},
    "eetq": {"weight": ("I8", [INTO, OUT]), "weight_scales": ("F16", [OUT])},
    "bitnet": {"weight": ("U8", [OUT // 4, INTO]), "weight_scale": ("BF16", [1])},
    "aqlm": {
        "codes": ("I8", [OUT, INTO // 8, 2]),
        "codebooks": ("F16", [2, 256, 1, 8]),
        "scales": ("F16", [OUT, 1, 1, 1]),
    },
    "quanto in 8 bits": {"weight._data": ("I8", [OUT, INTO]), "weight._scale": ("BF16", [OUT, 1])},
    "mlx in 5 bits": {
        "weight": ("U32", [OUT, INTO * 5 // 32]),
        "scales": ("BF16", [OUT, INTO // 64]),
        "biases": ("BF16", [OUT, INTO // 64]),
    },
}


def placed(layout: Layout) -> Tensors:
    """In two layers of a model, beside plain parameters."""
    model: Tensors = {"model.embed_tokens.weight": ("BF16", [100, INTO]), "model.norm.weight": ("BF16", [INTO])}
    for layer in (0, 1):
        under = f"model.layers.{layer}.mlp.up_proj"
        model |= {f"{under}.{name}": tensor for name, tensor in layout.items()}
        model[f"{under}.bias"] = ("BF16", [OUT])
    return model


def size(tensors: Tensors) -> int:
    total = 0
    for kind, shape in tensors.values():
        numbers = 1
        for side in shape:
            numbers *= side
        total += WIDTHS[kind] * numbers
    return total


PLAIN = 100 * INTO + INTO + 2 * OUT


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_packed_matrix_counts_its_weights(run: Run, write: Write, name: str) -> None:
    """Scales, zeros and indices are no parameters; all bytes are counted, and `show` keeps both."""
    tensors = placed(LAYOUTS[name])
    path = write(file(tensors), "model.safetensors")
    found = run("params", path, "--format", "json").json
    assert found["total"] == PLAIN + 2 * WHOLE
    assert found["bytes"] == size(tensors)
    assert found["scales"] > 0
    assert found["buffers"] == 0
    assert "every count is exact" in texts(found)
    assert run("params", write(run("show", path).out), "--format", "json").json["total"] == found["total"]
    memory = run("memory", path, "--format", "json").json
    assert memory["parts"]["weights"] == size(tensors)


def test_symmetric_words_of_compressed_tensors_have_their_shape_in_the_file(run: Run, write: Write) -> None:
    """Neither zeros nor an index: 16 bytes of the file say the shape, and a shape that cannot be is not believed."""
    layout: Layout = {
        "weight_packed": ("I32", [OUT, INTO // 8]),
        "weight_scale": ("BF16", [OUT, INTO // GROUP]),
        "weight_shape": ("I64", [2]),
    }
    tensors = {f"up.{name}": tensor for name, tensor in layout.items()}
    shape = OUT.to_bytes(8, "little") + INTO.to_bytes(8, "little")
    path = write(file(tensors)[:-16] + shape, "model.safetensors")
    found = run("params", path, "--format", "json").json
    assert (found["total"], texts(found)[0]) == (WHOLE, "every count is exact")
    assert run("params", write(run("show", path).out), "--format", "json").json["total"] == WHOLE
    for wrong in (bytes(16), b"\xff" * 16, (2**62).to_bytes(8, "little") * 2):
        answer = run("params", write(file(tensors)[:-16] + wrong, "model.safetensors"), "--format", "json").json
        assert texts(answer)[0].startswith("not exact: ")


@pytest.mark.parametrize(
    "layout",
    [
        {"weight": ("U32", [OUT, INTO // 8]), "scales": ("BF16", [OUT, INTO // 64]), "biases": ("BF16", [OUT, 4])},
        {"W_q": ("U8", [OUT, INTO // 2]), "scale": ("F16", [512, 1]), "zero": ("F16", [512, 1])},
        {"qweight": ("I32", [INTO // 8, OUT])},
        {"indices": ("I32", [OUT, INTO])},
    ],
)
def test_where_the_number_of_weights_cannot_be_told_it_is_said(run: Run, write: Write, layout: Layout) -> None:
    """MLX's 4 bits in groups of 64 look as 8 bits in groups of 32 do; HQQ says its width in a tensor."""
    answer = run("params", write(file(placed(layout)), "model.safetensors"))
    assert "every count is exact" not in answer.out
    assert "do not show how many weights" in " ".join(answer.out.split())


BUFFERS: Tensors = {
    "bn.running_mean": ("F32", [64]),
    "bn.running_var": ("F32", [64]),
    "bn.num_batches_tracked": ("I64", []),
    "embeddings.position_ids": ("I64", [1, 512]),
    "layers.0.self_attn.rotary_emb.inv_freq": ("F32", [32]),
    "layers.0.self_attn.rotary_emb.cos_cached": ("BF16", [1, 1, 2048, 64]),
    "h.0.attn.bias": ("F32", [1, 1, 1024, 1024]),
    "gpt_neox.layers.0.attention.bias": ("BOOL", [1, 1, 2048, 2048]),
    "gpt_neox.layers.0.attention.masked_bias": ("F32", []),
    "swin.attn.relative_position_index": ("I64", [49, 49]),
    "freqs_cis": ("C64", [2048, 64]),
    "layers.0.mlp.gate.e_score_correction_bias": ("F32", [256]),
}
PARAMETERS: Tensors = {
    "bn.weight": ("F32", [64]),
    "bn.bias": ("F32", [64]),
    "logit_scale": ("F32", []),
    "layers.0.layer_scale.scale": ("F32", [64]),
    "layers.0.attn.bias": ("F32", [64]),
    "conv.bias": ("F32", [64]),
    "layers.0.ls1.gamma": ("F32", [64]),
    "spectrum": ("C64", [8, 8]),
}


def test_buffers_are_no_parameters(run: Run, write: Write) -> None:
    """Statistics, indices, masks and tables of rotary embeddings; scales that are learned are parameters."""
    both = {**BUFFERS, **PARAMETERS}
    found = run("params", write(file(both), "model.safetensors"), "--format", "json").json
    assert found["total"] == 7 * 64 - 64 + 1 + 64
    assert found["bytes"] == size(both)
    assert found["buffers"] == sum(size({name: tensor}) // WIDTHS[tensor[0]] for name, tensor in BUFFERS.items())


def test_gpt2_as_it_is_published(run: Run, tmp_path: Path) -> None:
    """The file on the Hub has 548,105,171 bytes, 50 MB of which are masks: 124,439,808 parameters in 548,090,880."""
    d = 768
    layer: Tensors = {"attn.bias": ("F32", [1, 1, 1024, 1024])}
    matrices = {"attn.c_attn": (d, 3 * d), "attn.c_proj": (d, d), "mlp.c_fc": (d, 4 * d), "mlp.c_proj": (4 * d, d)}
    for name, (rows, columns) in matrices.items():
        layer |= {f"{name}.weight": ("F32", [rows, columns]), f"{name}.bias": ("F32", [columns])}
    layer |= {f"ln_{n}.{part}": ("F32", [d]) for n in (1, 2) for part in ("weight", "bias")}
    tensors: Tensors = {"wte.weight": ("F32", [50257, d]), "wpe.weight": ("F32", [1024, d])}
    tensors |= {f"h.{n}.{name}": tensor for n in range(12) for name, tensor in layer.items()}
    tensors |= {"ln_f.weight": ("F32", [d]), "ln_f.bias": ("F32", [d])}
    path = sparse(tmp_path / "model.safetensors", tensors)
    found = run("params", str(path), "--format", "json").json
    assert (found["total"], found["bytes"]) == (124_439_808, 548_090_880)


def test_the_note_lists_what_the_bytes_are(run: Run, write: Write) -> None:
    tensors = {**placed(LAYOUTS["awq"]), "model.rotary_emb.inv_freq": ("F32", [64])}
    out = " ".join(run("params", write(file(tensors), "model.safetensors")).out.split())
    assert f"{2 * WHOLE:,} weights packed into {2 * WHOLE // 8:,} numbers as int32 in {WHOLE:,} bytes" in out
    assert "scales and zeros of quantised weights: " in out
    assert "buffers: 64 numbers as fp32 in 256 bytes" in out


def test_experts_in_one_tensor(run: Run, write: Write) -> None:
    """gpt-oss in MXFP4, and NVFP4 with scales under longer names."""
    tensors: Tensors = {
        "experts.gate_up_proj_blocks": ("U8", [4, 64, 8, 16]),
        "experts.gate_up_proj_scales": ("U8", [4, 64, 8]),
        "experts.gate_up_proj_bias": ("BF16", [4, 64]),
        "others.gate_up_proj": ("U8", [4, 64, 128]),
        "others.gate_up_proj_weight_scale": ("F8_E4M3", [4, 64, 16]),
        "others.gate_up_proj_weight_scale_2": ("F32", [4]),
        "others.gate_up_proj_input_scale": ("F32", [4]),
    }
    found = run("params", write(file(tensors), "model.safetensors"), "--format", "json").json
    assert found["total"] == 2 * 4 * 64 * 256 + 4 * 64
    assert json.dumps(found["assumptions"]).count("not exact") == 0


def test_a_file_of_buffers_alone_has_no_weights(run: Run, write: Write) -> None:
    answer = run("memory", write(file(BUFFERS), "model.safetensors"))
    assert answer.code == 2
    assert "there are no weights to count: its tensors are all buffers" in answer.err
