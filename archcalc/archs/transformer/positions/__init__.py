"""Position encodings, a file each: `WORD` (how specs call it) and `ENCODING`, a class with its fields, what it needs of
a model, and what it does while layers run. `encoding.Encoding` says what such a class may override.

Some are added to the embedding (sinusoidal, learned), the others act inside self-attention. Cross-attention has none: a
distance between a source and a target position means nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, create_model

from archcalc.archs.transformer.positions import (
    alibi,
    disentangled,
    learned,
    relative,
    rope,
    shaw,
    sinusoidal,
    transformer_xl,
)
from archcalc.archs.transformer.positions.encoding import Encoding
from archcalc.core.errors import InputError, Path
from archcalc.layers.patches import Patches
from archcalc.spec.node import Node, OneOrMore, as_tuple, merged

Encodings = tuple[Encoding, ...]

FILES = (sinusoidal, learned, rope, alibi, relative, disentangled, shaw, transformer_xl)  # in the order that help has
KINDS: dict[str, type[Encoding]] = {"none": Encoding} | {file.WORD: file.ENCODING for file in FILES}


class Written(Node):
    """A position encoding as a spec writes it, of any kind: the base of `Position`, which has the fields of all."""

    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        word: frozenset(encoding.model_fields) - {"kind"} for word, encoding in KINDS.items()
    }
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {word: tuple(each.needs) for word, each in KINDS.items()}
    if TYPE_CHECKING:
        kind: str


def _all_fields() -> dict[str, Any]:
    """Those of every kind, since a part may change the kind that its model says and keep other fields."""
    found = {name: info for encoding in KINDS.values() for name, info in encoding.model_fields.items()}
    words = {"kind": (Literal[*KINDS], found.pop("kind"))}
    return words | {name: (info.annotation, info) for name, info in found.items()}


Position = create_model(
    "Position", __base__=Written, __doc__="The position encoding.", __module__=__name__, **_all_fields()
)
Positions = Annotated[tuple[Position, ...], BeforeValidator(as_tuple), OneOrMore()]  # type: ignore[valid-type]


def nearer(scope: tuple[Written, ...], own: tuple[Written, ...] | None) -> tuple[Written, ...]:
    """A part's position fields, merged over those of the stack or model."""
    if own is None:
        return scope
    return (merged(scope[0], own[0]),) if len(scope) == len(own) == 1 else own


def resolved(
    written: tuple[Written, ...], d_model: int, patches: Patches | None, at: list[Path], table_at: list[Path]
) -> Encodings:
    """Each as the class of its kind, checked; `none` is left out. `at` are the places where they may be written, and
    `table_at` those of the stack's, which are the only ones with tables of an image."""
    found = [_of_kind(position).on_image(patches, at, table_at) for position in written]
    for position, encoding in zip(written, found, strict=True):
        position.check_kind(position.kind, *at)
        encoding.check(d_model, at)
    used = tuple(encoding for encoding in found if encoding.kind != "none")
    for on_embedding, where in ((True, "on the embedding"), (False, "in attention")):
        rivals = [encoding for encoding in used if encoding.on_embedding == on_embedding]
        if len(rivals) > 1 and not (len(rivals) == 2 and rivals[0].goes_with(rivals[1])):
            both = " and ".join(encoding.kind for encoding in rivals)
            raise InputError(f"{both} both act {where}", "keep one of them", fields=at)
    return used


def _of_kind(position: Written) -> Encoding:
    """The fields as written that this kind has, as an object of its class."""
    encoding = KINDS[position.kind]
    names = (position.model_fields_set | {"kind"}) & encoding.model_fields.keys()
    return encoding.model_construct(_fields_set=names, **{name: getattr(position, name) for name in names})


def in_attention(encodings: Encodings, own: tuple[Written, ...] | None, at: list[Path]) -> Encodings:
    """Those that act inside attention; a part may have no others."""
    for position in own or ():
        if KINDS[position.kind].on_embedding:
            fact = f"{position.kind} positions are added to the embedding, not in attention"
            raise InputError(fact, "write it at the model or the stack", fields=at)
    return tuple(encoding for encoding in encodings if not encoding.on_embedding)


def check_cross(own: tuple[Written, ...] | None, at: list[Path]) -> None:
    for position in own or ():
        if position.kind != "none":
            fact = f"cross-attention has no {position.kind} positions: source and target are two sequences"
            raise InputError(fact, "leave it out; self-attention keeps its own", fields=at)
