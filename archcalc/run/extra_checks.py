"""Refuse options of draft models, adapters and training methods that have no effect or contradict each other."""

from __future__ import annotations

from archcalc.core.errors import InputError
from archcalc.run.all_options import AllOptions
from archcalc.spec.option import flag_of

OF_METHODS = ("reference", "rollout", "rollout_memory")
KNOWN_CODE = ("transformers", "plain")  # TRL trains the classes of transformers
NOT_TRACED = ("loss_chunks", "sp", "cp", "pp", "ep")  # with a loss that reads the log-probability of every token


def check_extras(asked: AllOptions) -> None:
    """Options against each other; the model is not looked at."""
    if asked.adapters and not asked.lora:
        raise InputError("needs --lora RANK, the rank of a slot", "add --lora 16", field="--adapters")
    if asked.shared_prefix and asked.kv_rule == "window+batch":
        hint = "choose another --kv-rule, or leave --shared-prefix out"
        raise InputError("how llama.cpp shares a prefix in windows is not known here", hint, field="--shared-prefix")
    if (asked.method or "sft") == "sft":
        _refuse(asked, OF_METHODS, "is about DPO and GRPO", "add --method grpo, or leave {} out")
        return
    name = (asked.method or "").upper()
    fact = f"archcalc does not know how {name} computes its loss so"
    _refuse(asked, NOT_TRACED, fact, "leave {} out")
    if asked.compile == "all":
        raise InputError(fact, "use --compile blocks", field="--compile")
    if asked.code and asked.code.partition("@")[0] not in KNOWN_CODE:
        fact = f"{name} is counted as TRL computes it, with the classes of transformers"
        raise InputError(fact, "leave --code out", field="--code")
    if asked.method == "dpo":
        _refuse(asked, ("rollout", "rollout_memory"), "DPO generates nothing", "leave {} out, or use --method grpo")
    if asked.rollout_memory is not None and (asked.rollout or "policy") == "policy":
        hint = "add --rollout same, sleep or other"
        raise InputError("the policy itself generates, and no inference engine", hint, field="--rollout-memory")


def _refuse(asked: AllOptions, names: tuple[str, ...], fact: str, hint: str) -> None:
    for name in names:
        if asked.given.get(name):
            raise InputError(fact, hint.format(flag_of(name)), field=flag_of(name))
