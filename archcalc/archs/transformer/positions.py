"""Position encodings: which combinations are allowed, what each needs, and where each acts.

Two act on the embedding (sinusoidal, learned), the others inside self-attention (rope, alibi, relative …).
Cross-attention has none: a distance between a source and a target position means nothing.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from archcalc.core.derived import Derived
from archcalc.core.errors import InputError, Path
from archcalc.spec.node import merged

if TYPE_CHECKING:
    from archcalc.archs.transformer.nodes import Position

Encodings = tuple["Position", ...]

ON_EMBEDDING = ("sinusoidal", "learned")
ON_SCORES = ("alibi", "relative", "disentangled", "shaw", "transformer-xl")
IN_ATTENTION = ("rope", *ON_SCORES)
_NEEDS = {"learned": ("length", 1024), "relative": ("buckets", 32), "disentangled": ("buckets", 256)}
_NEEDS |= {"shaw": ("distance", 16), "transformer-xl": ("memory", 150)}
_OF_PAIRS = ("sinusoidal", "transformer-xl")  # computed, as sines and cosines
_NEEDED_BY = {"q": "p2c", "k": "c2p"}  # the term that a projection of positions serves


def nearer(scope: Encodings, own: Encodings | None) -> Encodings:
    """A part's position fields, merged over those of the stack or model."""
    if own is None:
        return scope
    return (merged(scope[0], own[0]),) if len(scope) == len(own) == 1 else own


def checked(positions: Encodings, d_model: int, places: list[Path]) -> Encodings:
    """The position encodings other than `none`, each checked for the fields it needs."""
    for position in positions:
        position.check_kind(position.kind, *places)
        _check_needs(position, d_model, places)
    used = tuple(position for position in positions if position.kind != "none")
    for rivals in (ON_EMBEDDING, IN_ATTENTION):
        _check_one_of(rivals, used, places)
    return used


def _check_needs(position: Position, d_model: int, places: list[Path]) -> None:
    field, example = _NEEDS.get(position.kind, ("length", 1024))
    is_needed = (position.kind in _NEEDS or position.stored) and position.grid is None
    if is_needed and getattr(position, field) is None:
        stored = ", stored: true" if position.stored else ""
        hint = f"write `position: {{kind: {position.kind}, {field}: {example}{stored}}}`"
        raise InputError(f"{'stored ' if stored else ''}{position.kind} positions need {field}", hint, fields=places)
    for projection in position.project:
        if _NEEDED_BY[projection] not in position.terms:
            fact = f"a projection {projection} of positions is for the term {_NEEDED_BY[projection]}"
            raise InputError(fact, "add the term, or leave the projection out", fields=places)
    if position.kind in _OF_PAIRS and d_model % 2 and not position.stored:
        fact = f"{position.kind} positions are pairs of a sine and a cosine, and d_model {d_model} is odd"
        raise InputError(fact, f"use d_model {d_model - 1} or {d_model + 1}", fields=places)
    if position.length is not None and position.offset > position.length:
        fact = f"an offset of {position.offset:,} unused rows is more than the length of {position.length:,}"
        raise InputError(
            fact, "offset is the number of unused rows at the start of the table, such as 2", fields=places
        )


def _check_one_of(rivals: tuple[str, ...], used: Encodings, places: list[Path]) -> None:
    kinds = [position.kind for position in used if position.kind in rivals]
    one_table_each = {position.per for position in used if position.kind == "relative"} == {"stack", "block"}
    if len(kinds) > 1 and not (kinds == ["relative", "relative"] and one_table_each):
        where = "on the embedding" if rivals is ON_EMBEDDING else "in attention"
        raise InputError(f"{' and '.join(kinds)} both act {where}", "keep one of them", fields=places)


def in_attention(positions: Encodings, own: Encodings | None, places: list[Path]) -> Encodings:
    """The position encodings that act inside attention; a part may have no others."""
    for position in own or ():
        if position.kind in ON_EMBEDDING:
            fact = f"{position.kind} positions are added to the embedding, not in attention"
            raise InputError(fact, "write it at the model or the stack", fields=places)
    return tuple(position for position in positions if position.kind in IN_ATTENTION)


def is_table(position: Position) -> bool:
    """Whether it is one table for the whole stack, shared by every attention layer in it."""
    shared = {
        "relative": position.per == "stack",
        "disentangled": True,
        "rope": position.stored,
        "transformer-xl": position.shared,
    }
    return shared.get(position.kind, False)


def check_cross(own: Encodings | None, places: list[Path]) -> None:
    for position in own or ():
        if position.kind != "none":
            fact = f"cross-attention has no {position.kind} positions: source and target are two sequences"
            raise InputError(fact, "leave it out; self-attention keeps its own", fields=places)


def rotated_width(rope: Position, head_dim: int, places: list[Path]) -> int:
    """How much of each head is rotated, two by two. A share that is no whole number is rounded down, as transformers
    does it."""
    width = int(head_dim * rope.fraction)
    if width % 2 or not width:
        share = f"head_dim {head_dim}" if rope.fraction == 1 else f"{rope.fraction:g} of head_dim {head_dim}"
        comes_to = "is odd" if rope.fraction == 1 else f"is {width}"
        even = ceil(max(width - width % 2, 2) / head_dim * 10**6) / 10**6  # rounded up: rounding down would lose one
        hint = f"use an even head_dim, or `fraction: {even:g}`" if head_dim > 1 else "use an even head_dim"
        raise InputError(f"RoPE rotates pairs, and {share} {comes_to}", hint, fields=places)
    return Derived(width)
