"""What presets/accuracy/code.json says of types, measured again for a sample of them."""

from __future__ import annotations

import pytest
from compare_peaks import compared as measured
from peak_difference import Way

from archcalc.run.accuracy import Compared, compared

SAMPLE = (
    "llama",
    "bert",
    "gpt2",
    "t5",
    "gpt_neox",
    "mistral",
    "qwen3",
    "mixtral",
    "vit",
    "roberta",
    "gemma2",
    "cohere",
)
ROUNDING = 0.01  # percent


@pytest.mark.wide(4)
@pytest.mark.parametrize("model_type", SAMPLE)
def test_a_type_is_as_far_from_its_class_as_the_data_say(model_type: str) -> None:
    """In bf16 with the default kernel: the first of the drawn configs is no further off than the worst of them."""
    stated = compared(model_type, "bf16", recompute=False, lora=False)
    found = measured(model_type, configs=1, ways=(Way("bf16"),))
    assert stated and stated.class_name == found["class"]
    assert abs(found["bf16"]["worst"]) <= abs(stated.percent) + ROUNDING


def test_an_answer_repeats_the_comparison() -> None:
    stated = compared("llama", "bf16", recompute=False, lora=False)
    assert stated and stated.sentence().startswith("equals transformers' LlamaForCausalLM within ")
    assert Compared("ViTModel", -0.0, 2, "5.22.2").sentence().startswith("equals transformers' ViTModel within 0.01 % ")
    assert compared("no such type", "bf16", recompute=False, lora=False) is None
