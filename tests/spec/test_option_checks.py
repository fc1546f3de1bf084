"""Python's functions take what the command line takes, and refuse the rest in the same words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import archcalc
from archcalc import InputError
from archcalc.analyze.compare.answer import compare
from archcalc.analyze.memory.answer import Memory
from archcalc.catalog.gpus import gpus
from archcalc.catalog.presets import presets
from archcalc.run.options import Options, options_of

GPT2 = archcalc.load("gpt2")
PAIR = [("a", GPT2), ("b", GPT2)]
SIZES = ("batch", "seq", "src_seq", "tgt_seq", "context")
SHOWN = ("explain", "names", "depth")


def options_for(command: str) -> tuple[str, ...]:
    return tuple(name for name, _ in options_of(command))


# Every function that a user may call, as a call with options by name, and the options that it has.
ASKED: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "params": (GPT2.params, (*SHOWN, *options_for("params"))),
    "shapes": (GPT2.shapes, (*SIZES[:4], "symbolic", "parameters", "depth")),
    "flops": (GPT2.flops, (*SHOWN, *options_for("flops"))),
    "memory": (GPT2.memory, ("depth", "timeline", *options_for("memory"))),
    "fit": (lambda **options: archcalc.fit(GPT2, **options), ("gpus", *options_for("fit"))),
    "plot": (
        lambda **options: GPT2.plot(**{"x": "kv_dtype=bf16,fp8", **options}),
        ("x", "y", "by", "gpus", "log", "linear", *options_for("plot")),
    ),
    "kernel": (GPT2.kernel, ("seq", "v_dim")),
    "workload": (GPT2.workload, (*SIZES, "mode", "attention")),
    "Memory": (lambda **options: Memory(GPT2, **options).at(), options_for("memory")),
    "Memory.at": (Memory(GPT2).at, (*SIZES, "depth", "timeline")),
    "Memory.total": (Memory(GPT2).total, SIZES),
    "load": (lambda **options: archcalc.load(**{"model": "gpt2", **options}), ("model", "set", "trace")),
    "compare": (
        lambda **options: compare(PAIR, **options),
        ("metric", "depth", "notes"),
    ),
    "gpus": (gpus, ("name", "maker", "kind", "min_memory")),
    "presets": (presets, ("family", "modality", "year", "min_params", "max_params")),
}
EVERY_OPTION = [(function, option) for function, (_, options) in ASKED.items() for option in options]
KNOWN = {*SIZES, *SHOWN, "symbolic", "parameters", "timeline", "trace", "v_dim", "gpus", "set", "metric", "model"}
KNOWN |= {*(name for command in ("flops", "memory") for name, _ in options_of(command))}
NONSENSE = {
    "a negative number": -3,
    "a fraction": 1.5,
    "no number": float("nan"),
    "bytes": b"1",
    "a mapping": {"a": 1},
    "a list of nothing": [None],
    "an object": object(),
    "a number of 5001 digits": 10**5000,
    "an array": np.arange(3),
}


@pytest.mark.parametrize(("function", "option"), EVERY_OPTION)
def test_no_option_takes_what_makes_no_sense(function: str, option: str) -> None:
    call, _ = ASKED[function]
    for name, value in NONSENSE.items():
        with pytest.raises(InputError) as refused:
            call(**{option: value})
            pytest.fail(f"{name} passes")
        assert len(refused.value.told()) < 400
        if option in KNOWN and option != "model":
            assert refused.value.field == f"--{option.replace('_', '-')}"


@pytest.mark.wide(9)
@pytest.mark.parametrize(("function", "option"), [pair for pair in EVERY_OPTION if pair[1] in KNOWN])
def test_nothing_given_is_an_option_left_out(function: str, option: str) -> None:
    call, _ = ASKED[function]
    if option != "model":
        call(**{option: None})


@pytest.mark.parametrize("function", ASKED)
def test_an_option_that_is_not_there_is_named(function: str) -> None:
    with pytest.raises(InputError, match="no option called no_such_option"):
        ASKED[function][0](no_such_option=1)


@pytest.mark.parametrize("function", [GPT2.params, GPT2.shapes, GPT2.flops, GPT2.memory, GPT2.kernel, GPT2.workload])
def test_options_go_by_name(function: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match="too many positional arguments"):
        function(8)


@pytest.mark.parametrize("option", ["batch", "seq", "accumulate", "tp", "dp", "cp", "lora", "loss_chunks", "prefill"])
@pytest.mark.parametrize("value", [0, -1, True, "", "many", "1.5", 10**16, np.float64(2)], ids=str)
def test_a_size_is_a_whole_number_from_1_up(option: str, value: Any) -> None:
    mode = "infer" if option == "prefill" else "train"
    with pytest.raises(InputError) as refused:
        GPT2.memory(mode=mode, **{option: value})
    assert refused.value.field == f"--{option.replace('_', '-')}"
    assert "expected a" in refused.value.fact


@pytest.mark.parametrize("value", [512, "512", "0.5Ki", np.int64(512), np.uint16(512)], ids=repr)
def test_a_size_may_be_written_as_on_the_command_line_or_be_an_integer_of_numpy(value: Any) -> None:
    assert GPT2.flops(seq=value).total == GPT2.flops(seq=512).total
    assert archcalc.fit(GPT2, "8GiB", seq=value).memory.total_bytes == GPT2.memory(seq=512).total_bytes


def test_bytes_may_be_written_as_on_the_command_line() -> None:
    assert GPT2.memory(overhead="1GiB").total_bytes - GPT2.memory(overhead=0).total_bytes == 2**30


def test_names_may_be_a_list_or_a_text() -> None:
    listed = GPT2.memory(mode="train", lora=4, lora_targets=["q", "k"])
    assert GPT2.memory(mode="train", lora=4, lora_targets="q, k").total_bytes == listed.total_bytes


@pytest.mark.parametrize("option", ["weights", "recompute", "optimizer", "lora_targets", "kv_dtype", "precision"])
def test_an_empty_text_is_not_an_option_left_out(option: str) -> None:
    with pytest.raises(InputError, match=f"--{option.replace('_', '-')}: expected"):
        Options.of("memory", {"mode": "infer" if option == "kv_dtype" else "train", option: ""})


@pytest.mark.parametrize("model", [None, 3, b"gpt2", ["gpt2"], object()], ids=lambda model: type(model).__name__)
def test_what_names_no_model_is_said(model: Any) -> None:
    with pytest.raises(InputError, match="names no model"):
        archcalc.load(model)


SPEC = {"d_model": 8, "heads": 2, "ffn": 16, "vocab": 10, "decoder": {"blocks": 1}}
HF_CONFIG = {"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 1, "vocab_size": 10}


@pytest.mark.parametrize("data", [SPEC, HF_CONFIG, {"model_type": "gpt2", 3: 4}, {None: 3}], ids=str)
@pytest.mark.parametrize(
    "value", [{1, 2}, b"x", object(), len, 10**5000, {1: 2}, np.arange(2), np.float32(2)], ids=type
)
def test_data_that_no_file_can_hold_is_refused_with_its_place(data: dict[str, Any], value: Any) -> None:
    for field in ("d_model", "n_embd", "decoder", "quantization", "quantization_config", "name", "anything"):
        with pytest.raises(InputError):
            archcalc.load({**data, field: value})


def test_data_within_itself_is_refused() -> None:
    endless: dict[str, Any] = {"family": "transformer"}
    endless["encoder"] = endless
    with pytest.raises(InputError, match="fields within fields"):
        archcalc.load(endless)


def test_integers_of_numpy_are_integers_in_data() -> None:
    assert archcalc.load({**SPEC, "vocab": np.int32(10)}).params().total == archcalc.load(SPEC).params().total


@pytest.mark.parametrize("model", [None, "gpt2", {"d_model": 8}])
def test_fit_asks_for_a_model_that_was_loaded(model: Any) -> None:
    with pytest.raises(InputError, match="expected a model"):
        archcalc.fit(model)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@pytest.mark.wide
@settings(max_examples=300, deadline=None)
@given(asked=st.sampled_from(EVERY_OPTION), value=ANYTHING)
def test_anything_at_all_is_answered_or_refused(asked: tuple[str, str], value: Any) -> None:
    """A TypeError, a ValueError or an AttributeError would fail this; so would an answer below zero."""
    function, option = asked
    try:
        answer = ASKED[function][0](**{option: value})
    except InputError:
        return
    for name in ("total", "total_bytes"):
        assert getattr(answer, name, 0) >= 0
