"""Plans of cases: any axis of a mapping, sentences that leave no choice, and the class of sharding."""

from __future__ import annotations

from typing import Any

import pytest
from measured_plan import plan_of
from measured_units import Inexpressible


@pytest.mark.parametrize(
    ("said", "options", "sharding"),
    [
        ({}, {}, "one"),
        (None, {}, "one"),
        ({"tp": 2, "pp": 1, "dp": 1}, {"tp": 2}, "tensor"),
        ({"fsdp": 8}, {"dp": 8, "zero": 3}, "fsdp"),
        ({"fsdp1_full_shard": 2}, {"dp": 2, "zero": 3}, "fsdp"),
        ({"fsdp": 4, "tp": 2, "ep": 2}, {"tp": 2, "ep": 2, "dp": 4, "zero": 3}, "pipeline"),
        ({"deepspeed_zero3": 4}, {"dp": 4, "zero": 3}, "fsdp"),
        ({"deepspeed_zero": 2, "gpus": 8}, {"dp": 8, "zero": 2}, "zero"),
        ({"gpus": 8, "deepspeed_zero": 3, "ulysses_sp": 8}, {"cp": 8, "zero": 3}, "tensor"),
        (
            {"gpus": 16, "tp": 2, "pp": 2, "ep": 4, "sp": True},
            {"tp": 2, "pp": 2, "ep": 4, "dp": 4, "sp": True},
            "pipeline",
        ),
        ({"ddp (NO_SHARD)": 2}, {"dp": 2}, "one"),
        ({"sequential (pipeline by layers)": 4}, {"pp": 4}, "pipeline"),
        ({"fsdp": 8, "reshard_after_forward": False}, {"dp": 8, "zero": 3, "reshard-after-forward": "never"}, "fsdp"),
        ("TP 2", {"tp": 2}, "tensor"),
        ("TP=4, PP=2", {"tp": 4, "pp": 2}, "pipeline"),
        ("FSDP over 8 GPUs", {"dp": 8, "zero": 3}, "fsdp"),
        ("ZeRO-3 on 4 GPUs", {"dp": 4, "zero": 3}, "fsdp"),
        ("single GPU", {}, "one"),
    ],
)
def test_a_plan_is_read_in_the_words_of_its_tool(said: Any, options: dict[str, Any], sharding: str) -> None:
    plan = plan_of({"parallelism": said})
    assert {name: value for name, value in plan.options.items() if value} == options
    assert plan.sharding == sharding


@pytest.mark.parametrize("said", ["some", "TP t", "8 GPUs", "ZeRO-3", ["tp", 2], {"tp": "many"}, {"etp": 2}])
def test_a_plan_that_leaves_a_choice_is_refused(said: Any) -> None:
    with pytest.raises(Inexpressible):
        plan_of({"parallelism": said})
