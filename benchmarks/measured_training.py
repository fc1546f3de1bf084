"""Measured training runs as questions: the options of `archcalc memory` that say what a case and its code say."""

from __future__ import annotations

from typing import Any

from measured_asked import said_plan
from measured_codes import Case, allocator_of, code_of, facts_of, name_of
from measured_units import Inexpressible, number
from measured_weights import quantised

from archcalc.run.code.library import known

NARROW = ("float8", "fp8", "rowwise", "tensorwise", "mxfp8")
OFFLOADED = ("act_offload", "activation_offload", "act_cpu_offload")
OPTIMIZERS = ("adafactor", "lion", "muon", "momentum", "sgd")
WORDS_OF_ALL = ("all", "every")


def trained(case: Case) -> dict[str, Any]:
    """Every option of one case."""
    _refuse(case)
    options: dict[str, Any] = {"mode": "train", "overhead": 0, "attention": attention(case), **spread(case)}
    options |= {"precision": precision(case), "recompute": recomputed(case), **habits(case)}
    if accumulated := number(case["flags"].get("grad_accum")):
        options["accumulate"] = accumulated
    if _chunked(case):
        options["loss_chunks"] = 8  # torchtune's and torchtitan's number
    if _is_adapted(case):
        options |= adapters(case)
    return options


def _refuse(case: Case) -> None:
    flags = case["flags"]
    if any(flags.get(flag) for flag in OFFLOADED):
        raise Inexpressible("activations offloaded to the host")
    if flags.get("optim_in_bwd") or flags.get("optimizer_in_bwd"):
        raise Inexpressible("an optimizer that steps inside backward")
    if "nvfp4" in _number_format(case):
        raise Inexpressible("training in NVFP4")


def _number_format(case: Case) -> str:
    said = case.get("quantisation") or case["flags"].get("float8")
    return str(said or case.get("dtype") or "").lower()


def habits(case: Case) -> dict[str, Any]:
    """What the code decides and not the case, and where the case's source shows another choice."""
    code = code_of(case) if name_of(case) in known() else None
    return {"code": code, "allocator": allocator_of(case), "optimizer": optimizer(case), "compile": compiled(case)}


def optimizer(case: Case) -> str | None:
    """Where the case names another than its code's AdamW."""
    said = str(case["flags"].get("optimizer")).lower().replace("-", "")
    if "8bit" in said:
        return "adam8bit"
    if "fused" in said:
        return "adamw-fused"
    return next((name for name in OPTIMIZERS if name in said), None)


def compiled(case: Case) -> str:
    """What the code compiles, unless its source shows another choice."""
    if not case["flags"].get("compile"):
        return "none"
    return str(facts_of(case).get("compile") or "code")


def attention(case: Case) -> str:
    said = case["flags"].get("attention") or case["flags"].get("attn_implementation")
    return "eager" if said == "eager" else "flash"


def precision(case: Case) -> str:
    """FSDP2 and Megatron keep weights, or a copy of them, in fp32; the others train in what the case names."""
    if any(word in _number_format(case) for word in NARROW):
        return "fp8-gathered" if "all-gather" in _number_format(case) else "fp8"
    dtype = str(case.get("dtype") or "").lower()
    if "fp32 params" in dtype or name_of(case) in ("torchtitan", "megatron"):
        return "mixed"
    if "amp" in dtype or "autocast" in dtype:
        return "autocast"
    return "fp32" if dtype in ("fp32", "float32", "32-true") else "bf16"


def recomputed(case: Case) -> str:
    """torchtitan's selective checkpointing chooses op by op, unless it is said to choose layers; so do its own configs
    of Llama 3 8B, where a case of it does not say."""
    usual = "selective" if name_of(case) == "torchtitan" else case["flags"].get("gradient_checkpointing")
    said = str(case["flags"].get("recompute", usual)).lower()
    if "layer" in said:
        raise Inexpressible("every second layer recomputed")
    if "selective" in said:
        return "ops" if name_of(case) == "torchtitan" else "selective"
    return "full" if "full" in said or said == "true" else "none"


def _chunked(case: Case) -> bool:
    """As a case says; its code may have chunks where it does not."""
    return "chunked" in str(case["flags"].get("loss") or "") or bool(case["flags"].get("chunked_ce"))


def spread(case: Case) -> dict[str, Any]:
    """Shards and replicas. torchtitan divides the sequence wherever it divides layers."""
    said = said_plan(case)
    tp, cp = (number(said.get(way), 1) for way in ("tp", "cp"))
    found: dict[str, Any] = {"tp": tp} | ({"cp": cp} if cp > 1 else {})
    if tp > 1 and (said.get("sp") or name_of(case) == "torchtitan"):
        found["sp"] = True
    whole_shards = said.get("fsdp") or said.get("sharding") == "FULL_SHARD"  # as FSDP1 calls it
    replicas = number(said.get("fsdp") or said.get("dp")) or max(1, number(said.get("gpus")) // (tp * cp))
    if replicas * cp > 1:
        found |= {"dp": replicas, "zero": 3 if whole_shards else number(said.get("zero"))}
    if said.get("reshard_after_forward") in ("never", False) and "zero" in found:
        found["reshard_after_forward"] = "never"
    if said.get("reshard_after_forward") == "always" and "zero" in found:
        found["reshard_after_forward"] = "always"
    return found


def _is_adapted(case: Case) -> bool:
    return "lora" in str(case["flags"].get("method", "")).lower()


def adapters(case: Case) -> dict[str, Any]:
    """LoRA's rank and layers as the case gives them, else as the configs of its source do."""
    flags, facts = case["flags"], facts_of(case)
    usual = facts.get("qlora") if case.get("quantisation") else None
    rank = number(flags.get("rank") or flags.get("lora_rank") or usual or facts.get("lora"))
    if not rank:
        raise Inexpressible("the case does not give the rank of LoRA's adapters")
    said = str(flags.get("layers") or "").lower()
    targets = ("all",) if any(word in said for word in WORDS_OF_ALL) else tuple(facts.get("targets", ()))
    named = {"lora_targets": targets} if targets and "only" not in said else {}
    return {"lora": rank, **named} | ({"weights": quantised(case)} if case.get("quantisation") else {})
