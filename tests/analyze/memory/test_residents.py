"""What stands beside a model, made of plain values: a step's bytes by part, a run, a workload."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from archcalc import load
from archcalc.analyze.memory.deployment import Deployment, deploy
from archcalc.analyze.memory.draft import draft_model, draft_sizes
from archcalc.analyze.memory.engine_pool import beside_cache, required_by_engine, room_of
from archcalc.analyze.memory.residents import Resident, joined
from archcalc.analyze.memory.rollout import rollout, rollout_sizes
from archcalc.analyze.memory.simulated import Simulated
from archcalc.core.errors import InputError
from archcalc.run.options import Options
from archcalc.simulate.events import Change
from archcalc.spec.sizes import Sizes
from archcalc.spec.workload import Workload

SCHEDULE: Any = None  # which nobody here reads
START = {"weights": 500, "kv_cache": 40, "state": 2, "overhead": 9}
WORK = Workload(4, {"seq": 32})


def deployed(**options: Any) -> Deployment:
    return deploy(load("gpt2"), Options.of("memory", options))


def test_what_residents_hold_is_there_from_the_start() -> None:
    step = Simulated(START, [], SCHEDULE)
    found = joined(step, [Resident("draft", "draft model", {"draft": 7, "draft_cache": 3}), Resident("x", "x")])
    assert found.start == {**START, "draft": 7, "draft_cache": 3} and found.changes == []


def test_a_draft_is_its_weights_and_its_cache() -> None:
    found = draft_model(deployed(), deployed(), Simulated(START, [], SCHEDULE))
    assert found.held == {"draft": 500, "draft_cache": 42}
    assert found.row.parts["weights"] == 500 and found.row.parts["kv_cache"] == 42
    assert [note.text.partition(":")[0] for note in found.assumptions][1:] == ["draft model"]


def test_a_draft_answers_the_target_s_sequences() -> None:
    assert draft_sizes(WORK) == Sizes(4, 32)
    assert draft_sizes(Workload(4, {"seq": 1}, mode="decode", context=99)) == Sizes(4, context=99)


@pytest.mark.parametrize(
    ("options", "held", "elsewhere"),
    [
        ({"rollout": "same"}, {"rollout": 500, "rollout_cache": 42}, 0),
        ({"rollout": "same", "rollout_memory": 800}, {"rollout": 500, "rollout_cache": 300}, 0),
        ({"rollout": "other", "overhead": 9}, {}, 500 + 42 + 9),
        ({"rollout": "policy"}, {}, 0),
        ({"rollout": "sleep"}, {}, 0),
    ],
)
def test_an_engine_that_generates(options: dict[str, Any], held: dict[str, int], elsewhere: int) -> None:
    policy = deployed(mode="train", method="grpo", **options)
    found = rollout(policy.run, policy.options, WORK, START)
    assert (found.held, found.elsewhere) == (held, elsewhere)
    passing = {one.part: one.bytes for one in found.passing if isinstance(one, Change) and one.bytes > 0}
    generated = {"policy": {"rollout_cache": 42}, "sleep": {"rollout": 500, "rollout_cache": 42}}
    assert passing == generated.get(options["rollout"], {})
    assert found.own_pool == (options["rollout"] == "sleep")


def test_an_engine_with_less_memory_than_its_weights_is_refused() -> None:
    policy = deployed(mode="train", method="grpo", rollout="same", rollout_memory=500)
    with pytest.raises(InputError, match="weights alone take 500"):
        rollout(policy.run, policy.options, WORK, START)


def test_completions_of_a_step_are_generated_together() -> None:
    policy = deployed(mode="train", method="grpo", accumulate=8, dp=2, rollout="other")
    assert rollout_sizes(policy.run, WORK) == Sizes(4 * 8 * 2, seq=32)


def test_an_engine_s_share_of_a_device() -> None:
    engine = replace(deployed(engine="vllm").run.engine, share=0.5)
    assert required_by_engine(engine, 1000, 200) == 2 * 1200
    assert room_of(engine, 1000, 5000) == 2500 - 1000
    assert room_of(engine, 1000, 1800) == -100
    parts = {"weights": 700, "kv_cache": 50, "state": 1, "draft_cache": 2, "activations": 200, "overhead": 100}
    outside = engine.graphs_outside(3)
    assert beside_cache(engine, parts, 3) == 1000 - outside


def test_a_share_of_what_is_free_before_loading() -> None:
    """SGLang: free after loading - (1 - share) · free before it; activations have to fit into what it leaves."""
    engine = replace(deployed(engine="sglang").run.engine, share=0.8)
    parts = {"weights": 700, "adapters": 20, "draft": 30, "kv_cache": 50, "activations": 200, "overhead": 100}
    beside = beside_cache(engine, parts, 3)
    assert room_of(engine, beside, 2000) == (1900 - 750) - (2000 - 100) // 5
    assert required_by_engine(engine, beside, 50) == 100 + (750 + 50) / 0.8
