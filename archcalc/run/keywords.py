"""The options of `archcalc.run.all_options` as Python's keywords: an editor completes `model.memory(`.

Written by tools/option_keywords.py: one class for each question that options bear on, one for each command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

Size = int | str | None  # a whole number, or as people write it: 8k
Names = str | Sequence[str] | None  # q,v or a list of names
Limits = str | Mapping[str, int] | Sequence[tuple[str, int]] | None  # image=4,video=0, by kind


class ParametersKeywords(TypedDict, total=False):
    """About which parameters there are and which are trained."""

    freeze: Names
    lora: Size
    lora_targets: Names
    code: str | None


class RunKeywords(TypedDict, total=False):
    """About how a model is run, whatever is counted."""

    mode: str | None
    batch: Size
    seq: Size
    src_seq: Size
    tgt_seq: Size
    context: Size
    precision: str | None
    weights: str | None
    attention: str | None
    recompute: str | None
    freeze: Names
    lora: Size
    lora_targets: Names
    kv_dtype: str | None
    cache_type_k: str | None
    cache_type_v: str | None
    state_dtype: str | None
    tp: Size
    sp: bool | None
    dp: Size
    cp: Size


class WorkKeywords(TypedDict, total=False):
    """About what is computed."""

    causal: str | None
    tokens: Size


class BytesKeywords(TypedDict, total=False):
    """About what is held in memory."""

    overhead: Size
    optimizer: str | None
    accumulate: Size
    loss_chunks: Size
    compile: str | None
    code: str | None
    code_option: Names
    allocator: str | None
    kv_rule: str | None
    prefill: Size
    engine: str | None
    max_num_seqs: Size
    limit_mm_per_prompt: Limits
    language_model_only: bool | None
    enforce_eager: bool | None
    zero: Size
    reshard_after_forward: str | None
    pp: Size
    ep: Size
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


class CapacityKeywords(TypedDict, total=False):
    """About what a device has."""

    gpu_memory_utilization: float | str | None
    host: Size


class DeviceKeywords(TypedDict, total=False):
    """About the device that it runs on."""

    gpu: str | None


class MeasuredKeywords(TypedDict, total=False):
    """About what a run took."""

    measured: Size


class ParamsKeywords(ParametersKeywords, total=False):
    """Keywords of `model.params`."""


class FlopsKeywords(RunKeywords, WorkKeywords, DeviceKeywords, total=False):
    """Keywords of `model.flops`."""


class MemoryKeywords(RunKeywords, BytesKeywords, DeviceKeywords, MeasuredKeywords, total=False):
    """Keywords of `model.memory`."""


class FitKeywords(RunKeywords, BytesKeywords, CapacityKeywords, MeasuredKeywords, total=False):
    """Keywords of `archcalc.fit`, and of `model.report` too."""


class OomKeywords(RunKeywords, BytesKeywords, CapacityKeywords, DeviceKeywords, total=False):
    """Keywords of `model.oom`."""


class PlotKeywords(RunKeywords, BytesKeywords, WorkKeywords, total=False):
    """Keywords of `archcalc.plot`."""


class CompareKeywords(RunKeywords, WorkKeywords, DeviceKeywords, BytesKeywords, total=False):
    """Keywords of `archcalc.compare`."""
