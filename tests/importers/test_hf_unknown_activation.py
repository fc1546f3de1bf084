"""An activation that archcalc does not know: what needs it is refused by name, and everything else is answered."""

from __future__ import annotations

import pytest

import archcalc
from archcalc.core.errors import InputError

SAID = {
    "model_type": "llama",
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_hidden_layers": 3,
    "vocab_size": 50,
} | {"intermediate_size": 40}
KNOWN, UNKNOWN = archcalc.load(SAID), archcalc.load({**SAID, "hidden_act": "something_new"})


def test_parameters_and_memory_of_inference_are_those_of_any_other() -> None:
    assert UNKNOWN.params().total == KNOWN.params().total
    for mode in ("infer", "decode"):
        ours, theirs = (model.memory(mode=mode, seq=100) for model in (UNKNOWN, KNOWN))
        assert ours.record()["parts"] == theirs.record()["parts"]


def test_a_summary_has_its_matrix_products() -> None:
    assert UNKNOWN.summary().rows == KNOWN.summary().rows
    assert UNKNOWN.summary().rows[0].flops == KNOWN.flops(mode="forward").forward


def test_every_answer_says_what_it_takes_for_granted() -> None:
    for report in (UNKNOWN.params(), UNKNOWN.memory(mode="infer"), UNKNOWN.shapes(), UNKNOWN.summary()):
        assert any("something_new, and takes it to have no parameters" in each.text for each in report.assumptions)


@pytest.mark.parametrize("ask", ["flops", "train"])
def test_what_needs_it_is_refused(ask: str) -> None:
    with pytest.raises(InputError, match="archcalc does not know this activation") as told:
        if ask == "flops":
            UNKNOWN.flops()
        else:
            UNKNOWN.memory(mode="train")
    assert "--set ffn.act=silu" in told.value.hint


def test_another_in_its_place_counts() -> None:
    assert UNKNOWN.changed("ffn.act=silu").flops().total == KNOWN.flops().total


def test_one_with_parameters_of_its_own_is_refused() -> None:
    with pytest.raises(InputError, match="prelu"):
        archcalc.load({**SAID, "hidden_act": "prelu"})


def test_that_of_a_part_is_said_of_the_whole() -> None:
    vision = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    said = {"model_type": "llava", "text_config": {**SAID, "hidden_act": "something_new"}, "vision_config": vision}
    assert any("something_new" in doubt for doubt in archcalc.load(said).spec.doubts)
