"""Every model type, with random sizes, switches and patterns, counts what transformers builds, tensor by tensor.

A few configs of each type here; `python benchmarks/coverage.py` takes fifty.
"""

from __future__ import annotations

import random

import pytest
from hf_random import files
from hf_truth import judge

from archcalc.importers.hf import translators
from archcalc.importers.hf.reading import described

NAMED = (
    "llama mistral mixtral qwen2 qwen2_moe qwen3 qwen3_moe qwen3_next gemma gemma2 gemma3_text phi phi3 phimoe falcon"
    " gpt2 gpt_neo gpt_neox gptj codegen opt bloom mpt stablelm starcoder2 gpt_bigcode olmo olmo2 olmo3 olmoe cohere"
    " cohere2 deepseek_v2 deepseek_v3 glm glm4 glm4_moe gpt_oss granite granitemoe llama4_text minimax_m2 smollm3"
    " seed_oss exaone4 ernie4_5 mamba mamba2 falcon_mamba jamba bamba recurrent_gemma nemotron_h bert roberta"
    " xlm-roberta distilbert albert electra deberta-v2 modernbert megatron-bert t5 mt5 umt5 bart mbart pegasus marian"
    " m2m_100 blenderbot whisper vit deit dinov2 beit"
)


def test_every_named_type_has_a_translator() -> None:
    assert set(NAMED.split()) <= set(translators())


def may_refuse(model_type: str, why: str) -> bool:
    """What builds and cannot run, or keeps what is computed with nothing; of other types anything."""
    honest = ("cannot run", "nothing reads", "are not there")
    return model_type not in NAMED.split() or any(word in why for word in honest)


@pytest.mark.parametrize("model_type", sorted(translators()))
def test_random_configs_are_exact(model_type: str) -> None:
    """As a sparse, a full and a diff file; what transformers itself cannot build does not count."""
    exact = 0
    for seed in range(3):
        rng = random.Random(f"{model_type} {seed}")
        for said in files(model_type, rng, described(model_type)["classes"]):
            verdict = judge(said)
            assert verdict.outcome != "wrong", f"{verdict}\n{said}"
            assert verdict.outcome != "refused" or may_refuse(model_type, verdict.why), f"{verdict}\n{said}"
            exact += verdict.outcome == "exact"
    assert exact or model_type not in NAMED.split()
