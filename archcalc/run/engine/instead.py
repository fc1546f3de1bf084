"""What an engine takes on a device in place of what a model is stored in, and what it computes in another way.

replacement(engine("vllm"), device, "bf16")         fp16 on devices without bf16
remarks(engine("vllm"), device, ("fp8",))           weight-only on devices without fp8
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.engine.requirements import is_below
from archcalc.run.engine.rules import EngineRules
from archcalc.run.engine.supports import lacks


@dataclass(frozen=True)
class Replacement:
    """What is taken, and why, as a sentence."""

    value: str
    why: str


def replacement(rules: EngineRules, device: DeviceFacts, precision: str, model_type: str = "") -> Replacement | None:
    """The number format that the engine takes on the device where it is not told one: fp32 checkpoints in 16 bits,
    fp16 on devices without bf16, and fp32 where that is not stable."""
    wanted = rules.narrows if precision == "fp32" and rules.narrows else precision
    if wanted != "bf16" or not lacks(rules, device, "bf16"):
        loaded = Replacement(wanted, f"{wanted}: {rules.name} loads fp32 checkpoints in 16 bits")
        return None if wanted == precision else loaded
    lack = f"{device.words} has no bf16"
    if lacks(rules, device, "fp16"):
        return Replacement("fp32", f"fp32 in place of bf16: {lack}, and no fp16 either")
    if model_type in rules.no_fp16:
        return Replacement("fp32", f"fp32 in place of bf16: {lack}, and {rules.name} runs no {model_type} in fp16")
    return Replacement("fp16", f"fp16 in place of bf16: {lack}")


def remarks(rules: EngineRules, device: DeviceFacts, weights: Iterable[str]) -> Iterator[str]:
    """Weights that run in another way than their format promises, or with something that has to be installed."""
    for kind in weights:
        found = rules.weights.get(kind, {}).get(device.maker)
        if found and is_below(device.capabilities, found.native):
            yield f"{kind} weights: {found.otherwise}, since {device.words} does not compute in {kind}"
        if found and found.needs:
            yield f"{kind} weights: {rules.title} needs {found.needs}"
