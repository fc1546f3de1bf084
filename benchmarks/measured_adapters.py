"""LoRA and its like in measured training runs, as options of archcalc."""

from __future__ import annotations

import re
from typing import Any

from measured_cases import Case
from measured_names import Typed
from measured_units import number
from measured_weights import weights_of
from measured_words import option

Options = dict[str, Any]

ADAPTED = ("q", "k", "v", "out", "gate", "up", "down", "head")
LAYERS = {"o": "out", "o_proj": "out", "q_proj": "q", "k_proj": "k", "v_proj": "v", "wo": "out"}
RANK = re.compile(r"\br(?:ank)? ?(\d+)\b", re.IGNORECASE)


def method_of(case: Case) -> str | None:
    """`lora`, or None of full training; refused where archcalc has no option for it."""
    return option("method", case["flags"].get("method"))


def adapters(case: Case, typed: Typed) -> Options:
    method = method_of(case)
    if method in ("dpo", "grpo"):
        return {"method": method}
    if method != "lora":
        return {}
    return {"lora": rank_of(case), "lora-targets": targets_of(case), "weights": _frozen(case, typed)}


def is_quantised(case: Case) -> bool:
    """Whether the frozen weights are, by any word of the case."""
    return option("weights", _said(case)) is not None or "qlora" in _said(case).lower()


def _frozen(case: Case, typed: Typed) -> str | None:
    """The format of frozen weights: as the case says, else NF4 where it says QLoRA."""
    found = weights_of({**case, "quantisation": _said(case)}, typed)
    return found or ("nf4" if "qlora" in _said(case).lower() else None)


def _said(case: Case) -> str:
    return " ".join(
        str(said or "") for said in (case.get("quantisation"), case.get("dtype"), case["flags"].get("method"))
    )


def rank_of(case: Case) -> int | None:
    flags = case["flags"]
    said = RANK.search(str(flags.get("method") or ""))
    return number(flags.get("rank") or flags.get("lora_rank") or (said[1] if said else None)) or None


def targets_of(case: Case) -> str | None:
    """Layers as archcalc names them; None where the case names none."""
    flags = case["flags"]
    said = flags.get("lora_targets") or flags.get("targets") or flags.get("layers") or flags.get("method") or ""
    text = ",".join(said) if isinstance(said, list) else str(said).lower()
    words = [LAYERS.get(word, word) for word in re.findall(r"[a-z_]+", text)]
    return option("targets", text) or ",".join(word for word in words if word in ADAPTED) or None
