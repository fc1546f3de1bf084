"""Precision recipes of training: the dtypes of weights, gradients, optimizer states and activations."""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.core.errors import InputError, did_you_mean


@dataclass(frozen=True)
class Recipe:
    """`master` is a wider copy of the weights that the optimizer updates; `copies` a narrower one made for a step.

    `gathered` is what shards are turned into when they are gathered, and what the gradients of that are in."""

    name: str
    about: str
    weights: str
    gradients: str
    states: str
    activations: str
    master: str = ""
    copies: str = ""
    gathered: str = ""
    estimate: str = ""


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe("fp32", "everything in fp32", "fp32", "fp32", "fp32", "fp32"),
        Recipe("bf16", "everything in bf16, optimizer states included", "bf16", "bf16", "bf16", "bf16"),
        Recipe(
            "mixed",
            "bf16 weights, gradients and activations (fp16 takes the same), fp32 master weights and states",
            "bf16",
            "bf16",
            "fp32",
            "bf16",
            master="fp32",
        ),
        Recipe(
            "autocast",
            "fp32 weights, gradients and states; matrix products in bf16 on copies of the weights, kept for the step",
            "fp32",
            "fp32",
            "fp32",
            "bf16",
            copies="bf16",
        ),
        Recipe(
            "fp8",
            "as mixed, with fp8 for the inputs that linear layers save for backward and for copies of their weights",
            "bf16",
            "bf16",
            "fp32",
            "bf16",
            master="fp32",
            copies="fp8",
            estimate="fp8 training: libraries differ in which tensors they store in fp8",
        ),
    )
}


FSDP2 = Recipe(
    "mixed",
    "as FSDP2 shards it: fp32 shards of weights, gradients and states; gathered weights and activations in bf16, "
    "gradients summed in fp32",
    "fp32",
    "fp32",
    "fp32",
    "bf16",
    gathered="bf16",
)  # MixedPrecisionPolicy(param_dtype=bfloat16, reduce_dtype=float32), as torchtitan has it


def recipe(name: str, *, sharded: bool = False) -> Recipe:
    """A recipe by its name; sharded weights need no master weights beside them."""
    if name == "mixed" and sharded:
        return FSDP2
    if name not in RECIPES:
        hint = f"{did_you_mean(name, RECIPES)} (fp16: mixed takes the same)"
        raise InputError(f"no training precision called {name}", hint, field="--precision")
    return RECIPES[name]
