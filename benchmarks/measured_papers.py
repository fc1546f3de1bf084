"""Figures that papers work out: activations that a layer saves for its backward pass, and FLOPs of a training run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from measured_asked import Pair
from measured_codes import Case
from measured_units import Inexpressible

from archcalc import load
from archcalc.analyze.memory.answer import Memory

SEQ, BATCH, HIDDEN, HEADS, GPUS = 1024, 2, 2048, 16, 4  # any will do
WHOLE = SEQ * BATCH * HIDDEN
SCORES = 5 * HEADS * SEQ / HIDDEN
LAYERS: dict[str, tuple[dict[str, Any], float]] = {  # Korthikanti et al. 2022, arXiv:2205.05198, table 2
    "no parallelism": ({}, WHOLE * (34 + SCORES)),
    "TP t": ({"tp": GPUS}, WHOLE * (10 + 24 / GPUS + SCORES / GPUS)),
    "full recompute": ({"recompute": "full"}, 2 * WHOLE),
}


def layer(case: Case) -> Iterator[Pair]:
    """What one more layer keeps; the paper leaves out the norms' statistics."""
    plan = case.get("parallelism")
    if plan is None:
        return
    if plan not in LAYERS:
        raise Inexpressible("sequence parallelism that gathers inputs again, where PyTorch's saves them")
    options, said = LAYERS[plan]
    two, three = (_kept(blocks, **options) for blocks in (2, 3))
    yield "bytes of a layer", said, three - two


def _kept(blocks: int, **options: Any) -> int:
    spec = {"vocab": 50304, "d_model": HIDDEN, "heads": HEADS, "ffn": 4 * HIDDEN, "dropout": 0.1, "decoder": blocks}
    ask = Memory(load(spec), mode="train", precision="bf16", attention="eager", overhead=0, **options)
    return ask.at(BATCH, SEQ, depth=1).rows[0].parts["activations"]


def run(case: Case) -> Iterator[Pair]:
    """Six FLOPs for each parameter and token, as the paper counts them."""
    if "gpt-3" not in case["model"].lower():
        raise Inexpressible("the case does not give the model's shapes")
    report = load("gpt-3-175b").flops(mode="train", seq=case["seq"], tokens=int(case["flags"]["tokens"]))
    yield "FLOPs of a run", case["measured"]["train_flops"], report.rule or 0
