"""The layer type of each block: from the file or the class default, and the stack built from them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config, Fields

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
    layers = usual if said is None else [_OLDER.get(word, word) for word in said]
    if not set(layers) <= set(known):
        raise c.refused("layer_types")
    return layers


def full(c: Config) -> list[str]:
    """Full attention in every block."""
    return [FULL] * c.size("num_hidden_layers")


def every(c: Config, period: int, other: str = SLIDING) -> list[str]:
    """Full attention in each `period`-th block, and the other kind in those before it."""
    return [other if block % period else FULL for block in range(1, c.size("num_hidden_layers") + 1)]


def first_of_every(c: Config, period: int, other: str = SLIDING) -> list[str]:
    """Full attention in the first of `period` blocks, and the other kind in the rest."""
    return [other if block % period else FULL for block in range(c.size("num_hidden_layers"))]


def sliding_from(c: Config, first: int, *, slides: bool) -> list[str]:
    """Full attention up to block `first`, sliding windows from there on, if there is a window."""
    blocks = range(c.size("num_hidden_layers"))
    return [SLIDING if slides and block >= first else FULL for block in blocks]


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
    known = {FULL: "full" if full else "attention", SLIDING: "local"}
    variants = {"local": {**({"window": window} if window else {}), **local}, "full": full or {}}
    words = [known[layer] if variants.get(known[layer]) else "attention" for layer in layers]
    named = {word: {"like": "attention", **said} for word, said in variants.items() if word in words}
    parts = part if isinstance(part, list) else [part] * len(words)
    return {"variants": named or None, "decoder": paired(words, parts)}


def paired(mixers: list[str], parts: list[str]) -> Any:
    """The stack of blocks that each have a mixer (attention, Mamba …) and a part behind it (FFN, experts)."""
    return stack([f"{mixer} {part}" for mixer, part in zip(mixers, parts, strict=True)])
