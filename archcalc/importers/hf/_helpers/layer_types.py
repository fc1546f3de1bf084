"""The layer type of each block: from the file or the class default, and the stack built from them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config, Fields, when

FULL, SLIDING, LINEAR = "full_attention", "sliding_attention", "linear_attention"
WINDOWS = (FULL, SLIDING)
HYBRID = (FULL, LINEAR)
_OLDER = {"attention": FULL, "mamba": LINEAR}  # words of older files


def layer_types(c: Config, usual: list[str], known: Collection[str] = WINDOWS) -> list[str]:
    """`layer_types` of the file, or `usual`, what the class makes of other fields; all of them of `known` kinds."""
    said = c.words("layer_types")
    if said is not None and len(said) != c.size("num_hidden_layers"):
        blocks = c.get("num_hidden_layers")
        raise c.refused("layer_types", f"it names {len(said)} layers, but num_hidden_layers is {blocks}")
    layers = usual
    if said is not None:
        layers = [_OLDER.get(word, word) for word in said]
    if not set(layers) <= set(known):
        raise c.refused("layer_types")
    return layers


def full_where(c: Config, is_full: Callable[[int], Any], other: str = SLIDING) -> list[str]:
    """Full attention in the blocks that a rule names by their number, and the other kind in the rest."""
    kinds = {True: FULL, False: other}
    return [kinds[bool(is_full(block))] for block in range(c.size("num_hidden_layers"))]


def full(c: Config) -> list[str]:
    """Full attention in every block."""
    return [FULL] * c.size("num_hidden_layers")


def every(c: Config, period: int, other: str = SLIDING) -> list[str]:
    """Full attention in each `period`-th block, and the other kind in those before it."""
    return full_where(c, lambda block: (block + 1) % period == 0, other)


def first_of_every(c: Config, period: int, other: str = SLIDING) -> list[str]:
    """Full attention in the first of `period` blocks, and the other kind in the rest."""
    return full_where(c, lambda block: block % period == 0, other)


def sliding_from(c: Config, first: int, *, slides: bool) -> list[str]:
    """Full attention up to block `first`, sliding windows from there on, if there is a window."""
    return full_where(c, lambda block: not (slides and block >= first))


def sliding(
    c: Config,
    layers: list[str],
    window: Any,
    *,
    full: Fields | None = None,
    part: str | list[str] = "ffn",
    **local: Any,
) -> Fields:
    """The stack, and the variants that its pattern names: `local` with a window, `full` where that differs too."""
    if not set(layers) <= set(WINDOWS):
        raise c.refused("layer_types")
    variants = {SLIDING: ("local", {**when(window, window=window), **local}), FULL: ("full", full)}
    known = {layer: (word, said) for layer, (word, said) in variants.items() if said}
    words = [known.get(layer, ("attention",))[0] for layer in layers]
    named = {word: {"like": "attention", **said} for word, said in known.values() if word in words}
    if isinstance(part, str):
        part = [part] * len(words)
    return {"variants": named or None, "decoder": paired(words, part)}


def paired(mixers: list[str], parts: list[str]) -> Any:
    """The stack of blocks that each have a mixer (attention, Mamba …) and a part behind it (FFN, experts)."""
    return stack([f"{mixer} {part}" for mixer, part in zip(mixers, parts, strict=True)])
