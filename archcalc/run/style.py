"""The style of a run: how its training code computes layers, given number formats, the compiler and the plan."""

from __future__ import annotations

from typing import Any

from archcalc.core import style as plain
from archcalc.core.precision import BYTES
from archcalc.core.style import Gpus, Style
from archcalc.run.resolved import Run
from archcalc.styles import ends
from archcalc.styles.activations import WRITTEN
from archcalc.styles.ways import WAYS

COMPILED = ("qkv", "gate_up", "kv_heads", "dropout")  # the rest a compiler fuses, however it is written
ONE_MATRIX = ("qkv", "gate_up")
DIVIDED = {"wide": "wide_divided", "cast": "cast_divided"}  # routers, where a config says that chosen weights are


def style_of(run: Run) -> Style:
    """archcalc's own for an inference; else that of the run's code, given what decides logits, loss and adapters."""
    if run.recipe is None:
        return plain.PLAIN
    gpus, chosen = Gpus(run.plan.tp, run.plan.cp, run.plan.ep, run.plan.sp), _of_layers(run)
    returns_fp32 = run.code.model_casts_logits(run.loss_chunks) and not run.method.reads_tokens
    is_capped = run.code.facts.caps_logits and run.compile == "none"
    own_logits = ends.capped if is_capped else plain.AS_IT_IS
    adapters = dict(run.code.layers).get("adapters", "plain")
    # in fp32 only where they are kept so; peft's are elementwise code, which a compiler fuses
    if adapters == "fp32" and (BYTES[run.recipe.weights] != BYTES["fp32"] or run.compile != "none"):
        adapters = "plain"
    chosen |= {
        "logits": ends.returned_in_fp32 if returns_fp32 else own_logits,
        "loss": _loss(run, chosen),
        "adapter": WAYS["adapters"][adapters].fields["adapter"],
    }
    return Style(run.code.name, is_narrow(run), run.recompute == "block", gpus, **chosen)


def parameter_style(run: Run) -> Style:
    """archcalc's own, of the matrices that the run's code has: one for several, and those that get no adapters."""
    if run.recipe is None:
        return plain.PLAIN
    names = dict(run.code.layers)
    found: dict[str, Any] = {}
    for layer in ONE_MATRIX:
        if names.get(layer) == "split":
            found.update(WAYS[layer]["split"].fields)
    if "experts" in names:
        found["adapts_router"] = WAYS["experts"][names["experts"]].fields.get("adapts_router", True)
    return Style(**found)


def is_narrow(run: Run) -> bool:
    """Whether activations have fewer than 32 bits."""
    return BYTES[run.activations] < BYTES["fp32"]


def _of_layers(run: Run) -> dict[str, Any]:
    """Fields of a style by the names of the code's functions, and by what a config says."""
    names, known = dict(run.code.layers), run.code.facts
    if known.divides_chosen:
        names["router"] = DIVIDED.get(names.get("router", ""), names.get("router", "plain"))
    is_compiled = run.compile != "none"
    found: dict[str, Any] = {}
    for layer, name in names.items():
        if layer in COMPILED or not is_compiled:
            found.update(WAYS[layer][name].fields)
    if "experts" in names:
        found["adapts_router"] = WAYS["experts"][names["experts"]].fields.get("adapts_router", True)
    if not is_compiled and known.activation in WRITTEN:
        found["activations"] = (WRITTEN[known.activation],)
    if not is_compiled and known.dropout is not None:
        found.setdefault("dropout", known.dropout)
    return found


def _loss(run: Run, chosen: dict[str, Any]) -> Any:
    """One op for a method that has its own loss, for a compiler that takes the loss, and for one in chunks."""
    if not run.trains or run.method.reads_tokens:
        return plain.cross_entropy
    if run.compile == "all" and not run.code.model_casts_logits(run.loss_chunks):
        return plain.cross_entropy
    in_chunks = run.code.habits.head == "chunks" or (
        run.loss_chunks > 1 and run.code.habits.loss_chunks in ("list", "views")
    )
    return ends.fp32 if in_chunks else chosen.get("loss", ends.fp32)
