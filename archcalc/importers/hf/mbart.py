"""mBART, Pegasus and Blenderbot: BART with other positions, and norms in other places."""

from archcalc.importers.hf._helpers import Config, Fields, Value, bart_like

TYPES: dict[str, Fields] = {
    "blenderbot": {},
    "blenderbot-small": {"norm": bart_like.POST_NORM, "embedding_norm": True},
    "mbart": {"embedding_norm": True, "offset": bart_like.OFFSET},
    "pegasus": {"kind": "sinusoidal", "stored": True},
}
USUAL = "seq2seq"
INERT = bart_like.INERT


def translate(
    c: Config, *, norm: Fields | None = None, embedding_norm: bool = False, kind: str = "learned", **positions: Value
) -> Fields:
    """`kind` and `positions` are of the position encoding."""
    position = bart_like.positions(c, kind, **positions)
    return bart_like.bart(c, norm=norm, position=position, embedding_norm=embedding_norm)
