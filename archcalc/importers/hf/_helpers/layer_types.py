"""The layer type of each block, from the file or the class default, and the stack of blocks that differ.

A list of blocks, one line each, is written as the shortest repeating pattern: `[2 × rglru ffn, attention ffn]`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import groupby
from typing import Any

from archcalc.importers.hf._helpers.reading import Config, Fields, when

FULL, SLIDING, LINEAR = "full_attention", "sliding_attention", "linear_attention"
WINDOWS = (FULL, SLIDING)
HYBRID = (FULL, LINEAR)
_OLDER = {"attention": FULL, "mamba": LINEAR}  # words of older files
LONGEST_PERIOD = 16


def stack(lines: list[str], usual: str = "attention ffn") -> Any:
    """The value of `decoder:`: a number if all blocks are the default ones, else blocks and their pattern."""
    if set(lines) == {usual}:
        return len(lines)
    period = _period(lines)
    if period and len(period) < len(lines):
        return {"blocks": len(lines), "pattern": runs(period)}
    return {"pattern": written(lines)}


def spelled_out(stack: Any) -> dict[str, Any]:
    """A stack as a mapping of its own, also where a number of blocks says it all."""
    return dict(stack) if isinstance(stack, dict) else {"blocks": stack}


def written(lines: list[str]) -> list[Any]:
    """The shortest pattern for exactly these blocks: a prefix, a repeated period and a suffix."""
    best: list[Any] = runs(lines)
    for start in range(min(len(lines), LONGEST_PERIOD)):
        rest = lines[start:]
        period = _period(rest)
        if not period or len(rest) < 2 * len(period):
            continue
        rounds, left = divmod(len(rest), len(period))
        found = [*runs(lines[:start]), {"repeat": rounds, "pattern": runs(period)}, *runs(rest[len(rest) - left :])]
        best = min(best, found, key=_length)
    return best


def runs(lines: list[str]) -> list[Any]:
    """Equal neighbours as `5 × local ffn`."""
    grouped = [(line, len(list(same))) for line, same in groupby(lines)]
    return [f"{times} × {line}".removeprefix("1 × ") for line, times in grouped]


def _period(lines: list[str]) -> list[str] | None:
    """The shortest prefix that gives all lines when it is repeated and truncated."""
    for length in range(1, min(len(lines), LONGEST_PERIOD) + 1):
        if all(line == lines[index % length] for index, line in enumerate(lines)):
            return lines[:length]
    return None


def _length(pattern: list[Any]) -> int:
    inner = sum(_length(item["pattern"]) for item in pattern if isinstance(item, dict))
    return len(pattern) + inner


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


def of_blocks(c: Config) -> dict[int, Any] | None:
    """`per_layer_config`: what single blocks have of their own, by their number, which files write with zeros in front
    of it (05)."""
    said = c.given("per_layer_config")
    if said is None:
        return None
    if not isinstance(said, dict) or not all(str(block).isdecimal() for block in said):
        raise c.wrong("per_layer_config", "a mapping of the number of a block to its fields")
    return {int(block): fields for block, fields in said.items()}


def mixers(c: Config, usual: list[str], linear: str) -> list[str]:
    """For each block attention, or the kind of linear attention that the spec calls `linear`."""
    words = {FULL: "attention", LINEAR: linear}
    return [words[layer] for layer in layer_types(c, usual, known=words)]


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


def attentions(blocks: list[Fields], parts: list[str]) -> Fields:
    """The stack and its variants. `blocks` are the attention options in which each block differs from the default."""
    variants, lines = _lines(blocks, parts)
    return {"variants": variants or None, "decoder": stack(lines)}


def line_of(said: Fields, part: str, blocks: list[Fields], parts: list[str]) -> str | None:
    """What `attentions` calls a block with these options and that part; None where the model has none of either."""
    if part not in parts or (said and said not in blocks):
        return None
    word = _lines(blocks, parts)[1][blocks.index(said)].split()[0] if said else "attention"
    return f"{word} {part}"


def _lines(blocks: list[Fields], parts: list[str]) -> tuple[Fields, list[str]]:
    words: dict[str, str] = {}
    variants: Fields = {}
    lines = []
    for said, part in zip(blocks, parts, strict=True):
        key = repr(sorted(said.items(), key=str))
        if key not in words:
            words[key] = _word(said, variants)
        if said:
            variants.setdefault(words[key], {"like": "attention", **said})
        lines.append(f"{words[key]} {part}")
    return variants, lines


def _word(said: Fields, taken: Fields) -> str:
    """`local`, `chunked`, `free` (without positions) or a name with the head count; numbered if already taken."""
    if not said:
        return "attention"
    free = "position" in said and said["position"] == "none"
    named = {
        "local": "window" in said,
        "chunked": "chunk" in said,
        "compressed": "compress" in said,
        "indexed": "index" in said or "block_index" in said or "index" in said.get("compress", {}),
        "free": free,
        f"heads{said.get('heads')}": "heads" in said,
    }
    name = "_".join(word for word, is_so in named.items() if is_so) or "other"
    later = (f"{name}_{number}" for number in range(2, len(taken) + 3))
    return next(word for word in (name, *later) if word not in taken)


def longformer_windows(c: Config, blocks: int) -> tuple[Fields, Fields | None, Any]:
    """Longformer's attention, its variants and the stack: a sliding window for all blocks, or one for each, and second
    projections for tokens with global attention."""
    c.notes.append("sliding-window attention is counted as full attention under a mask; the class computes parts of it")
    c.notes.append("no token has global attention: the projections for such tokens are counted, but not used")
    each = c.get("attention_window")
    if not isinstance(each, list):
        each = [c.size("attention_window")] * blocks
    if len(each) != blocks or not all(isinstance(one, int) and one > 0 for one in each):
        raise c.wrong("attention_window", f"a window, or one for each of {blocks} blocks")
    differ = [when(one != each[0], window=one) for one in each]
    made = attentions(differ, ["ffn"] * blocks)
    return {"window": each[0], "global_qkv": True}, made["variants"], made["decoder"]
