"""Training precisions on a device: what it cannot train in, and fp16 in place of bf16."""

from __future__ import annotations

from archcalc.core.errors import InputError
from archcalc.run.device.capabilities import Capabilities
from archcalc.run.precision_recipes import Recipe


def training_refusal(device: Capabilities, recipe: Recipe) -> InputError | None:
    """Products in fp8 need its arithmetic; a step that is in bf16 throughout has no counterpart in fp16, whose range is
    too small for optimizer states."""
    if recipe.products == "fp8" and device.fp8 is False:
        return _lacks(device, "fp8", "choose --precision mixed")
    if recipe.states == "bf16" and device.bf16 is False:
        return _lacks(device, "bf16", "choose --precision mixed, in fp16 there, or fp32")
    if "bf16" in (recipe.weights, recipe.activations) and device.bf16 is False and device.fp16 is False:
        return _lacks(device, "bf16 and no fp16", "choose --precision fp32")
    return None


def training_replacement(device: Capabilities, recipe: Recipe) -> str:
    """The sentence where fp16 with a scaled loss, which takes the same memory, stands for bf16; else nothing."""
    if "bf16" not in (recipe.weights, recipe.activations) or device.bf16 is not False:
        return ""
    return f"fp16 with a scaled loss in place of bf16, which takes the same: {device.words} has no bf16"


def _lacks(device: Capabilities, what: str, hint: str) -> InputError:
    return InputError(f"{device.words} has no {what}", hint, field="--precision")
