"""Files that others wrote: absurd, ambiguous or hostile ones are told in one message, or counted; nothing breaks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.safetensors_files import file

if TYPE_CHECKING:
    from conftest import Run, Write

LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 100,
}


@pytest.mark.parametrize(
    "said",
    [
        {"quant_method": "gptq", "bits": -4},
        {"quant_method": "gptq", "bits": 10**30},
        {"quant_method": "awq", "bits": 4, "group_size": 10**30},
        {"quant_method": "fp8", "weight_block_size": [0, 128]},
        {"quant_method": "fp8", "weight_block_size": [-1, 128]},
        {"quant_method": "aqlm", "nbits_per_codebook": 10**9},
        {"quant_method": "aqlm", "num_codebooks": 0},
    ],
)
def test_widths_that_no_method_has(run: Run, write: Write, said: dict[str, Any]) -> None:
    answer = run("memory", write(json.dumps({**LLAMA, "quantization_config": said}), "config.json"))
    assert (answer.code, answer.out) == (2, "")
    assert "config.json: quantization_config: a value has the wrong type for" in answer.err


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("rope_theta", "x", 'rope_theta: expected a number above 0, found "x"'),
        ("rope_theta", -1, "rope_theta: expected a number above 0, found -1"),
        ("rope_theta", [1], "rope_theta: expected a number above 0, found [1]"),
        ("max_position_embeddings", "64", "max_position_embeddings: expected a whole number"),
        ("max_position_embeddings", [], "max_position_embeddings: expected a whole number"),
    ],
)
def test_a_value_is_told_by_the_name_that_the_file_has(
    run: Run, write: Write, key: str, value: object, told: str
) -> None:
    answer = run("params", write(json.dumps({**LLAMA, key: value}), "config.json"))
    assert answer.code == 2
    assert answer.err.startswith(f"error: config.json: {told}")


def test_a_dtype_that_is_not_known_is_said(run: Run, write: Write) -> None:
    answer = run("params", write(json.dumps({**LLAMA, "torch_dtype": "float9"}), "config.json"))
    assert "dtype float9 is unknown and ignored: archcalc knows" in answer.out


def test_a_key_with_two_values_is_refused(run: Run, write: Write) -> None:
    """Two equal ones say nothing wrong."""
    twice = json.dumps(LLAMA).replace('"vocab_size": 100', '"vocab_size": 100, "vocab_size": 200')
    answer = run("params", write(twice, "config.json"))
    assert (answer.code, answer.err) == (
        2,
        "error: config.json: vocab_size: given twice, with two values\n  keep one of the two\n",
    )
    assert run("params", write(twice.replace("200", "100"), "config.json")).code == 0


def test_a_config_that_is_not_json_is_told_with_its_line(run: Run, write: Write) -> None:
    answer = run("params", write(json.dumps(LLAMA, indent=1).replace("64,", "64"), "config.json"))
    assert answer.code == 2
    assert answer.err.startswith("error: config.json:7: not valid JSON: Expecting ',' delimiter\n  7 | ")


def test_a_name_of_a_thousand_parts_is_counted(run: Run, write: Write) -> None:
    deep = ".".join("a" * 1000)
    assert run("params", write(file({deep: ("F32", [2, 2])}), "m.safetensors"), "--format", "json").json["total"] == 4


def test_a_tensor_beside_those_below_its_name_is_not_lost(run: Run, write: Write) -> None:
    stored = {"a": ("F32", [2, 2]), "b": ("F32", [2, 2]), "a.b": ("F32", [2, 2])}
    assert run("params", write(file(stored), "m.safetensors"), "--format", "json").json["total"] == 3 * 4


def test_a_tensor_that_stands_twice_is_refused(run: Run, write: Write) -> None:
    entry = '"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}'
    header = f"{{{entry},{entry}}}".encode()
    answer = run("params", write(len(header).to_bytes(8, "little") + header + bytes(4), "m.safetensors"))
    assert "a stands in its header twice" in answer.err


def test_no_command_for_the_terminal_gets_through(run: Run, write: Write) -> None:
    """A title of a window, a colour: names come from files."""
    named = 'name: "\\e]0;mine\\a\\e[31m"\nvocab: 10\nd_model: 8\nheads: 2\nffn: 8\ndecoder: 1\n'
    assert "\x1b" not in run("params", write(named)).out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["fit", "gpt2", "--gpu", "24"], "did you mean 24GB?"),
        (["fit", "gpt2", "--gpu", "zzzzzz"], "`archcalc gpus` lists all"),
        (["gpus", "h1000"], "error: gpus: no device is called h1000\n  did you mean h100"),
        (["memory", "gpt2", "--mode", "train", "--lora", "4", "--freeze", "ffn"], "leave --freeze out"),
        (["flops", "gpt2", "--lora", "4", "--freeze", "ffn"], "leave --freeze out"),
    ],
)
def test_a_way_out_is_named(run: Run, arguments: list[str], told: str) -> None:
    answer = run(*arguments)
    assert answer.code == 2
    assert told in answer.err
    assert "choose from" not in answer.err


HARD = ["([a-z_.0-9]+)+x$", "((a|[a-z_.0-9])*)*x", "(l|l|.)+x", ".*" * 20 + "x", ".*" * 6 + "x", ".?" * 24 + "x$"]


@pytest.mark.parametrize("expression", HARD)
def test_an_expression_over_which_others_hang_is_matched(expression: str, run: Run, write: Write) -> None:
    """Lists of modules may hold expressions, and some take `re` longer to match than the sun shines."""
    said = {"quant_method": "gptq", "bits": 4, "dynamic": {f"-:{expression}": {}}}
    answer = run("memory", write(json.dumps({**LLAMA, "quantization_config": said}), "config.json"))
    assert answer.code == 0


@pytest.mark.parametrize("expression", [r"(q|k)_\1", "(?<!mlp)gate", "(?i)MLP", "(?>a+)b", "((x{99}){99}){99}"])
def test_an_expression_that_needs_more_is_refused_in_words(expression: str, run: Run, write: Write) -> None:
    said = {"quant_method": "gptq", "bits": 4, "dynamic": {f"-:{expression}": {}}}
    answer = run("memory", write(json.dumps({**LLAMA, "quantization_config": said}), "config.json"))
    assert answer.code == 2
    assert f"config.json: quantization_config: the expression {expression} is not matched: " in answer.err


def test_an_expression_as_people_write_it_is_matched(run: Run, write: Write) -> None:
    """Alternatives and stars, none within another: the first of two layers keeps its attention as it was."""

    def weights(**rules: Any) -> int:
        said = {"quant_method": "gptq", "bits": 4, **rules}
        name = write(json.dumps({**LLAMA, "quantization_config": said}), "config.json")
        return int(run("memory", name, "--format", "json").json["parts"]["weights"])

    first = weights(dynamic={r"-:.*\.(0|7)\.self_attn\.(?:q|k|v|o)_proj.*": {}})
    assert first == weights(modules_to_not_convert=["model.layers.0.self_attn"]) > weights()
