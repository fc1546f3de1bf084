"""Peaks of training and of inference: the options of `archcalc memory` that say what a case says, and the figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from measured_asked import DTYPES, GB, GIB, Pair, parallel
from measured_models import Case, Inexpressible, whole
from measured_weights import quantised

from archcalc.analyze.memory.answer import Memory


def training_peak(case: Case) -> Iterator[Pair]:
    if size := peak_bytes(case):
        options = trained(case)
        yield "peak GiB", size / GIB, Memory(whole(case), **options).total(case["batch"], case["seq"]) / GIB


def peak_bytes(case: Case) -> float:
    """What was measured: in use, where the table says so, else reserved; 0 where it prints throughput alone."""
    measured = case["measured"]
    gib = measured.get("peak_active_gib") or measured.get("peak_memory_gib")
    return float(gib * GIB if gib else measured.get("peak_memory", 0) * (GIB if measured.get("unit") == "GiB" else GB))


def is_reserved(case: Case) -> bool:
    """Whether the figure is what PyTorch's allocator took from the device, and not what tensors took of that."""
    return "peak_active_gib" not in case["measured"] and "reserved" in str(case["measured"].get("metric"))


def trained(case: Case) -> dict[str, Any]:
    """The options of `archcalc memory` that say what the case says."""
    flags, method = case["flags"], str(case["flags"].get("method", "")).lower()
    for flag, why in (("act_offload", "activations"), ("activation_offload", "activations"), ("optim_in_bwd", "")):
        if flags.get(flag):
            raise Inexpressible(f"{why} offloaded to the host" if why else "an optimizer that steps inside backward")
    if not case.get("seq"):
        raise Inexpressible("the case does not give the sequence length")
    narrow = str(case.get("quantisation") or flags.get("float8") or "").lower()
    eight = any(word in narrow for word in ("float8", "rowwise", "tensorwise", "mxfp8"))
    if "nvfp4" in narrow:
        raise Inexpressible("training in NVFP4")
    sharded = "fp32 params" in str(case.get("dtype"))
    options: dict[str, Any] = {"mode": "train", "overhead": 0, "attention": "flash", **spread(case)}
    options["precision"] = "fp8" if eight else "mixed" if sharded else "bf16"
    options["optimizer"] = optimizer(case)
    options["recompute"], options["compile"] = recomputed(case), compiled(case)
    if "chunked" in str(flags.get("loss")) or flags.get("chunked_ce"):
        options["loss_chunks"] = 8
    if "lora" in method:
        options |= adapters(case)
    if "lora" in method and case.get("quantisation"):
        options["weights"] = quantised(case)
    return options


def adapters(case: Case) -> dict[str, Any]:
    """Rank 32 on q and v in litgpt's config hub, but of phi-2: rank 8 on every linear layer (phi-2/lora.yaml)."""
    if case["id"].startswith("litgpt-hub-phi-2"):
        return {"lora": 8, "lora_targets": ("all",)}
    return {"lora": case["flags"].get("rank") or (8 if "trainable_params" in case["flags"] else 32)}


def spread(case: Case) -> dict[str, Any]:
    """torchtitan divides the sequence wherever it divides layers; weights that stay gathered are ZeRO's stage 2."""
    found: dict[str, Any] = parallel(case)
    if found["tp"] > 1:
        found["sp"] = True
    if (case.get("parallelism") or {}).get("reshard_after_forward") == "never":
        found["zero"] = 2
    return found


def optimizer(case: Case) -> str:
    """AdamW as PyTorch runs it by default; torchtitan of today has it fused."""
    if "8bit" in str(case["flags"].get("optimizer")).lower():
        return "adam8bit"
    return "adamw-fused" if case["id"].startswith("tt") and not is_early(case) else "adamw"


def compiled(case: Case) -> str:
    """torchtitan compiles blocks, and since its pull request 1033, of April 2025, the loss too, as torchtune does."""
    if not case["flags"].get("compile"):
        return "none"
    return "blocks" if is_early(case) else "all"


def is_early(case: Case) -> bool:
    """Whether a figure of torchtitan's is from before April 2025, by the pull request or the month that it names."""
    request = re.search(r"#(\d+)", case["source"])
    month = re.search(r"_(20\d{4})_", case["source"])
    return int(request[1]) < 1033 if request else month is not None and int(month[1]) < 202504


def recomputed(case: Case) -> str:
    """torchtitan's selective checkpointing chooses op by op, unless it is said to choose layers; so does its own config
    of Llama 3 8B (train_configs/llama3_8b.toml), where a case of it does not say."""
    said = str(case["flags"].get("recompute", "selective" if case["id"].startswith("tt") else "none"))
    if "layer" in said:
        raise Inexpressible("every second layer recomputed")
    return next((ours for word, ours in (("full", "full"), ("selective", "ops")) if word in said), "none")


def inference_peak(case: Case) -> Iterator[Pair]:
    seq = case.get("seq") or 256  # the tool's own default
    model = whole(case)
    dtype = DTYPES.get(str(case.get("dtype")), "bf16")
    memory = Memory(model, precision=dtype, overhead=0, weights=quantised(case), **parallel(case))
    total = memory.total(1, seq)
    yield "peak GB", case["measured"]["peak_memory"], total / GB
