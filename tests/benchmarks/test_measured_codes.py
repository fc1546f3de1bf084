"""Which training code, of which month, a measured case comes from."""

from __future__ import annotations

import pytest
from measured_codes import code_of, facts_of

TITAN = "https://github.com/pytorch/torchtitan"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f"{TITAN} benchmarks/llama3_h100_202412_torchtitan.md Table 1", "torchtitan@2024-12"),
        (f"{TITAN} commit 5940ddeb5 (#822)", "torchtitan@2025-01"),  # of 6 February: the end of January is nearer
        (f"{TITAN} commit 069bae286 (#808)", "torchtitan@2025-02"),
        (f"{TITAN}/pull/985", "torchtitan@2025-03"),
        (f"{TITAN} a log of 2025-07-10", "torchtitan@2025-06"),
        (TITAN, "torchtitan"),
        ("https://github.com/pytorch/torchtune bd2a0fc README.md Optimization flags", "torchtune@2024-11-18"),
        ("https://github.com/Lightning-AI/litgpt 2685705 tutorials/resource-tables.md", "litgpt@2023-10"),
        ("https://github.com/MooreThreads/SimuMax 4dcaae5 docs/b200", "megatron"),
        ("https://github.com/huggingface/peft/issues/1", "transformers"),
        ("https://example.org/a-log", None),
    ],
)
def test_the_code_is_named_by_the_source(source: str, expected: str | None) -> None:
    assert code_of({"source": source}) == expected


def test_what_a_case_says_of_its_code_comes_before_its_source() -> None:
    case = {"source": "https://github.com/modelscope/ms-swift 3602360", "flags": {"code": "ms-swift Megatron-SWIFT"}}
    assert code_of(case) == "megatron"
    said = {
        "source": f"{TITAN} benchmarks/llama3_h100_202412_torchtitan.md",
        "flags": {"code": "fsdp_qlora, March 2024"},
    }
    assert code_of(said) == "fsdp_qlora@2024-03"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("HF Trainer via trl SFTTrainer; transformers 4.48.1, trl 0.13.0, torch 2.4.1", "trl@0.13"),
        ("peft method_comparison, peft 0.19.2.dev0, transformers 5.13.1", "transformers@5.13"),
        ("a script with transformers 9.99", "transformers"),  # of a release that is not known nothing is said
    ],
)
def test_a_release_is_read_from_what_a_case_says_of_its_code(said: str, expected: str) -> None:
    assert code_of({"source": "somewhere", "flags": {"code": said}}) == expected


def test_a_run_that_sets_no_allocator_says_so() -> None:
    """torchtitan's script sets expandable segments; some sources start torchrun themselves."""
    source = f"{TITAN} benchmarks/llama3-8b_h200_202506_trainy-whitefiber.md"
    assert facts_of({"source": source}).get("allocator") == "plain"
    assert facts_of({"source": TITAN}) == {}
