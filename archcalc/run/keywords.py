"""The options of `archcalc.run.options` as Python's keywords, so that an editor completes `model.memory(`.

A test holds these equal to the options that each command takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

Size = int | str | None  # a whole number, or as people write it: 8k
Names = str | Sequence[str] | None  # q,v or a list of names


class ParamsKeywords(TypedDict, total=False):
    """Keywords of `model.params` about what is trained."""

    freeze: Names
    lora: Size
    lora_targets: Names
    code: str | None


class SharedKeywords(TypedDict, total=False):
    """Keywords that `model.flops` and `model.memory` share."""

    mode: str | None
    batch: Size
    seq: Size
    src_seq: Size
    tgt_seq: Size
    context: Size
    precision: str | None
    weights: str | None
    recompute: str | None
    attention: str | None
    freeze: Names
    lora: Size
    lora_targets: Names
    kv_dtype: str | None
    cache_type_k: str | None
    cache_type_v: str | None
    state_dtype: str | None
    tp: Size
    dp: Size
    sp: bool | None
    cp: Size


class WorkKeywords(SharedKeywords, total=False):
    """Keywords about what is computed."""

    causal: str | None
    tokens: Size


class FlopsKeywords(WorkKeywords, total=False):
    """Keywords of `model.flops`."""

    gpu: str | None


class BytesKeywords(SharedKeywords, total=False):
    """Keywords about what is held in memory."""

    optimizer: str | None
    accumulate: Size
    loss_chunks: Size
    kv_rule: str | None
    prefill: Size
    engine: str | None
    max_num_seqs: Size
    enforce_eager: bool | None
    overhead: Size
    zero: Size
    pp: Size
    ep: Size
    reshard_after_forward: str | None
    code: str | None
    habit: Names
    allocator: str | None
    compile: str | None
    draft: str | None
    adapters: Size
    shared_prefix: Size
    method: str | None
    reference: str | None
    rollout: str | None
    rollout_memory: Size
    offload: Names
    ngl: Size
    cpu_moe: bool | None
    n_cpu_moe: Size


class MemoryKeywords(BytesKeywords, total=False):
    """Keywords of `model.memory`."""

    gpu: str | None


class PlotKeywords(BytesKeywords, WorkKeywords, total=False):
    """Keywords of `archcalc.plot`."""


class ChartKeywords(PlotKeywords, total=False):
    """The same, and what is drawn: `--y`, `--by`, `--gpu`, `--log` and `--linear`."""

    y: Names
    by: str | Mapping[str, Any] | None
    gpus: Names
    log: Names
    linear: Names


class FitKeywords(BytesKeywords, total=False):
    """Keywords of `archcalc.fit`, and of `model.report` too."""

    gpu_memory_utilization: float | str | None
    host: Size
