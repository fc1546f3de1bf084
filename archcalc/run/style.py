"""The style of a run: how its training code computes layers, given number formats, the compiler and the plan."""

from __future__ import annotations

from typing import Any

from archcalc.core import style as plain
from archcalc.core.precision import BYTES
from archcalc.core.style import Gpus, Style
from archcalc.run.precision_recipes import Recipe
from archcalc.run.resolved import Run
from archcalc.styles import ends
from archcalc.styles.activations import WRITTEN
from archcalc.styles.ways import WAYS

COMPILED = ("qkv", "gate_up", "kv_heads", "dropout")  # the rest a compiler fuses, however it is written
ONE_MATRIX = ("qkv", "gate_up")
DIVIDED = {"wide": "wide_divided", "cast": "cast_divided"}  # routers, where a config says that chosen weights are


def style_of(run: Run) -> Style:
    """archcalc's own for an inference; else that of the run's code, by the names of its functions and by what a config
    says."""
    if run.recipe is None:
        return plain.PLAIN
    names, known, is_compiled = dict(run.code.layers), run.code.facts, run.compile != "none"
    if known.divides_chosen:
        names["router"] = DIVIDED.get(names.get("router", ""), names.get("router", "plain"))
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
    found |= _ends(run, run.recipe, found.get("loss", ends.fp32))
    gpus = Gpus(run.plan.tp, run.plan.cp, run.plan.ep, run.plan.sp)
    is_narrow = BYTES[run.activations] < BYTES["fp32"]
    return Style(run.code.name, is_narrow, run.recompute == "block", gpus, **found)


def _ends(run: Run, recipe: Recipe, loss: Any) -> dict[str, Any]:
    """Logits, loss and adapters, which more than the code's functions decides."""
    layers, chunks = run.code.layers, run.code.habits.loss_chunks
    casts_logits = layers.get("loss") == "model_fp32" and (run.loss_chunks == 1 or chunks != "list")
    logits = ends.capped if run.code.facts.caps_logits and run.compile == "none" else plain.AS_IT_IS
    if casts_logits and not run.method.reads_tokens:
        logits = ends.returned_in_fp32
    # one op for a method that has its own loss, and for a compiler that takes the loss
    if run.method.reads_tokens or (run.compile == "all" and not casts_logits):
        loss = plain.cross_entropy
    elif run.code.habits.head == "chunks" or (run.loss_chunks > 1 and chunks in ("list", "views")):
        loss = ends.fp32
    adapters = layers.get("adapters", "plain")
    # in fp32 only where they are kept so; peft's are elementwise code, which a compiler fuses
    if adapters == "fp32" and (BYTES[recipe.weights] != BYTES["fp32"] or run.compile != "none"):
        adapters = "plain"
    return {"logits": logits, "loss": loss, "adapter": WAYS["adapters"][adapters].fields["adapter"]}


def parameter_style(run: Run) -> Style:
    """archcalc's own, of the matrices that the run's code has: one for several, and those that get no adapters."""
    if run.recipe is None:
        return plain.PLAIN
    names = run.code.layers
    found: dict[str, Any] = {}
    for layer in ONE_MATRIX:
        if names.get(layer) == "split":
            found.update(WAYS[layer]["split"].fields)
    if "experts" in names:
        found["adapts_router"] = WAYS["experts"][names["experts"]].fields.get("adapts_router", True)
    return Style(**found)
