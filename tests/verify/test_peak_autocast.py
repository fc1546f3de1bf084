"""Transformers' classes under autocast, as its Trainer runs them with bf16=True, beside PyTorch's own autocast.

What is kept between the passes is equal to the byte, or within 0.5 % beside LoRA's bf16 norms, of which autocast casts
weights; the peaks are within 0.4 % (forward pass), 0.2 % (backward pass) and 0.1 % (optimizer step).
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.autocast_training import AutocastTraining, trace

from archcalc.importers.hf._helpers import imported
from archcalc.model import Model
from archcalc.reference.lifetimes import Phase
from archcalc.verify.hf.peak import OPTIMIZERS, SECOND, Asked, _kept, _targets, played
from archcalc.verify.hf.training import Setting

BATCH, SEQ = 2, 64
SIZES: dict[str, Any] = {"hidden_size": 256, "num_attention_heads": 4, "num_hidden_layers": 3, "vocab_size": 1000}
CONFIGS: dict[str, dict[str, Any]] = {
    "LlamaForCausalLM": {"model_type": "llama", **SIZES, "intermediate_size": 688, "num_key_value_heads": 2},
    "MistralForCausalLM": {"model_type": "mistral", **SIZES, "num_key_value_heads": 2, "sliding_window": 32},
    "MixtralForCausalLM": {"model_type": "mixtral", **SIZES, "num_key_value_heads": 2, "num_local_experts": 4},
    "GPT2LMHeadModel": {"model_type": "gpt2", "n_embd": 256, "n_head": 4, "n_layer": 3, "vocab_size": 1000},
    "BertForMaskedLM": {"model_type": "bert", **SIZES, "intermediate_size": 1024},
    "T5ForConditionalGeneration": {
        "model_type": "t5",
        "d_model": 256,
        "d_ff": 512,
        "num_heads": 4,
        "num_layers": 3,
        "num_decoder_layers": 3,
        "vocab_size": 1000,
    },
}
SMALL = 0.02  # what functions' variables hold, which is not followed, weighs the more the smaller a model is
WAYS = {
    "flash": Asked("autocast"),
    "eager": Asked("autocast", "eager"),
    "checkpointing": Asked("autocast", recompute="full"),
    "lora": Asked("autocast", lora=8),
}


T5_CLASS = "T5ForConditionalGeneration"  # checkpointed, its blocks hand a bias on that this small one is too much of
COMPARED = [(name, way) for name in CONFIGS for way in WAYS if (name, way) != (T5_CLASS, "checkpointing")]


@pytest.mark.wide(8)
@pytest.mark.parametrize(("name", "way"), COMPARED)
def test_a_step_under_autocast_takes_what_pytorch_takes(name: str, way: str) -> None:
    config, asked = {**CONFIGS[name], "architectures": [name], "torch_dtype": "bfloat16"}, WAYS[way]
    ours = played(Model.from_document(imported.document(config, "config.json"), name, ()), asked, BATCH, SEQ)
    there = trace(
        AutocastTraining(config, _setting(config, asked), base=torch.bfloat16 if asked.lora else torch.float32)
    )
    kept = sum(one.bytes for one in _kept(there))
    assert kept > BATCH * SEQ * 256 * 4 * 3  # an fp32 tensor a layer, at least
    assert ours.kept_bytes == pytest.approx(kept, rel=0.005)
    for phase, allowed in (("forward", SMALL), ("backward", SMALL), ("step", 0.003)):
        assert ours.peaks[phase] == pytest.approx(there.peaks[Phase(phase, SECOND)].bytes, rel=allowed)


def _setting(config: dict[str, Any], asked: Asked) -> Setting:
    return Setting(
        BATCH,
        SEQ,
        precision="fp32",
        attention=asked.attention,
        optimizer=OPTIMIZERS[asked.optimizer],
        recompute=asked.recompute != "none",
        lora=asked.lora,
        targets=_targets(config) if asked.lora else (),
    )
