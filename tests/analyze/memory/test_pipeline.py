"""Pipeline stages: who holds which layers, how many micro-batches are in flight, and which stage is told."""

from __future__ import annotations

from typing import Any

import pytest

from archcalc import InputError, load
from archcalc.analyze.memory.deployment import deploy
from archcalc.analyze.memory.report import MemoryReport
from archcalc.analyze.memory.reporting import report
from archcalc.run.options import Options

BATCH, SEQ, H, V, LAYERS = 1, 64, 128, 256, 6
T = BATCH * SEQ
SPEC: dict[str, Any] = {
    "vocab": V,
    "d_model": H,
    "heads": 4,
    "ffn": {"width": 384, "act": "silu", "gated": True},
    "norm": "rms",
    "bias": False,
    "position": "rope",
    "decoder": LAYERS,
    "precision": "bf16",
}
LAYER = 4 * H * H + 3 * H * 384 + 2 * H
MIXED = {
    **SPEC,
    "moe": {"experts": 4, "top": 2, "width": 64},
    "decoder": {"blocks": LAYERS, "pattern": ["attention ffn", "attention moe"]},
}


def options(**more: Any) -> Options:
    given = {"mode": "train", "code": "megatron", "overhead": 0, "batch": BATCH, "seq": SEQ}
    return Options.of("memory", given | more)


def reports(spec: dict[str, Any], **more: Any) -> list[MemoryReport]:
    """Of each stage."""
    asked = options(**more)
    return [report(stage, asked.sizes) for stage in deploy(load(spec), asked).stages]


def weights(spec: dict[str, Any], **more: Any) -> list[int]:
    return [each.states["weights"] // 2 for each in reports(spec, **more)]


def test_embedding_on_the_first_stage_head_on_the_last() -> None:
    table = V * H
    assert weights(SPEC, pp=3) == [2 * LAYER + table, 2 * LAYER, 2 * LAYER + H + table]


def test_a_tied_table_is_on_both() -> None:
    table = V * H
    assert weights({**SPEC, "head": "tied"}, pp=2) == [3 * LAYER + table, 3 * LAYER + H + table]
    assert load({**SPEC, "head": "tied"}).memory(mode="train", code="megatron", batch=1, seq=8).states[
        "weights"
    ] == 2 * (6 * LAYER + table + H)


@pytest.mark.parametrize("pp", [2, 3, 6])
def test_stages_have_all_parameters_of_the_model(pp: int) -> None:
    """Also where they divide a period of different layers."""
    assert sum(weights(MIXED, pp=pp)) == int(load(MIXED).params().total)


def test_layers_come_in_their_order() -> None:
    """Of six alternating layers a third is one of each; half is two and one, then one and two."""
    dense, mixture = LAYER, 4 * H * H + 2 * H + 4 * H + 4 * 3 * H * 64
    assert weights(MIXED, pp=3)[1] == dense + mixture
    assert weights(MIXED, pp=2) == [2 * dense + mixture + V * H, dense + 2 * mixture + H + V * H]


def kept(report: MemoryReport) -> int:
    return report.rows[0].parts["activations"] + report.rows[0].parts["logits"]


@pytest.mark.parametrize(("micro_batches", "in_flight"), [(1, 1), (2, 2), (3, 3), (8, 3)])
def test_the_first_stage_keeps_as_many_micro_batches_as_are_in_flight(micro_batches: int, in_flight: int) -> None:
    """Never more than there are stages."""
    one, some = (reports(SPEC, pp=3, accumulate=number)[0] for number in (1, micro_batches))
    assert some.parts["activations"] - one.parts["activations"] == (in_flight - 1) * kept(one)


def test_later_stages_keep_fewer() -> None:
    """Three stages of equal layers: the one in the middle keeps those of two micro-batches, the last of one."""
    _, middle, last = reports(SPEC, pp=3, accumulate=8)
    _, alone, one = reports(SPEC, pp=3, accumulate=1)
    assert middle.parts["activations"] - alone.parts["activations"] == kept(alone)
    assert last.parts["activations"] == one.parts["activations"]


def test_behind_the_first_stage_the_gradient_sent_back_is_held() -> None:
    """Of the micro-batch before, if there is one."""
    first, middle, _ = reports(SPEC, pp=3, accumulate=8)
    assert reports(SPEC, pp=3, accumulate=3)[0].parts == first.parts
    assert middle.parts["temporary"] - reports(SPEC, pp=3, accumulate=2)[1].parts["temporary"] == 2 * T * H


def test_the_stage_with_the_most_is_answered_and_named() -> None:
    asked = {"pp": 3, "accumulate": 8, "batch": 64}
    every, answer = reports(SPEC, **asked), load(SPEC).memory(**options(**asked).given)
    assert answer.total_bytes == max(report.total_bytes for report in every)
    assert "stage 1 of 3 needs the most: layers 1 to 2 and the embedding, 3 micro-batches in flight" in [
        one.text for one in answer.assumptions
    ]
    wide = load({**SPEC, "vocab": 65536}).memory(**options(pp=6, accumulate=1).given)
    assert "stage 6 of 6 needs the most: layer 6 and the head, one micro-batch in flight" in [
        one.text for one in wide.assumptions
    ]


def test_without_a_number_of_micro_batches_every_stage_has_one() -> None:
    answer = load(SPEC).memory(**options(pp=3).given)
    assert answer.total_bytes == load(SPEC).memory(**options(pp=3, accumulate=3).given).total_bytes
    assert "3 micro-batches a step, so that every pipeline stage has one to work on" in [
        one.text for one in answer.assumptions
    ]


def test_gpus_of_all_stages_are_counted() -> None:
    answer = load(SPEC).memory(**options(pp=3, tp=2, sp=True, dp=4).given)
    assert answer.plan.gpus == 3 * 2 * 4
    assert "pp 3" in answer.title()


@pytest.mark.parametrize(
    ("spec", "pp", "fact"),
    [
        (SPEC, 4, "6 layers cannot be divided among 4 stages"),
        ({**SPEC, "encoder": 2, "decoder": 2}, 2, "an encoder and a decoder"),
        ({**SPEC, "decoder": {"blocks": 4, "distinct": 2}}, 2, "layers that share weights"),
    ],
)
def test_refused(spec: dict[str, Any], pp: int, fact: str) -> None:
    with pytest.raises(InputError, match=fact):
        load(spec).memory(mode="train", code="megatron", pp=pp)
