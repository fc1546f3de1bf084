"""A training step traced on one of several GPUs is FSDP2's, on its streams."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from sharded_steps import faked, sharded, trace_sharded
from support.hf_small import small
from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker

from archcalc.reference.lifetimes import Birth, Phase, Storage
from archcalc.verify.hf.as_on_a_gpu import as_on_a_gpu
from archcalc.verify.hf.traced import Trace
from archcalc.verify.hf.training import Setting, Training

CONFIG = small("llama", "LlamaForCausalLM")
GPUS = 8
BLOCKS, FP32, BF16 = 3, 4, 2
IN_A_BLOCK = 2 * 32 + 2 * 32 * 32 + 2 * 16 * 32 + 3 * 40 * 32  # norms; q and out; k and v; gate, up and down


def setting(**options: Any) -> Setting:
    return Setting(batch=2, seq=30, precision="fp32", **options)


@pytest.mark.wide(1)
@pytest.mark.parametrize("options", [{"optimizer": "sgd", "recompute": True}, {"optimizer": "adamw"}])
def test_the_peak_is_that_of_pytorchs_own_tracker(options: dict[str, Any]) -> None:
    """To the byte, as long as gradients are added up out of place, as under any dispatch mode."""
    asked = setting(**options)
    trace = trace_sharded(CONFIG, asked, GPUS, in_place=False)
    assert max(peak.bytes for peak in trace.peaks.values()) == tracked(asked)


def tracked(asked: Setting) -> int:
    with faked(GPUS) as mesh:
        training = sharded(Training(CONFIG, asked, device="cpu"), mesh)
        model = training.model  # which the tracker holds weakly
        tracker: Any = FSDPMemTracker(model, training.optimizer)
        tracker.track_inputs(tuple(training.inputs.values()))
        with as_on_a_gpu(), tracker:
            training.run(lambda name, step: tracker.reset_mod_stats() if name == "forward" and step else None)
        (device,) = tracker.get_tracker_snapshot("peak").values()
        return int(device["Total"])


def made(trace: Trace, phase: str, stream: int) -> Counter[int]:
    """How often a storage of each size was made in the second step on one stream."""
    found = [event.storage for event in trace.events if isinstance(event, Birth)]
    return Counter(one.bytes for one in found if one.phase == Phase(phase, 1) and one.stream == stream)


def test_each_block_is_gathered_and_reduced_on_streams_of_their_own() -> None:
    """Gathered in bf16, the own share copied in first; gradients summed in fp32, of which a share stays."""
    trace = trace_sharded(CONFIG, setting(optimizer="sgd"), GPUS)
    gathered, summed = IN_A_BLOCK * BF16, IN_A_BLOCK * FP32
    copied_in, reduced = 1, 2
    assert made(trace, "forward", copied_in)[gathered] == BLOCKS
    assert made(trace, "forward", copied_in)[gathered // GPUS] == BLOCKS
    assert made(trace, "backward", reduced)[summed // GPUS] == BLOCKS
    assert made(trace, "backward", 0)[summed] == BLOCKS


def test_weights_and_states_are_shares() -> None:
    """Of fp32, an eighth each, with nothing of the whole that a DTensor stands for."""
    trace = trace_sharded(CONFIG, setting(optimizer="adamw-foreach"), GPUS)
    kept: dict[str, list[Storage]] = {"weight": [], "exp_avg": []}
    for storage in trace.peaks[Phase("step", 1)].alive:
        kept.setdefault(trace.names.get(storage.key, "").rpartition(".")[2], []).append(storage)
    parameters = BLOCKS * IN_A_BLOCK + 32 + 2 * 50 * 32
    padded = 2 * (GPUS * 7 - 50) * 32  # rows of the table and of the head that make them divisible
    assert sum(storage.bytes for storage in kept["weight"]) == (parameters + padded) * FP32 // GPUS
    assert len(kept["exp_avg"]) == len(kept["weight"])
