"""A peak is a value: equal deployments and sizes are simulated once, whoever asks."""

from __future__ import annotations

from typing import Any

import pytest

from archcalc import load
from archcalc.analyze.memory import training
from archcalc.analyze.memory.deployment import Deployment, deploy
from archcalc.analyze.memory.peak import PEAKS, STEPS, Peak, check, peak, played
from archcalc.analyze.memory.reporting import report
from archcalc.core.errors import InputError
from archcalc.run.options import Options
from archcalc.spec.sizes import Sizes

D, LAYERS, VOCAB, SEQ = 16, 2, 50, 8
SPEC: dict[str, Any] = {
    "vocab": VOCAB,
    "d_model": D,
    "heads": 2,
    "ffn": {"width": 32, "bias": False},
    "norm": "rms",
    "bias": False,
    "position": "rope",
    "decoder": LAYERS,
    "precision": "fp32",
}
BLOCK = 4 * D * D + 2 * D * 32 + 2 * D  # four projections, two matrices of the FFN, two norms
PARAMETERS = 2 * VOCAB * D + LAYERS * BLOCK + D  # table, head and last norm


def deployed(spec: dict[str, Any] | None = None, **options: Any) -> Deployment:
    given = {"mode": "train", "code": "plain", "precision": "fp32", "overhead": 0}
    return deploy(load(spec or SPEC), Options.of("memory", given | options))


@pytest.fixture
def simulations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The batches of the training steps that are simulated, in order."""
    found: list[int] = []
    original = training.simulated

    def counted(root: Any, work: Any, *others: Any) -> Any:
        found.append(work.batch)
        return original(root, work, *others)

    monkeypatch.setattr("archcalc.analyze.memory.peak.simulated_training", counted)
    for known in (peak, played):
        known.cache_clear()
    return found


def test_equal_values_are_simulated_once(simulations: list[int]) -> None:
    first, second = deployed(), deployed()
    assert first is not second and first == second and hash(first) == hash(second)
    found = peak(first, Sizes(3, SEQ))
    assert found.bytes == peak(second, Sizes(3, SEQ)).bytes
    assert simulations == [3]
    assert found.parts["weights"] == 4 * PARAMETERS
    assert found.parts["optimizer"] == 2 * 4 * PARAMETERS


def test_other_sizes_options_or_specs_are_other_values(simulations: list[int]) -> None:
    plain = peak(deployed(), Sizes(3, SEQ))
    longer = peak(deployed(), Sizes(3, 2 * SEQ))
    checkpointed = peak(deployed(recompute="full"), Sizes(3, SEQ))
    deeper = peak(deployed({**SPEC, "decoder": LAYERS + 1}), Sizes(3, SEQ))
    assert longer.bytes > plain.bytes > checkpointed.bytes
    assert deeper.parts["weights"] - plain.parts["weights"] == 4 * BLOCK
    assert len(simulations) == 4


def test_a_report_needs_no_second_simulation(simulations: list[int]) -> None:
    deployment = deployed()
    found = peak(deployment, Sizes(3, SEQ))
    answer = report(deployment, Sizes(3, SEQ))
    assert (answer.total_bytes, answer.required_bytes) == (found.bytes, found.required)
    assert simulations == [3]
    assert (
        answer.marginals and answer.marginals.sequence and sorted(simulations) == [3, 3, 4]
    )  # longer by 1,000; one more


def test_what_is_required_simulates_the_allocator_when_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    original = training.unrolled

    def noted(*given: Any) -> Any:
        asked.append("allocator")
        return original(*given)

    monkeypatch.setattr("archcalc.analyze.memory.peak.unrolled", noted)
    peak.cache_clear()
    found = peak(deployed(), Sizes(3, SEQ))
    assert found.bytes and not asked
    assert found.required >= found.bytes and found.required and asked == ["allocator"]


def test_what_was_asked_first_is_forgotten_first(simulations: list[int]) -> None:
    deployment = deployed()
    sizes = [Sizes(batch, 2) for batch in range(1, STEPS + 2)]
    found = [peak(deployment, one).bytes for one in sizes]
    assert [peak(deployment, one).bytes for one in sizes] == found and len(simulations) == len(sizes)
    assert peak.cache_info().maxsize == PEAKS and played.cache_info().maxsize == STEPS
    _ = peak(deployment, sizes[0]).step  # of which the bytes are known, and the step is not any more
    assert simulations[-1] == 1 and len(simulations) == len(sizes) + 1


def test_of_a_pipeline_the_stage_that_has_the_most() -> None:
    whole = deploy(load(SPEC), Options.of("memory", {"mode": "train", "code": "megatron", "pp": 2, "overhead": 0}))
    each = [peak(stage, Sizes(1, SEQ)) for stage in whole.stages]
    assert len(each) == 2 and {one.deployment.stage.number for one in each if one.deployment.stage} == {0, 1}
    assert peak(whole, Sizes(1, SEQ)) == max(each, key=lambda one: one.bytes)


def test_sizes_are_no_part_of_a_deployment() -> None:
    assert deployed(batch=2, seq=4) == deployed()
    assert deployed(lora=4) != deployed()


def test_what_a_model_does_not_allow_is_refused_before_it_is_simulated(simulations: list[int]) -> None:
    table = deployed({**SPEC, "position": {"kind": "learned", "length": 16}})
    with pytest.raises(InputError, match="position table has 16"):
        check(table, Sizes(1, 17))
    check(table, Sizes(1, 16))
    assert not simulations


def test_an_error_is_not_remembered() -> None:
    table = deployed({**SPEC, "position": {"kind": "learned", "length": 16}})
    for _ in range(2):
        with pytest.raises(InputError):
            peak(table, Sizes(1, 17))
    assert isinstance(peak(table, Sizes(1, 16)), Peak)
