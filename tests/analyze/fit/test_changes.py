"""Which changes a request may take, by facts that are made up: no model is simulated for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from archcalc import load
from archcalc.analyze.fit.change import Change, joined
from archcalc.analyze.fit.changes import axes, in_parts, with_layers
from archcalc.analyze.fit.facts import Facts
from archcalc.analyze.fit.request import Request, request_of
from archcalc.run.options import Options

NOTHING = Facts(
    engine=None,
    kind=None,
    has_bf16=False,
    has_fused_attention=False,
    has_bitsandbytes=False,
    shares_layers=False,
    divides=False,
    decodes=False,
    weighs=False,
    bits=0,
    cache_bits=0,
    serves=False,
    has_host=False,
    deals_out_layers=False,
)


def request(**options: Any) -> Request:
    return request_of(load("gpt2"), Options.of("fit", options))


def offered(asked: Request, facts: Facts) -> list[str]:
    return [one.option for axis in axes(asked, facts) for one in axis]


def test_a_training_step_on_a_device_of_which_nothing_is_known() -> None:
    assert offered(request(mode="train", seq=64), NOTHING) == [
        "--loss-chunks 16",
        "--recompute selective",
        "--recompute ops",
        "--recompute full",
        "--lora 16",
        "--seq 32",
        "--seq 16",
    ]


@pytest.mark.parametrize(
    ("fact", "option"),
    [
        ("has_bf16", "--precision mixed"),
        ("has_fused_attention", "--attention flash"),
        ("has_bitsandbytes", "--optimizer adam8bit"),
        ("divides", "--zero 3"),
        ("has_host", "--offload optimizer"),
    ],
)
def test_a_change_is_offered_where_its_fact_holds(fact: str, option: str) -> None:
    asked = request(mode="train")
    assert option not in offered(asked, NOTHING)
    known = replace(NOTHING)
    object.__setattr__(known, fact, True)
    assert option in offered(asked, known)


def test_what_was_asked_for_is_not_offered_again() -> None:
    facts = replace(NOTHING, has_fused_attention=True)
    assert "--attention flash" not in offered(request(mode="train", attention="flash"), facts)
    assert "--lora 16" not in offered(request(mode="train", lora=8), facts)


def test_only_formats_that_are_narrower_are_offered() -> None:
    asked = request()
    at_8_bits = offered(asked, replace(NOTHING, bits=8, cache_bits=8))
    assert all("8" not in option.partition("_")[0] for option in at_8_bits if option.startswith("--weights"))
    assert offered(asked, replace(NOTHING, bits=16, cache_bits=16)) != at_8_bits
    assert not any(option.startswith(("--weights", "--kv-dtype")) for option in offered(asked, NOTHING))


def test_what_is_offloaded_already_stays_so() -> None:
    asked = request(mode="train", offload=("activations",))
    assert "--offload optimizer,activations" in offered(asked, replace(NOTHING, has_host=True))


def test_a_micro_batch_keeps_the_batch_of_a_training_step() -> None:
    asked = request(mode="train", batch=12)
    smaller = next(one for axis in axes(asked, NOTHING) for one in axis if one.batch)
    assert smaller.option == "--batch 1 --accumulate 12"
    assert in_parts(asked, smaller, 4).option == "--batch 4 --accumulate 3"


def test_layers_on_the_cpu_cost_more_the_more_they_are() -> None:
    asked = request()
    few, most = with_layers(asked, 12), with_layers(asked, 3)
    assert few.price == "the CPU computes 1 of 13 layers"  # llama.cpp counts the output layer
    assert (few.cost, most.cost) == (14 + 40 * 1 // 13, 14 + 40 * 10 // 13)


def test_changes_that_are_joined_set_all_their_options() -> None:
    lora = Change("LoRA", 24, "trains only adapters", {"lora": 16}, cuts=True)
    shorter = Change("shorter", 10, "32 tokens", length=32, cuts=True)
    exact = Change("recompute", 4, "time", {"recompute": "full"}, exact=True)
    both = joined([exact, lora, shorter])
    assert both.option == "--recompute full --lora 16 --seq 32"
    assert (both.options, both.length, both.batch) == ({"recompute": "full", "lora": 16}, 32, None)
    assert (both.cost, both.cuts, both.exact) == (4 + 24 + 10, True, False)
    assert both.settings() == {"recompute": "full", "lora": "16", "seq": "32"}
