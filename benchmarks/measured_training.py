"""Measured training runs as options of `archcalc memory` and `archcalc fit`.

`trained(case)` is what a user of that version would type from what the case says: a code has the release or the month
that case or source state, since whoever runs a code knows which. `today(case)` leaves that out, which asks for the code
of today. `facts(case)` is what is known of a source besides: the allocator that the code was started with, ranks and
layers of its configs.
"""

from __future__ import annotations

import re
from typing import Any

from measured_adapters import adapters, is_quantised, method_of, rank_of, targets_of
from measured_cases import Case
from measured_codes import FILE, code_of, facts_of, name_of
from measured_names import Typed
from measured_plan import Plan, plan_of
from measured_units import Inexpressible, number
from measured_words import every, option

Options = dict[str, Any]

CHUNKS = 8  # torchtune's and torchtitan's number
UNSAID: tuple[tuple[str, str], ...] = (  # flags that no option says
    ("optim_in_bwd", "an optimizer that steps inside backward"),
    ("optimizer_in_bwd", "an optimizer that steps inside backward"),
    ("tiled_mlp", "feed-forward layers computed in tiles"),
)
FUSED = {"liger": 32, "cut_cross_entropy": 64}  # heads with their loss: about vocabulary / width chunks, or fine tiles
TRUE = ("true", "1", "on", "yes")
USUAL_CODE = "transformers"  # what is assumed of a model that it has, so that nobody types it
PREPARES = ("transformers", "trl")  # whose users choose what is cast beside quantised weights
HOSTED = ("act_offload", "activation_offload", "act_cpu_offload")


def trained(case: Case, typed: Typed) -> Options:
    """Every option of one case, as typed."""
    flags = case["flags"]
    for flag, words in UNSAID:
        if str(flags.get(flag)).lower() in TRUE:
            raise Inexpressible(words)
    return {
        "mode": "train",
        "batch": _batch(case),
        "seq": length(case),
        "precision": _precision(case),
        **adapters(case, typed),
        "recompute": _recomputed(case),
        "optimizer": option("optimizer", flags.get("optimizer")),
        "attention": option("attention", flags.get("attention") or flags.get("attn_implementation")),
        "accumulate": number(flags.get("grad_accum") or flags.get("accumulate")) or None,
        "loss-chunks": _chunks(case),
        "compile": "code" if _is_on(flags.get("compile")) else None,
        "offload": ",".join(_offloaded(case)),
        "code": None if code_of(case) == USUAL_CODE else code_of(case),
        "allocator": option("allocator", flags.get("code")),
        "habit": tuple(every("habits", case["flags"].get("note"))) if name_of(case) in PREPARES else (),
        **_spread(case).options,
    }


def facts(case: Case) -> Options:
    """What only the case's source tells; options of these names replace what was typed."""
    known = facts_of(case)
    stored = FILE["formats"].get(name_of(case), {}).get(option("weights", case.get("quantisation")))
    if not _trains(case):
        unsaid = {"seq": known["seq"]} if known.get("seq") and not case.get("seq") else {}
        return {**unsaid, **({"weights": stored} if stored else {})}
    quantised = known.get("qlora") if case.get("quantisation") else None
    adapted = method_of(case) == "lora"
    found = {
        "code": None if code_of(case) == USUAL_CODE else code_of(case),
        "weights": stored,
        "allocator": known.get("allocator"),
        "compile": known.get("compile") if _is_on(case["flags"].get("compile")) else "none",
        "habit": tuple(known.get("habit", ())) or None,
        "precision": known.get("precision"),
        "lora": (quantised or known.get("lora")) if adapted and not rank_of(case) else None,
        "lora-targets": ",".join(known.get("targets", ())) if adapted and not targets_of(case) else None,
    }
    return {name: value for name, value in found.items() if value}


def today(case: Case) -> Options:
    """The code without the version that it ran in."""
    return {"code": None if name_of(case) == USUAL_CODE else name_of(case)} if _trains(case) else {}


def nothing(_: Case) -> Options:
    """What is typed without any source."""
    return {}


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
    """Where the words leave no choice; of a bare `bf16`, and over quantised weights, code and method decide."""
    if method_of(case) == "lora" and is_quantised(case):
        return None
    narrow = option("float8", case["flags"].get("float8") or case["flags"].get("fp8") or _said_of_weights(case))
    if narrow == "nvfp4":
        raise Inexpressible("training in NVFP4")
    return narrow or option("precision", case.get("dtype"))


def _said_of_weights(case: Case) -> str:
    """Of a run without adapters, which compute in 16 bits over whatever weights."""
    return "" if method_of(case) == "lora" else str(case.get("quantisation") or "")


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


def _chunks(case: Case) -> int | None:
    """Of the loss, as docs/runs.md says it of fused heads."""
    flags = case["flags"]
    fused = [number for flag, number in FUSED.items() if str(flags.get(flag)).lower() in TRUE]
    chunked = "chunked" in str(flags.get("loss") or "") or _is_on(flags.get("chunked_ce"))
    usual = CHUNKS if chunked else None
    return fused[0] if fused else usual


def _offloaded(case: Case) -> list[str]:
    flags = case["flags"]
    hosted = ["activations"] if any(_is_on(flags.get(flag)) for flag in HOSTED) else []
    stepped = every("offloaded_optimizer", flags.get("optimizer"))
    return list(dict.fromkeys([*every("offload", flags.get("offload")), *stepped, *hosted]))


def _trains(case: Case) -> bool:
    return str(case["kind"]).startswith("train")


def _is_on(said: Any) -> bool:
    return str(said).lower() not in ("none", "", "false", "0", "off", "no")
