"""Attention that differs from block to block: a name for each kind, and the options that kind changes."""

from __future__ import annotations

from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Fields


def attentions(blocks: list[Fields], parts: list[str]) -> Fields:
    """The stack and its variants. `blocks` are the attention options in which each block differs from the default."""
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
    return {"variants": variants or None, "decoder": stack(lines)}


def _word(said: Fields, taken: Fields) -> str:
    """`local`, `chunked`, `free` (without positions) or a name with the head count; numbered if already taken."""
    if not said:
        return "attention"
    free = "position" in said and said["position"] == "none"
    named = {
        "local": "window" in said,
        "chunked": "chunk" in said,
        "indexed": "index" in said,
        "free": free,
        f"heads{said.get('heads')}": "heads" in said,
    }
    name = "_".join(word for word, is_so in named.items() if is_so) or "other"
    later = (f"{name}_{number}" for number in range(2, len(taken) + 3))
    return next(word for word in (name, *later) if word not in taken)
