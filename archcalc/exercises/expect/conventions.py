"""Readings of a model that are no mistakes, but conventions: a tied output layer, layers for further tokens."""

from __future__ import annotations

from archcalc.exercises.mistakes.in_the_model import Misreading, misreadings
from archcalc.model import Model

ROWS = (64, 128)  # that vocabularies are padded to a multiple of


def conventions(model: Model) -> list[Misreading]:
    """Layers for further tokens are counted in only where a spec says that it leaves something out."""
    known = misreadings()
    if model.scope.left_out:
        return [*known.conventions, *known.left_out, *_padded(model)]
    return [*known.conventions, *_padded(model)]


def _padded(model: Model) -> list[Misreading]:
    """Tables whose rows were rounded up, as for tensor cores: GPT-2 with 50,304 tokens."""
    vocab = getattr(model.spec, "vocab", None)
    if not isinstance(vocab, int):
        return []
    sizes = {-(-vocab // multiple) * multiple for multiple in ROWS} - {vocab}
    return [
        Misreading(name=f"with the vocabulary padded to {size:,}", field="vocab", value=size) for size in sorted(sizes)
    ]
