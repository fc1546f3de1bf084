"""Precision recipes of training, read from presets/recipes: the number formats of weights, gradients, optimizer states
and activations; and which of them a device cannot train in, or computes in fp16 in place of bf16.

    recipe("autocast").weights

What `--precision` means by a training code is in `archcalc.run.code.rules`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from archcalc.core.errors import InputError
from archcalc.run.device.capabilities import Capabilities
from archcalc.spec import paths
from archcalc.spec.data_files import document

CHECKPOINT = "checkpoint"  # frozen weights are in what the files have
WIDE_FILES = (None, "fp32", "fp64")  # a model whose files name no number format is fp32


@dataclass(frozen=True)
class Recipe:
    """`weights` is what is trained is kept in, `frozen` all else, `frozen_vectors` its norms and biases, if they are
    wider. `master` is a wider copy of the weights that the optimizer updates; `copies` a narrower one made for a step.

    `gathered` is what shards are turned into when they are gathered, and what the gradients of that are in;
    `gathered_matrices` what the blocks' matrices are turned into, if that is narrower; `reduced` what gradients are
    summed over GPUs in, if not in what they are kept in. `products` is what linear layers multiply in, if that is
    narrower than the activations; `autocast`, that torch.autocast decides it op by op."""

    name: str
    words: str  # for one line
    about: str
    weights: str
    gradients: str
    states: str
    activations: str
    source: str = ""
    frozen: str = ""
    frozen_vectors: str = ""
    master: str = ""
    copies: str = ""
    gathered: str = ""
    gathered_matrices: str = ""
    reduced: str = ""
    products: str = ""
    autocast: bool = False
    reduce_bucket: int = 0  # elements of a buffer that gradients are summed over GPUs in, during the backward pass
    updates_flat: bool = False  # the optimizer's step flattens gradients, and copies them to the format of the states
    estimate: str = ""
    word: str = ""  # that was asked for


@cache
def recipe(name: str) -> Recipe:
    """A recipe by its name; one that is `like` another has what it does not say from there."""
    files = paths.shipped("recipes")
    data = dict(document(files[name]).data)
    while like := data.pop("like", None):
        data = {**document(files[like]).data, **data}
    return Recipe(**{"frozen": data["weights"], **data})


def training_replacement(device: Capabilities, recipe: Recipe) -> str:
    """The sentence where fp16 with a scaled loss, which takes the same memory, stands for bf16; else nothing. Products
    in fp8 need its arithmetic; a step that is in bf16 throughout has no counterpart in fp16, whose range is too small
    for optimizer states: both are refused where the device has none."""
    lacks, hint, is_bf16 = "", "", "bf16" in (recipe.weights, recipe.activations)
    if recipe.products == "fp8" and device.fp8 is False:
        lacks, hint = "fp8", "choose --precision mixed"
    elif recipe.states == "bf16" and device.bf16 is False:
        lacks, hint = "bf16", "choose --precision mixed, in fp16 there, or fp32"
    elif is_bf16 and device.bf16 is False and device.fp16 is False:
        lacks, hint = "bf16 and no fp16", "choose --precision fp32"
    if lacks:
        raise InputError(f"{device.words} has no {lacks}", hint, field="--precision")
    if not is_bf16 or device.bf16 is not False:
        return ""
    return f"fp16 with a scaled loss in place of bf16, which takes the same: {device.words} has no bf16"
