"""A word that a field does not take is refused by name, with all that it takes and the nearest of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest

from archcalc.archs import families, family_module
from archcalc.spec.fields import places
from archcalc.spec.other_names import plain, table

if TYPE_CHECKING:
    from typing import Any

    from conftest import Run, Write

RECURRENT = "family: recurrent\nvocab: 9\nembedding: 4\nhidden: 4\n"
SEQ2SEQ = RECURRENT + "cell: gru\nencoder: {}\ndecoder: {}\n"
TRANSFORMER = "vocab: 9\nd_model: 8\nheads: 2\nffn: 4\ndecoder: 1\n"


@pytest.mark.parametrize(
    ("text", "fact", "hint"),
    [
        (RECURRENT + "cell: mgru\n", "cell: 'mgru' is not one of lstm, gru, rnn", "the nearest is `gru`: the minimal"),
        (RECURRENT + "cell: xLSTM\n", "is not one of lstm, gru, rnn", "the nearest is `lstm`"),
        (SEQ2SEQ + "attention: multiplicative\n", "'multiplicative' is not one of dot", "the nearest is `general`"),
        (SEQ2SEQ + "attention: {score: Bahdanau}\n", "'Bahdanau' is not one of dot", "the nearest is `additive`"),
        (TRANSFORMER + "position: xpos\n", "'xpos' is not one of none, sinusoidal", "the nearest is `rope`"),
        (TRANSFORMER + "position: xl\n", "is not one of none, sinusoidal", "the nearest is `transformer-xl`"),
        (TRANSFORMER + "attention: {position: xpos}\n", "'xpos' is not one of none", "the nearest is `rope`"),
        (TRANSFORMER + "head: adaptive\n", "'adaptive' is not one of lm", "adaptive softmax"),
        ("family: autoencoder\nkind: denoising\n", "'denoising' is not one of linear", "the nearest is `deep`"),
        ("family: word2vec\nkind: cbow\noutput: hierarchical\n", "not one of softmax, negative", "is `negative`"),
        (RECURRENT + "cell: zzz\n", "'zzz' is not one of lstm, gru, rnn", "choose from"),
    ],
)
def test_a_word_is_refused_by_name(run: Run, write: Write, text: str, fact: str, hint: str) -> None:
    answer = run("params", write(text))
    assert answer.code == 2
    assert fact in answer.err
    assert hint in answer.err


def test_every_entry_names_a_word_that_its_field_takes_and_none_that_it_takes_anyway() -> None:
    checked = 0
    for family in families():
        for field, words in table(family, "nearest").items():
            choices = _choices(family, field)
            assert {entry["use"] for entry in words.values()} <= choices, field
            assert not set(words) & {plain(choice) for choice in choices if choice == plain(choice)}, field
            checked += len(words)
    assert checked > 50


def _choices(family: str, field: str) -> set[str]:
    """What the field of this path takes."""
    names = tuple(field.split("."))
    found = [place for place in places(family_module(family).Spec) if place.path[-len(names) :] == names]
    assert found, field
    return {choice for place in found for choice in _literals(place.info.annotation)}


def _literals(annotation: Any) -> set[str]:
    inner = get_args(annotation)
    return {one for one in inner if isinstance(one, str)} | {word for one in inner for word in _literals(one)}
