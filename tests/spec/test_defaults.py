"""What a hand-written spec leaves out is said: the default that was taken, and the field that changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from archcalc import load
from archcalc.cli.commands.init import starter_of, starters
from archcalc.core.assumptions import Topic
from archcalc.spec.paths import presets
from archcalc.spec.yaml_reader import read

if TYPE_CHECKING:
    from conftest import Run, Write

SMALL: dict[str, Any] = {"vocab": 100, "d_model": 8, "heads": 2, "ffn": 16, "decoder": 1}
CLASSIFIER: dict[str, Any] = {"kind": "classifier", "classes": 2}
RECURRENT: dict[str, Any] = {"family": "recurrent", "vocab": 9, "embedding": 8, "cell": "lstm", "hidden": 8}


def taken(spec: dict[str, Any]) -> dict[str, Any]:
    """The fields that were left out, with the value of each."""
    return {each.option: each.value for each in load(spec).params().assumptions if each.topic == Topic.DEFAULT}


def test_a_short_spec_names_what_was_taken(run: Run, write: Write) -> None:
    """In one sentence for people, whatever is asked."""
    spec = write("vocab: 100\nd_model: 8\nheads: 2\nffn: 16\ndecoder: 1\n")
    for command in ("params", "shapes", "flops", "memory"):
        told = " ".join(run(command, spec).out.split())
        assert "not in the spec, so taken by default: no position encoding (position), layer norms (norm)" in told
        assert told.count("taken by default") == 1


def test_programs_read_each_choice_by_its_field() -> None:
    usual = {"position": "none", "norm": "layer", "norm.place": "pre", "bias": "true", "ffn.act": "gelu", "head": "lm"}
    assert taken(SMALL) == usual


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"position": "rope"}, "position"),
        ({"decoder": {"blocks": 1, "position": "rope"}}, "position"),
        ({"norm": "rms"}, "norm"),
        ({"norm": {"place": "post"}}, "norm.place"),
        ({"bias": False}, "bias"),
        ({"attention": {"bias": False}, "ffn": {"width": 16, "bias": True}}, "bias"),
        ({"ffn": {"width": 16, "act": "relu"}}, "ffn.act"),
        ({"head": "tied"}, "head"),
        ({"head": "none"}, "head"),
    ],
)
def test_what_the_spec_says_is_not_said_again(said: dict[str, Any], field: str) -> None:
    assert field in taken(SMALL)
    assert field not in taken({**SMALL, **said})


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        ({**SMALL, "head": CLASSIFIER}, {"head.bias", "head.pool"}),
        ({**RECURRENT}, {"head"}),
        ({**RECURRENT, "head": CLASSIFIER}, {"head.bias", "head.pool"}),
        (
            {**RECURRENT, "encoder": 1, "decoder": 1, "attention": "dot"},
            {"head", "attention.when", "attention.bias", "decoder.start"},
        ),
        ({"family": "autoencoder", "kind": "linear", "input": 8, "hidden": 2}, {"bias"}),
    ],
)
def test_every_family_declares_its_choices(spec: dict[str, Any], fields: set[str]) -> None:
    assert fields <= set(taken(spec))


def test_a_model_without_attention_needs_no_positions() -> None:
    mamba = {"vocab": 100, "d_model": 8, "mamba": {"state": 4}, "decoder": {"blocks": 1, "pattern": ["mamba"]}}
    assert set(taken(mamba)) == {"norm", "norm.place", "head"}


@pytest.mark.parametrize("name", starters())
def test_starters_leave_nothing_out(name: str) -> None:
    assert taken(read(starter_of(name).encode(), name).data) == {}


@pytest.mark.parametrize("name", ["gpt2", "textbook", "linear-autoencoder", "sentiment-lstm"])
def test_presets_that_ship_are_checked_against_their_source(name: str) -> None:
    """So they need no word on defaults; the same text as a file of one's own does."""
    assert all(each.topic != Topic.DEFAULT for each in load(name).params().assumptions)
    assert taken(read(presets()[name].read_bytes(), name).data)


@pytest.mark.parametrize("spec", [SMALL, RECURRENT], ids=["transformer", "recurrent"])
def test_a_classifier_has_a_bias_in_every_family(spec: dict[str, Any]) -> None:
    """As nn.Linear has: one number for each class."""
    with_default, without = (
        load({**spec, "head": {**CLASSIFIER, **more}}).params().total for more in ({}, {"bias": False})
    )
    assert with_default - without == CLASSIFIER["classes"]
