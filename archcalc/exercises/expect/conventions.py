"""Readings of a model that are no mistakes, but conventions: a tied output layer, layers for further tokens."""

from __future__ import annotations

from archcalc.exercises.mistakes.in_the_model import GONE, Misreading
from archcalc.model import Model

ROWS = (64, 128)  # that vocabularies are padded to a multiple of
_MTP = "layers that predict further tokens are part of the checkpoint, not of the model that is run"
_OWN = {"blocks": 1, "own_tables": True}
_COPIES = "that stores a token table and a head of its own"

_TIED = (
    Misreading("with the output layer tied to the embedding", "", "head.kind", "tied", unsaid=True),
    Misreading("with an output layer of its own, not tied", "", "head.kind", "lm", ("tied",)),
)
_FURTHER = (
    Misreading("with a layer for multi-token prediction", _MTP, "head.mtp", 1, unsaid=True),
    Misreading(f"with a layer for multi-token prediction {_COPIES}", _MTP, "head.mtp", _OWN, unsaid=True),
    Misreading("without layers for multi-token prediction", _MTP, "head.mtp", GONE),
)


def conventions(model: Model) -> tuple[Misreading, ...]:
    """Layers for further tokens are counted in only where a spec says that it leaves something out."""
    return (*_TIED, *(_FURTHER if model.scope.left_out else _FURTHER[-1:]), *_padded(model))


def _padded(model: Model) -> list[Misreading]:
    """Tables whose rows were rounded up, as for tensor cores: GPT-2 with 50,304 tokens."""
    vocab = getattr(model.spec, "vocab", None)
    sizes = {-(-vocab // multiple) * multiple for multiple in ROWS} - {vocab} if isinstance(vocab, int) else set()
    return [Misreading(f"with the vocabulary padded to {size:,}", "", "vocab", size) for size in sorted(sizes)]
