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
    convolved,
    disentangled,
    learned,
    relative,
    rope,
    shaw,
    sinusoidal,
    transformer_xl,
)
from archcalc.archs.transformer.positions.encoding import Encoding, Site
from archcalc.core.errors import InputError
from archcalc.spec.node import Node, OneOrMore, as_tuple, field, merged

if TYPE_CHECKING:
    from archcalc.archs.transformer.parts.part import Surroundings

Encodings = tuple[Encoding, ...]

# in the order that help has
FILES = (sinusoidal, learned, convolved, rope, alibi, relative, disentangled, shaw, transformer_xl)
KINDS: dict[str, type[Encoding]] = {file.WORD: file.ENCODING for file in FILES}
_FIELDS: dict[str, Any] = {
    name: (info.annotation, info) for encoding in KINDS.values() for name, info in encoding.model_fields.items()
}
_KIND = (Literal["none", *KINDS], field("none", "The position encoding.", example="rope"))


class Written(Node):
    """A position encoding as a spec writes it, of any kind: the base of `Position`, which has the fields of all."""

    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {"none": frozenset()} | {
        word: frozenset(encoding.model_fields) - {"kind"} for word, encoding in KINDS.items()
    }
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {word: tuple(each.needs) for word, each in KINDS.items()}
    if TYPE_CHECKING:
        kind: str


Position = create_model(
    "Position",
    __base__=Written,
    __doc__="The position encoding.",
    __module__=__name__,
    **_FIELDS | {"kind": _KIND},
)
Positions = Annotated[tuple[Position, ...], BeforeValidator(as_tuple), OneOrMore()]  # type: ignore[valid-type]


def resolved(around: Surroundings, own: tuple[Written, ...] | None = None, *attention: str) -> Encodings:
    """Those of a stack, or those that act inside one of its attentions, where its own are merged over them: each as
    the class of its kind, and checked."""
    at = around.places(*attention, "position")
    site = Site(around.d_model, around.patches, at, around.places("position"), around.causal)
    scope: tuple[Written, ...] = around.scope.position
    written = scope
    if own is not None:
        written = (merged(scope[0], own[0]),) if len(scope) == len(own) == 1 else own
    found: list[Encoding] = []
    for position in written:
        if position.kind != "none":
            kind = KINDS[position.kind]
            names = position.model_fields_set & kind.model_fields.keys()
            given = {name: getattr(position, name) for name in names}
            encoding = kind.model_construct(_fields_set=names, **given)
            found.append(encoding.on_image(around.patches, site) if around.patches else encoding)
    for position in written:
        position.check_kind(position.kind, *at)
    for encoding in found:
        encoding.check(site)
    for on_embedding, where in ((True, "on the embedding"), (False, "in attention")):
        rivals = [encoding for encoding in found if encoding.on_embedding == on_embedding]
        if len(rivals) > 1 and not (len(rivals) == 2 and rivals[0].goes_with(rivals[1])):
            both = " and ".join(encoding.kind for encoding in rivals)
            raise InputError(f"{both} both act {where}", "keep one of them", fields=at)
    for position in own or ():
        if position.kind != "none" and KINDS[position.kind].on_embedding:
            fact = f"{position.kind} positions are added to the embedding, not in attention"
            raise InputError(fact, "write it at the model or the stack", fields=at[:2])
    return tuple(encoding for encoding in found if not (attention and encoding.on_embedding))
