"""Memory op by op: what is alive adds up to the printed figures, and loops that are folded say all that was in them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod
from typing import Any

import pytest

import archcalc
from archcalc.analyze.memory.deployment import Deployment, deploy
from archcalc.analyze.memory.parts import PARTS
from archcalc.analyze.memory.peak import peak, played
from archcalc.analyze.memory.report import MemoryReport
from archcalc.analyze.memory.timeline import Shared, Timeline
from archcalc.analyze.memory.tracing import timeline
from archcalc.analyze.memory.training import step_schedule
from archcalc.analyze.memory.why_peak import why_peak
from archcalc.core.errors import InputError
from archcalc.run.options import Options
from archcalc.simulate.build import EVERY
from archcalc.simulate.simulation import simulate
from archcalc.simulate.trace import Trace, traced_step
from archcalc.spec.paths import presets
from archcalc.spec.sizes import Sizes
from archcalc.spec.units import binary_bytes

Run = Callable[..., Any]  # the fixture of tests/conftest.py
RUNS: dict[str, dict[str, Any]] = {
    "training": {"mode": "train"},
    "checkpointing": {"mode": "train", "recompute": "full"},
    "ZeRO-3": {"mode": "train", "dp": 8, "zero": 3},
    "inference": {"mode": "infer"},
}
WIDTHS = {"fp32": 4, "fp64": 8, "bf16": 2, "fp16": 2, "fp8": 1, "int64": 8, "int32": 4, "bool": 1}
FAMILIES = [
    "gpt2",
    "textbook",
    "sentiment-lstm",
    "resnet-18",
    "mamba-130m",
    "vae-mnist",
    "word2vec-cbow",
    "deepseek-v3",
]


def memory(name: str = "gpt2", **options: Any) -> MemoryReport:
    return archcalc.load(name).memory(timeline=True, **options)


def of(report: MemoryReport) -> Timeline:
    assert report.ops
    return report.ops.value


def deployed(name: str, **options: Any) -> Deployment:
    return deploy(archcalc.load(name), Options.of("memory", options))


@pytest.mark.parametrize("kind", RUNS)
def test_the_highest_op_is_the_printed_peak_to_the_byte(kind: str) -> None:
    """Of every preset that allows the run; and what is alive there are the parts of the table."""
    seen = 0
    for name in presets():
        try:
            deployment = deployed(name, **RUNS[kind])
            highest = played(deployment, Sizes()).levels.peak
        except InputError:
            continue
        line = timeline(deployment, Sizes())
        parts = dict.fromkeys(PARTS, 0) | dict(line.start)
        for one, copies in line.alive(line.peak):
            parts[one.part] += copies * one.bytes
        assert line.peak_bytes == highest.bytes, name
        assert parts == highest.parts, name
        seen += bool(line.ops)
    assert seen > 40


@pytest.mark.parametrize(
    ("name", "kind"), [*product(("gpt2", "textbook"), RUNS), ("sentiment-lstm", "training"), ("resnet-18", "ZeRO-3")]
)
def test_at_every_op_what_is_alive_adds_up(name: str, kind: str) -> None:
    line = of(memory(name, **RUNS[kind]))
    start = sum(line.start.values())
    for place, op in enumerate(line.ops):
        assert start + sum(copies * one.bytes for one, copies in line.alive(place)) == op.bytes
        assert all(copies > 0 for _, copies in line.alive(place))


def runs_of(trace: Trace, start: int, end: int) -> list[int]:
    """Bytes of every op with all runs of every loop: what is between the first run and the last is evenly so."""
    found: list[int] = []
    while start < end:
        here = [one for one in trace.loops if one.first == start and start + 2 * one.length <= end]
        if not here:
            found.append(trace.instants[start].bytes)
            start += 1
            continue
        loop = max(here, key=lambda one: one.length)
        first = runs_of(trace, start, start + loop.length)
        last = runs_of(trace, start + loop.length, start + 2 * loop.length)
        for run in range(loop.times):
            found += [low + (high - low) * run // (loop.times - 1) for low, high in zip(first, last, strict=True)]
        start += 2 * loop.length
    return found


@pytest.mark.parametrize("recompute", ["none", "full"])
@pytest.mark.parametrize("name", ["gpt2", "llama-3-8b", "vit-b-16"])
def test_folded_layers_are_those_of_a_step_that_is_simulated_layer_by_layer(name: str, recompute: str) -> None:
    deployment = deployed(name, mode="train", recompute=recompute, precision="bf16")
    found = peak(deployment, Sizes())
    root, step = found.root, found.step
    folded = traced_step(step.start, step.changes, step.schedule)
    whole = step_schedule(root, deployment.run, deployment.keeping, EVERY)
    unfolded = traced_step(step.start, simulate(whole), whole)
    assert not unfolded.loops
    assert runs_of(folded, 0, len(folded.instants)) == [one.bytes for one in unfolded.instants]
    assert len(folded.instants) < len(unfolded.instants)


def test_more_layers_are_no_more_ops() -> None:
    few, many = (archcalc.load("gpt2", set=[f"decoder={layers}"]) for layers in (12, 900))
    lines = [of(model.memory(mode="train", timeline=True)) for model in (few, many)]
    assert len(lines[0].ops) == len(lines[1].ops)
    assert max(one.layer for one in lines[1].ops) == 900


@pytest.mark.parametrize("name", FAMILIES)
def test_a_shape_and_a_dtype_are_the_bytes(name: str) -> None:
    shaped = [one for one in of(memory(name, mode="train")).tensors if one.dtype]
    assert shaped
    for one in shaped:
        assert prod(one.shape) * WIDTHS[one.dtype] == one.bytes, one.name


def test_the_logits_are_alive_from_the_head_to_their_gradient() -> None:
    line = of(memory(mode="train"))
    (logits,) = (one for one in line.tensors if one.name == "loss: log softmax")
    assert (logits.shape, logits.dtype, logits.bytes) == ((1, 1024, 50257), "fp32", 1024 * 50257 * 4)
    assert line.ops[logits.born].phase == "loss"
    assert logits.dies is not None and line.ops[logits.dies].phase == "backward"
    assert logits.at(logits.born - 1) == 0 < logits.at(logits.born)


def test_the_sentence_says_what_is_alive_together() -> None:
    """The loss of GPT-2 in fp32: logits, two gradients of them, and what twelve blocks saved."""
    logits = 1024 * 50257 * 4
    why = memory(mode="train").why()
    assert why.startswith("The peak is in the backward pass of loss, at log softmax, with ")
    assert f"gradients of the logits in fp32 ({binary_bytes(2 * logits)})" in why
    assert f"and logits in fp32 ({binary_bytes(logits)}) alive at once" in why
    assert "activations of 12 × decoder.blocks" in why
    weights, adam = 124_439_808 * 4, 2 * 124_439_808 * 4
    assert f"on top of optimizer states, overhead and weights ({binary_bytes(weights + adam + 2**29)})" in why


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("mode", ["train", "infer"])
def test_every_model_has_a_sentence(name: str, mode: str) -> None:
    why = memory(name, mode=mode).why()
    assert why.startswith("The peak is in the ") and why.endswith(").")


def test_switches_show_what_the_options_print() -> None:
    report = memory("llama-3-8b", mode="train", recompute="full")
    assert report.what_if
    found = report.what_if.value
    assert [one.label for one in found.switches] == ["activation checkpointing", "ZeRO over 8 GPUs", "LoRA"]
    assert found.asked == (1, 0, 0)
    assert found.lines[1, 0, 0].peak_bytes == report.total_bytes
    others: dict[tuple[int, ...], dict[str, Any]] = {
        (0, 0, 0): {},
        (1, 3, 0): {"recompute": "full", "dp": 8, "zero": 3},
        (0, 0, 1): {"lora": 16},
    }
    for places, options in others.items():
        assert found.lines[places].peak_bytes == memory("llama-3-8b", mode="train", **options).total_bytes


def test_what_was_asked_for_is_among_the_switches() -> None:
    report = memory(mode="train", recompute="selective", dp=4, zero=2, lora=8)
    assert report.what_if
    switches = report.what_if.value.switches
    asked = {one.label: one.values[one.asked].label for one in switches}
    assert asked == {"activation checkpointing": "selective", "ZeRO over 4 GPUs": "stage 2", "LoRA": "rank 8"}


def test_what_a_model_does_not_allow_is_no_switch() -> None:
    """A convolutional net has no linear layer but its last to adapt; a forward pass has nothing to switch."""
    training, inference = memory("resnet-18", mode="train").what_if, memory("gpt2", mode="infer").what_if
    assert training and "LoRA" not in [one.label for one in training.value.switches]
    assert inference and inference.value.switches == ()


def test_a_page_has_every_tensor_that_is_seen() -> None:
    line, shared = of(memory(mode="train")), Shared()
    packed = line.packed(shared)
    values = list(shared)
    for (look, steps), one in zip(
        packed["tensors"], [one for one in line.tensors if any(one.copies.values())], strict=True
    ):
        assert values[look] == (one.name, one.part, one.shape, one.dtype, one.bytes)
        places, op = {}, 0
        for later, copies in zip(values[steps][::2], values[steps][1::2], strict=True):
            op += later
            places[op] = copies
        assert places == dict(one.copies)


def test_programs_read_all_of_it(run: Run) -> None:
    """Keys are stable: a step's ops, its loops, its tensors."""
    found = run("memory", "gpt2", "--mode", "train", "--timeline", "--format", "json").json
    steps = found["op_by_op"]
    assert list(steps) == ["why", "start", "ops", "loops", "tensors", "peak_op"]
    assert all(list(one) == ["phase", "path", "op", "layer", "bytes"] for one in steps["ops"])
    assert all(list(one) == ["first", "length", "times"] for one in steps["loops"])
    keys = ["name", "part", "shape", "dtype", "bytes", "born", "dies", "copies"]
    assert all(list(one) == keys for one in steps["tensors"])
    assert steps["ops"][steps["peak_op"]]["bytes"] == max(one["bytes"] for one in steps["ops"]) == found["total_bytes"]
    assert "op_by_op" not in run("memory", "gpt2", "--format", "json").json


def test_a_terminal_lists_what_adds_up_to_the_peak(run: Run) -> None:
    report = memory(mode="train")
    _, table, *_ = [report.table(), *report.more()]
    sizes = [line.cells[4] for line in table.lines]
    assert sum(sizes) == report.total_bytes
    out = run("memory", "gpt2", "--mode", "train", "--timeline").out
    assert "loss: log softmax" in out and "1 × 1024 × 50257" in out
    assert all(len(line) <= 80 for line in out.splitlines())


def test_what_computes_nothing_has_no_ops() -> None:
    line = Timeline({"weights": 10}, (), (), ())
    assert line.peak_bytes == 10
    assert line.record()["peak_op"] is None
    assert why_peak(line, PARTS) == "Nothing is computed: weights (10 B) is all there is."
