"""What an engine that fills its share of a card can be told, before weights are narrowed or a context is cut."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc

TIGHT: dict[str, Any] = {"weights": "int4", "seq": 8192, "engine": "vllm@0.14"}


def offered(gpu: str = "2x3090", **more: Any) -> list[str]:
    """As a user types them; Llama 3.1 70B in four bits is 18.5 GiB on each of two cards of 24."""
    return [one.change.option for one in archcalc.fit(archcalc.load("llama-3.1-70b"), [gpu], **TIGHT, **more).remedies]


def test_a_larger_share_comes_first() -> None:
    assert offered()[0].startswith("--gpu-memory-utilization 0.95")


def test_few_requests_make_room_where_logits_take_much() -> None:
    """1,024 requests sort 201,088 logits each in 38 bytes on an H100: 7.3 GiB, which 16 of them do not take."""
    found = archcalc.fit(archcalc.load("gpt-oss-120b"), ["h100"], engine="vllm@0.14", seq=131072)
    assert found.remedies[0].change.option == "--gpu-memory-utilization 0.95 --max-num-seqs 16"
    sorted_less = (1024 - 16) * 201_088 * 38
    assert found.rows[0].required_bytes - found.remedies[0].required > sorted_less


def test_what_was_given_stays() -> None:
    assert any("--max-num-seqs 16" in option for option in offered(gpu_memory_utilization=0.9))
    assert not any("utilization" in option for option in offered(gpu_memory_utilization=0.9))
    given = offered(gpu_memory_utilization=0.9, max_num_seqs=256, enforce_eager=True)
    assert not any("--max-num-seqs" in option or "--enforce-eager" in option for option in given)


@pytest.mark.parametrize("engine", ["llama.cpp", "transformers"])
def test_engines_without_a_share_are_told_nothing_of_it(engine: str) -> None:
    remedies = archcalc.fit(archcalc.load("llama-3.1-8b"), ["12GB"], engine=engine, seq=8192).remedies
    assert remedies and not any("utilization" in one.change.option for one in remedies)
