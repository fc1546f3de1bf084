"""Measured training runs as options of `archcalc memory` and `archcalc fit`.

`trained(case)` is what a user would type from what the case says; `facts(case)` is what is known of its source besides:
the month of the code, the allocator that it was started with, ranks and layers of its configs.
"""

from __future__ import annotations

import re
from typing import Any

from measured_cases import Case
from measured_codes import code_of, facts_of, name_of
from measured_names import Typed
from measured_plan import Plan, plan_of
from measured_units import Inexpressible, number
from measured_weights import weights_of
from measured_words import every, option

Options = dict[str, Any]

RANK = re.compile(r"\br(?:ank)? ?(\d+)\b", re.IGNORECASE)
LAYERS = {"o": "out", "o_proj": "out", "q_proj": "q", "k_proj": "k", "v_proj": "v", "wo": "out"}
ADAPTED = ("q", "k", "v", "out", "gate", "up", "down", "head")
CHUNKS = 8  # torchtune's and torchtitan's number
UNSAID: tuple[tuple[str, str], ...] = (  # flags that no option says
    ("optim_in_bwd", "an optimizer that steps inside backward"),
    ("optimizer_in_bwd", "an optimizer that steps inside backward"),
    ("tiled_mlp", "feed-forward layers computed in tiles"),
)
HOSTED = ("act_offload", "activation_offload", "act_cpu_offload")


def trained(case: Case, typed: Typed) -> Options:
    """Every option of one case, as typed."""
    flags = case["flags"]
    for flag, words in UNSAID:
        if _is_on(flags.get(flag)):
            raise Inexpressible(words)
    return {
        "mode": "train",
        "batch": _batch(case),
        "seq": length(case),
        "precision": _precision(case),
        **_adapters(case, typed),
        "recompute": _recomputed(case),
        "optimizer": option("optimizer", flags.get("optimizer")),
        "attention": option("attention", flags.get("attention") or flags.get("attn_implementation")),
        "accumulate": number(flags.get("grad_accum") or flags.get("accumulate")) or None,
        "loss-chunks": CHUNKS if _chunked(case) else None,
        "compile": "code" if _is_on(flags.get("compile")) else None,
        "offload": ",".join(_offloaded(case)),
        "code": name_of(case),
        **_spread(case).options,
    }


def facts(case: Case) -> Options:
    """What only the case's source tells; options of these names replace what was typed."""
    known = facts_of(case)
    if not case["kind"].startswith("train"):
        return {name: known[name] for name in ("seq", "weights") if name in known and not case.get(name)}
    quantised = known.get("qlora") if case.get("quantisation") else None
    adapted = _method(case) == "lora"
    found = {
        "code": code_of(case),
        "allocator": known.get("allocator"),
        "compile": known.get("compile") if _is_on(case["flags"].get("compile")) else "none",
        "habit": tuple(known.get("habit", ())),
        "precision": known.get("precision"),
        "lora": (quantised or known.get("lora")) if adapted and not _rank(case) else None,
        "lora-targets": ",".join(known.get("targets", ())) if adapted and not _targets(case) else None,
        "sp": name_of(case) == "torchtitan" and plan_of(case).tp > 1,  # wherever it divides layers
    }
    return {name: value for name, value in found.items() if value}


def sharding_of(case: Case) -> str:
    return _spread(case).sharding


def length(case: Case) -> int | None:
    """Tokens; `<= 768 (longest batch)` is 768, and a size of images is none."""
    said = str(case.get("seq") or "").replace(",", "")
    if "px" in said or re.match(r"\d+x\d+", said):
        return None
    found = re.search(r"\d+(\.0*)?(?![\d.])", said)
    if found is None:
        raise Inexpressible("the case does not give the sequence length")
    return number(found[0])


def _batch(case: Case) -> int:
    """Sequences that a GPU computes together."""
    found = case.get("batch") or case["flags"].get("micro_batch")
    if not found:
        raise Inexpressible("the case does not give the batch size")
    return number(found)


def _precision(case: Case) -> str | None:
    """Where the words leave no choice; of a bare `bf16` the code or the method decides what is in which format."""
    narrow = option("float8", case["flags"].get("float8") or case["flags"].get("fp8") or _said_of_weights(case))
    if narrow == "nvfp4":
        raise Inexpressible("training in NVFP4")
    return narrow or option("precision", case.get("dtype"))


def _said_of_weights(case: Case) -> str:
    """Of a run without adapters, which compute in 16 bits over whatever weights."""
    return "" if _method(case) == "lora" else str(case.get("quantisation") or "")


def _spread(case: Case) -> Plan:
    """With Megatron's distributed optimizer, which is ZeRO's stage 1."""
    plan = plan_of(case)
    distributed = "distributed" in str(case["flags"].get("optimizer")).lower()
    return plan if plan.zero or not distributed else Plan(**{**plan.__dict__, "zero": 1})


def _recomputed(case: Case) -> str | None:
    """torchtitan's selective checkpointing chooses op by op, unless it is said to choose layers."""
    flags = case["flags"]
    said = flags.get("recompute", flags.get("gradient_checkpointing"))
    found = option("recompute", said)
    return "ops" if found == "selective" and name_of(case) == "torchtitan" else found


def _chunked(case: Case) -> bool:
    return "chunked" in str(case["flags"].get("loss") or "") or _is_on(case["flags"].get("chunked_ce"))


def _offloaded(case: Case) -> list[str]:
    flags = case["flags"]
    hosted = ["activations"] if any(_is_on(flags.get(flag)) for flag in HOSTED) else []
    return list(dict.fromkeys([*every("offload", flags.get("offload")), *hosted]))


# Adapters


def _method(case: Case) -> str | None:
    """`lora`, or None of full training; refused where archcalc has no option for it."""
    return option("method", case["flags"].get("method"))


def _adapters(case: Case, typed: Typed) -> Options:
    method = _method(case)
    if method in ("dpo", "grpo"):
        return {"method": method}
    if method != "lora":
        return {}
    return {"lora": _rank(case), "lora-targets": _targets(case), "weights": _frozen(case, typed)}


def _frozen(case: Case, typed: Typed) -> str | None:
    """The format of frozen weights: as the case says, else NF4 where it says QLoRA."""
    flags = case["flags"]
    said = f"{case.get('quantisation') or ''} {case.get('dtype') or ''} {flags.get('method') or ''}"
    found = weights_of({**case, "quantisation": said}, typed)
    return found or ("nf4" if "qlora" in said.lower() else None)


def _rank(case: Case) -> int | None:
    flags = case["flags"]
    said = RANK.search(str(flags.get("method") or ""))
    return number(flags.get("rank") or flags.get("lora_rank") or (said[1] if said else None)) or None


def _targets(case: Case) -> str | None:
    """Layers as archcalc names them; None where the case names none."""
    flags = case["flags"]
    said = flags.get("lora_targets") or flags.get("targets") or flags.get("layers") or flags.get("method") or ""
    text = ",".join(said) if isinstance(said, list) else str(said).lower()
    words = [LAYERS.get(word, word) for word in re.findall(r"[a-z_]+", text)]
    return option("targets", text) or ",".join(word for word in words if word in ADAPTED) or None


def _is_on(said: Any) -> bool:
    return str(said).lower() not in ("none", "", "false", "0", "off", "no")
