"""Attention that reads the keys and values of an earlier block: which block that is, and whether both agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from archcalc.archs.transformer.parts.attention_part import AttentionPart
from archcalc.archs.transformer.parts.part import Part, Surroundings
from archcalc.archs.transformer.pattern import BESIDE, Items, lines_of
from archcalc.core.errors import InputError, did_you_mean
from archcalc.layers.attention import Attention

_ALIKE = ("kv_heads", "head_dim", "v_dim", "sight")  # what keys and values are made for


def check_readers(parts: Mapping[str, Part], items: Items, around: Surroundings) -> None:
    """Refuses a reader of keys that no block before it makes, or that are of another shape."""
    seen: set[str] = set()
    for word in _in_order(items, around.scope.once):
        part = parts[word]
        if isinstance(part, AttentionPart) and part.kv_of:
            _check(part, parts, seen, around)
        seen.add(word)


def _in_order(items: Items, once: tuple[str, ...]) -> Iterator[str]:
    """The parts of all blocks, as they come first."""
    yield from once
    for line in lines_of(items):
        for word in line.words:
            yield from word.split(BESIDE)


def _check(reader: AttentionPart, parts: Mapping[str, Part], seen: set[str], around: Surroundings) -> None:
    at = around.places("variants", reader.name, "kv_of")[:2] + around.places(reader.name, "kv_of")
    source = parts.get(reader.kv_of)
    able = [word for word, part in parts.items() if isinstance(part, AttentionPart) and not part.kv_of]
    if not isinstance(source, AttentionPart) or source.name not in able:
        fact = f"{reader.name} reads the keys of {reader.kv_of}, which is no attention with keys of its own here"
        raise InputError(fact, did_you_mean(reader.kv_of, able), fields=at)
    if reader.kv_of not in seen:
        fact = f"{reader.name} reads the keys of {reader.kv_of}, which no block before it has"
        raise InputError(fact, f"let a block with {reader.kv_of} come first in the pattern", fields=at)
    mine, other = reader.layer, source.layer
    if not isinstance(other, Attention) or other.cross:
        raise InputError(f"{reader.kv_of} keeps no keys for others", "name softmax self-attention", fields=at)
    for field in _ALIKE:
        if getattr(mine, field) != getattr(other, field):
            what = {"sight": "window or chunk"}.get(field, field)
            hint = f"let {reader.name} be like {reader.kv_of}"
            raise InputError(f"{reader.name} and {reader.kv_of} differ in {what}", hint, fields=at)
