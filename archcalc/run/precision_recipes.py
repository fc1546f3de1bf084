"""Precision recipes of training: the dtypes of weights, gradients, optimizer states and activations."""

from __future__ import annotations

from dataclasses import dataclass, replace

from archcalc.core.errors import InputError, did_you_mean


@dataclass(frozen=True)
class Recipe:
    """`master` is a wider copy of the weights that the optimizer updates; `copies` a narrower one made for a step.

    `gathered` is what shards are turned into when they are gathered, and what the gradients of that are in;
    `gathered_matrices` what the blocks' matrices are turned into, if that is narrower. `products` is what linear layers
    multiply in, if that is narrower than the activations."""

    name: str
    about: str
    weights: str
    gradients: str
    states: str
    activations: str
    master: str = ""
    copies: str = ""
    gathered: str = ""
    gathered_matrices: str = ""
    products: str = ""
    estimate: str = ""


_FP8 = "fp8 training: libraries differ in which tensors they store in fp8"

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
            products="fp8",
            estimate=_FP8,
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


_FP8_PRODUCTS = "as mixed under FSDP2, with products of linear layers in fp8"
SHARDED = {  # torchao's Float8Linear, with enable_fsdp_float8_all_gather or without
    "mixed": FSDP2,
    "fp8": replace(FSDP2, name="fp8", about=_FP8_PRODUCTS, products="fp8", estimate=_FP8),
    "fp8-gathered": replace(
        FSDP2,
        name="fp8-gathered",
        about=f"{_FP8_PRODUCTS}, whose weights are gathered in fp8",
        gathered_matrices="fp8",
        products="fp8",
        estimate=_FP8,
    ),
}

MAIN_GRADIENTS = {  # Megatron-LM, --accumulate-allreduce-grads-in-fp32, which bf16 weights switch on
    "fp32": RECIPES["fp32"],
    "mixed": replace(
        RECIPES["mixed"],
        gradients="fp32",
        gathered="bf16",  # and the gradients that are made before they are added to those
        about="bf16 weights and activations (fp16 takes the same), fp32 main gradients, master weights and states",
    ),
    "fp8": replace(RECIPES["fp8"], gradients="fp32", gathered="bf16"),
}


def recipe(name: str, *, sharded: bool = False, main_gradients: bool = False) -> Recipe:
    """A recipe by its name; sharded weights need no master weights beside them."""
    if sharded and name in SHARDED:
        return SHARDED[name]
    if name in SHARDED and name not in RECIPES:
        fact = f"{name} is about weights that FSDP shards"
        raise InputError(fact, "add --zero 3 and --dp, or use --precision fp8", field="--precision")
    if main_gradients and name in RECIPES:
        if name not in MAIN_GRADIENTS:
            hint = f"choose from: {', '.join(MAIN_GRADIENTS)}"
            fact = f"{name} has no fp32 main gradients, which this training code keeps"
            raise InputError(fact, hint, field="--precision")
        return MAIN_GRADIENTS[name]
    if name not in RECIPES:
        hint = f"{did_you_mean(name, RECIPES)} (fp16: mixed takes the same)"
        raise InputError(f"no training precision called {name}", hint, field="--precision")
    return RECIPES[name]
