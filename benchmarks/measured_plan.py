"""How a case says that a model is divided over GPUs, as options of archcalc.

A mapping may name any axis, in the words of its tool (`fsdp1_full_shard`, `deepspeed_zero3`, `tensor parallel`); words
are read where they leave no choice (`TP 2`, `FSDP over 8 GPUs`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from measured_cases import Case
from measured_units import Inexpressible, number

AXES = (  # the field of a plan, and how cases write the axis
    ("tp", r"tp|tensor.?parallel\w*|tensor"),
    ("pp", r"pp|pipeline.?parallel\w*|pipeline|sequential.*"),
    ("ep", r"ep|expert.?parallel\w*"),
    ("cp", r"cp|context.?parallel\w*|ulysses(_sp)?"),
    ("dp", r"dp|ddp.*|data.?parallel\w*|replicas|no_shard"),
    ("shards", r"fsdp\d?(_full_shard)?|full_shard|dp_shard|hsdp_shard"),
    ("gradient_shards", r"fsdp\d?_shard_grad_op|shard_grad_op"),
    ("gpus", r"gpus|world_size|num_gpus|devices"),
    ("zero", r"zero|zero_stage|deepspeed_zero|zero_optimization"),
)
STAGE = re.compile(r"(?:deepspeed_)?zero[-_ ]?([123])")  # deepspeed_zero3: 4 is stage 3 over 4
WORDS = (  # in a sentence: the axis, then its number, or the other way around
    ("tp", r"\btp[= -]?(\d+)|(\d+)-way tensor|tensor parallel\w*[= -]?(\d+)"),
    ("pp", r"\bpp[= -]?(\d+)|pipeline parallel\w*[= -]?(\d+)"),
    ("ep", r"\bep[= -]?(\d+)|expert parallel\w*[= -]?(\d+)"),
    ("cp", r"\bcp[= -]?(\d+)|context parallel\w*[= -]?(\d+)"),
    ("dp", r"\bd?dp[= -]?(\d+)|\bddp\D{1,12}(\d+)"),
    ("shards", r"\bfsdp\d?(?: \(?full[_ ]shard\)?)?[^\d,;]{0,12}(\d+)"),
    ("zero", r"zero[- ]?(?:stage )?([123])"),
    ("gpus", r"(\d+) ?(?:x )?gpus"),
)
ONE = re.compile(r"none|no|single[ -]gpu|1 ?gpu|no parallelism", re.IGNORECASE)


@dataclass(frozen=True)
class Plan:
    """Every axis that archcalc has an option for."""

    tp: int = 1
    pp: int = 1
    ep: int = 1
    cp: int = 1
    dp: int = 1
    zero: int = 0
    sp: bool = False
    reshard: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Those that say something: one GPU needs none."""
        axes = {name: size for name in ("tp", "pp", "ep", "cp", "dp") if (size := getattr(self, name)) > 1}
        sharded = {"zero": self.zero, "reshard-after-forward": self.reshard} if self.dp * self.cp > 1 else {}
        return {**axes, "sp": self.sp and self.tp > 1, **{name: value for name, value in sharded.items() if value}}

    @property
    def sharding(self) -> str:
        """The class of runs, the most intricate axis first, as archcalc's bands have it."""
        if self.pp > 1 or self.ep > 1:
            return "pipeline"
        if self.tp > 1 or self.cp > 1:
            return "tensor"
        if self.zero and self.dp > 1:
            return "fsdp" if self.zero == 3 else "zero"
        return "one"


def plan_of(case: Case) -> Plan:
    """As the case says it, in a mapping or in words."""
    said = case.get("parallelism") or {}
    sizes = _of_words(said) if isinstance(said, str) else _of_mapping(said)
    return _plan(sizes, said if isinstance(said, dict) else {})


def _of_mapping(said: Any) -> dict[str, int]:
    if not isinstance(said, dict):
        raise Inexpressible(f"a plan that is neither a mapping nor a sentence: {said}")
    found: dict[str, int] = {}
    for key, value in said.items():
        if stage := STAGE.fullmatch(str(key).lower()):
            found |= {"zero": int(stage[1]), "gpus": number(value, 1)}
        for axis, names in AXES:
            if re.fullmatch(names, str(key).lower()) and not isinstance(value, bool):
                found[axis] = number(value, 1)
    if number(said.get("etp"), 1) > 1:
        raise Inexpressible("tensor parallelism of experts of its own (etp)")
    return found


def _of_words(said: str) -> dict[str, int]:
    """Refused where no axis with a number is in it."""
    if ONE.fullmatch(said.strip()):
        return {}
    hits = {axis: re.search(pattern, said, re.IGNORECASE) for axis, pattern in WORDS}
    found = {axis: int(next(filter(None, hit.groups()))) for axis, hit in hits.items() if hit}
    if not found or set(found) <= {"gpus"} or ("zero" in found and len(found) == 1):
        raise Inexpressible(f"a plan in words that leave a choice: {said}")
    return found


def _plan(sizes: dict[str, int], said: dict[str, Any]) -> Plan:
    """GPUs that no axis takes are replicas. FSDP is ZeRO's stage 3, its SHARD_GRAD_OP stage 2."""
    axes = {name: sizes.get(name, 1) for name in ("tp", "pp", "ep", "cp")}
    shards, halves = sizes.get("shards", 0), sizes.get("gradient_shards", 0)
    others = max(1, sizes.get("gpus", 1) // (axes["tp"] * axes["pp"] * axes["cp"]))
    whole = shards or str(said.get("sharding", "")).upper() == "FULL_SHARD"
    zero = 3 if whole else (sizes.get("zero", 0) or 2 * bool(halves))
    kept = said.get("reshard_after_forward")
    reshard = {"never": "never", "False": "never", "always": "always"}.get(str(kept))
    dp = shards or halves or sizes.get("dp") or others
    return Plan(**axes, dp=dp, zero=zero, sp=bool(said.get("sp")), reshard=reshard)
