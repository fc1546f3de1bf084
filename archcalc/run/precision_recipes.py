"""Precision recipes of training, read from presets/recipes: the number formats of weights, gradients, optimizer states
and activations.

    recipe("autocast").weights

What `--precision` means by a training code is in `archcalc.run.code.recipes`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from archcalc.spec import paths

CHECKPOINT = "checkpoint"  # frozen weights are in what the files have
WIDE_FILES = (None, "fp32", "fp64")  # a model whose files name no number format is fp32


@dataclass(frozen=True)
class Recipe:
    """`weights` is what is trained is kept in, `frozen` all else, if that differs. `master` is a wider copy of the
    weights that the optimizer updates; `copies` a narrower one made for a step.

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

    @property
    def of_frozen(self) -> str:
        """The number format of weights that are not trained."""
        return self.frozen or self.weights


@cache
def recipe(name: str) -> Recipe:
    """A recipe by its name; one that is `like` another has what it does not say from there."""
    from archcalc.spec.yaml_reader import read

    data: dict[str, Any] = read(paths.shipped("recipes")[name].read_bytes(), f"recipe {name}").data
    like = data.pop("like", None)
    return replace(recipe(like), **data) if like else Recipe(**data)
