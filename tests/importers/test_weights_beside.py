"""Weights beside a config: memory counts the bytes of their files, and a difference is told only where there is one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.assumption_texts import texts
from support.safetensors_files import CONFIG, COUNTED, WEIGHTS, WIDTHS, Tensors, file

if TYPE_CHECKING:
    from conftest import Run, Write

PLAIN = {**CONFIG, "torch_dtype": "bfloat16"}


def folder(write: Write, tensors: Tensors, config: dict[str, Any] = PLAIN) -> None:
    write(json.dumps(config), "config.json")
    write(file(tensors), "model.safetensors")


def taken(tensors: Tensors) -> int:
    total = 0
    for kind, shape in tensors.values():
        numbers = 1
        for side in shape:
            numbers *= side
        total += WIDTHS[kind] * numbers
    return total


def memory(run: Run, *options: str) -> Any:
    return run("memory", ".", "--overhead", "0", "--format", "json", *options).json


def notes(run: Run) -> str:
    return " ".join(run("params", ".").out.split())


def test_memory_and_fit_count_the_bytes_of_the_files(run: Run, write: Write) -> None:
    """Some tensors in fp32, which no field of the config says; rows of layers add up to the same."""
    tensors = {**WEIGHTS, "model.embed_tokens.weight": ("F32", [100, 8])}
    folder(write, tensors)
    found = memory(run, "--depth", "9")
    assert found["parts"]["weights"] == taken(tensors) == 2 * COUNTED + 2 * 800
    assert any("model.safetensors" in words for words in texts(found))
    assert run("params", ".", "--format", "json").json["stored_bytes"] == taken(tensors)
    assert "1,600 more than the config's precision gives" in notes(run)
    fitting = run("fit", ".", "--gpu", "rtx-4090", "--format", "json")
    assert fitting.code == 0
    assert "model.safetensors" in fitting.out
    assert memory(run, "--weights", "bf16")["parts"]["weights"] == 2 * COUNTED
    assert memory(run, "--precision", "fp32")["parts"]["weights"] == 4 * COUNTED


def test_the_share_of_one_gpu_is_said_to_be_an_assumption(run: Run, write: Write) -> None:
    tensors = {**WEIGHTS, "model.embed_tokens.weight": ("F32", [100, 8])}
    folder(write, tensors)
    half = memory(run, "--tp", "2")
    assert taken(tensors) // 2 <= half["parts"]["weights"] < taken(tensors)
    assert any("splits the weight files" in words for words in texts(half))
    folder(write, WEIGHTS)  # which are as the config says, and split as it says
    assert not any("splits the weight files" in words for words in texts(memory(run, "--tp", "2")))


def test_files_that_hold_what_the_config_says_are_compared(run: Run, write: Write) -> None:
    folder(write, WEIGHTS)
    assert f"holds {COUNTED:,} weights, as the config says, and takes {2 * COUNTED:,} bytes" in notes(run)


def test_a_config_without_a_dtype_has_that_of_its_weights(run: Run, write: Write) -> None:
    folder(write, {name: ("F16", shape) for name, (_, shape) in WEIGHTS.items()}, CONFIG)
    found = run("params", ".", "--format", "json").json
    assert (found["bytes"], memory(run)["parts"]["weights"]) == (2 * COUNTED, 2 * COUNTED)


@pytest.mark.parametrize("name", ["lm_head.weight", "output.weight", "model.lm_head.weight"])
def test_a_copy_of_a_tied_head_is_no_difference(run: Run, write: Write, name: str) -> None:
    """It is skipped when the model is loaded."""
    folder(write, {**WEIGHTS, name: ("BF16", [100, 8])})
    assert f"holds {COUNTED:,} weights, as the config says" in notes(run)
    assert "also holds a copy of the tied head, 800 weights in 1,600 bytes" in notes(run)
    assert memory(run)["parts"]["weights"] == 2 * COUNTED


def test_a_head_that_the_config_does_not_have_is_a_difference(run: Run, write: Write) -> None:
    folder(write, {**WEIGHTS, "score.weight": ("BF16", [2, 8])})
    assert f"holds {COUNTED + 16:,} weights, 16 more than the config says: score.weight is as large as that" in notes(
        run
    )


def test_buffers_are_no_difference(run: Run, write: Write) -> None:
    """Old checkpoints of Llama hold a table of frequencies in every layer."""
    folder(write, {**WEIGHTS, "model.layers.0.self_attn.rotary_emb.inv_freq": ("F32", [2])})
    assert f"holds {COUNTED:,} weights, as the config says" in notes(run)
    assert memory(run)["parts"]["weights"] == 2 * COUNTED


@pytest.mark.parametrize("under", ["model.layers.1.", "mtp.layers.0.", "model.mtp."])
def test_layers_that_predict_further_tokens_are_no_difference(run: Run, write: Write, under: str) -> None:
    further: Tensors = {f"{under}{name}.weight": ("BF16", [8, 8]) for name in ("eh_proj", "self_attn.q_proj")}
    folder(write, {**WEIGHTS, **further})
    assert f"holds {COUNTED:,} weights, as the config says" in notes(run)
    assert "also holds layers that predict further tokens, 128 weights in 256 bytes" in notes(run)


def test_encoders_that_the_count_leaves_out_are_told_apart(run: Run, write: Write) -> None:
    text = {key: value for key, value in CONFIG.items() if key != "architectures"}
    config: dict[str, Any] = {
        "model_type": "lighton_ocr",
        "architectures": ["LightOnOcrForConditionalGeneration"],
        "torch_dtype": "bfloat16",
    }
    config |= {"text_config": text, "vision_config": {"model_type": "pixtral"}, "tie_word_embeddings": True}
    tower: Tensors = {"vision_tower.vision_model.encoder.layers.0.self_attn.q_proj.weight": ("BF16", [4, 4])}
    tower |= {"multi_modal_projector.linear_1.weight": ("BF16", [8, 4])}
    folder(write, {**{f"language_model.{name}": tensor for name, tensor in WEIGHTS.items()}, **tower}, config)
    assert f"holds {COUNTED:,} weights, as the config says" in notes(run)
    assert "also holds the parts that the count leaves out, 48 weights in 96 bytes" in notes(run)


def test_packed_weights_are_compared_by_what_they_stand_for(run: Run, write: Write) -> None:
    """The config names no method: the file's bytes are counted all the same."""
    tensors = dict(WEIGHTS)
    del tensors["model.layers.0.mlp.up_proj.weight"]
    under = "model.layers.0.mlp.up_proj"
    tensors |= {
        f"{under}.qweight": ("I32", [1, 16]),
        f"{under}.scales": ("F16", [1, 16]),
        f"{under}.g_idx": ("I32", [8]),
    }
    folder(write, tensors)
    assert f"holds {COUNTED:,} weights, as the config says" in notes(run)
    assert memory(run)["parts"]["weights"] == taken(tensors)


def test_a_method_that_is_not_known_has_the_bytes_of_its_files(run: Run, write: Write) -> None:
    folder(write, WEIGHTS, {**PLAIN, "quantization_config": {"quant_method": "vptq"}})
    assert memory(run)["parts"]["weights"] == 2 * COUNTED
    assert f"has {2 * COUNTED:,} bytes of tensors" in run("show", ".").out


def test_a_changed_spec_is_counted_by_rule(run: Run, write: Write) -> None:
    """What the files hold is theirs: with twice the tokens the config's precision decides, and that is said."""
    folder(write, {**WEIGHTS, "model.embed_tokens.weight": ("F32", [100, 8])})
    change = ("--set", "vocab=200")
    found, whole = memory(run, *change), run("params", ".", *change, "--format", "json").json["total"]
    assert found["parts"]["weights"] == 2 * whole
    assert any("follow from the spec" in words for words in texts(found))
    assert not any("model.safetensors" in words for words in texts(found))


def test_what_show_prints_says_which_bytes_it_leaves_behind(run: Run, write: Write) -> None:
    tensors = {**WEIGHTS, "model.embed_tokens.weight": ("F32", [100, 8])}
    folder(write, tensors)
    shown = run("memory", write(run("show", ".").out, "shown.yaml"), "--format", "json").json
    assert shown["parts"]["weights"] == 2 * COUNTED
    assert any(f"has {taken(tensors):,} bytes of tensors" in words for words in texts(shown))


@pytest.mark.parametrize("options", [(), ("--tp", "2"), ("--precision", "fp32")])
def test_quantised_weights_that_differ_from_their_config_have_their_own_bytes(
    run: Run, write: Write, options: tuple[str, ...]
) -> None:
    """A list leaves a module as it is that the file quantises, and the other way round."""
    method = {"quant_method": "fp8", "weight_block_size": [8, 8], "modules_to_not_convert": ["mlp"]}
    folder(write, WEIGHTS, {**PLAIN, "quantization_config": method})
    found = memory(run, *options)["parts"]["weights"]
    assert found == 2 * COUNTED if "--tp" not in options else COUNTED <= found < 2 * COUNTED
    assert "more than quantization_config says" in notes(run)
