"""LoRA's parameters, trainable and frozen: as peft counts them, in every answer that has them."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import peft
import pytest
import torch
import transformers
from support.hf_small import small

from archcalc import InputError, load
from archcalc.importers.hf._helpers.reading import described

if TYPE_CHECKING:
    from conftest import Run

RANK = 4
CLASSES = {  # with the layers that make queries and values: apart, or in one matrix, which is adapted as a whole
    "LlamaForCausalLM": ("llama", ["q_proj", "v_proj"]),
    "GPT2LMHeadModel": ("gpt2", ["c_attn"]),  # Conv1D
    "GPTBigCodeForCausalLM": ("gpt_bigcode", ["c_attn"]),
    "GPTNeoXForCausalLM": ("gpt_neox", ["query_key_value"]),
    "FalconForCausalLM": ("falcon", ["query_key_value"]),
    "Phi3ForCausalLM": ("phi3", ["qkv_proj"]),
    "OPTForCausalLM": ("opt", ["q_proj", "v_proj"]),
    "MixtralForCausalLM": ("mixtral", ["q_proj", "v_proj"]),
    "GptOssForCausalLM": ("gpt_oss", ["q_proj", "v_proj"]),
    "JambaForCausalLM": ("jamba", ["q_proj", "v_proj"]),
    "T5ForConditionalGeneration": ("t5", ["q", "v"]),
    "BartForConditionalGeneration": ("bart", ["q_proj", "v_proj"]),
    "WhisperForConditionalGeneration": ("whisper", ["q_proj", "v_proj"]),
    "BertForMaskedLM": ("bert", ["query", "value"]),
    "DistilBertForMaskedLM": ("distilbert", ["q_lin", "v_lin"]),
    "ModernBertForMaskedLM": ("modernbert", ["Wqkv"]),
    "ViTForImageClassification": ("vit", ["q_proj", "v_proj"]),
}
WITH_EXPERTS = ("mixtral", "gpt_oss", "jamba")  # which peft adapts in its own way


def counted(name: str, targets: list[str] | str) -> tuple[int, int]:
    """What peft prints as trainable and as all parameters."""
    config = transformers.AutoConfig.for_model(**small(CLASSES[name][0], name))
    with torch.device("meta"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of layers that store their matrix the other way round
        asked = peft.LoraConfig(r=RANK, target_modules=targets, exclude_modules=["classifier"])
        found = peft.get_peft_model(getattr(transformers, name)(config), asked).get_nb_trainable_parameters()
    trainable, every = found
    return trainable, every


def written(folder: Path, name: str) -> str:
    path = folder / "config.json"
    path.write_text(json.dumps(small(CLASSES[name][0], name)))
    return str(path)


@pytest.mark.parametrize("name", CLASSES)
def test_queries_and_values_are_adapted_as_peft_does(tmp_path: Path, name: str) -> None:
    report = load(written(tmp_path, name)).params(lora=RANK)
    assert (report.trainable, report.total) == counted(name, CLASSES[name][1])
    assert report.adapters == report.trainable


@pytest.mark.parametrize("name", [name for name, (kind, _) in CLASSES.items() if kind not in WITH_EXPERTS])
def test_and_so_is_every_linear_layer_but_the_last(tmp_path: Path, name: str) -> None:
    report = load(written(tmp_path, name)).params(lora=RANK, lora_targets="all")
    assert (report.trainable, report.total) == counted(name, "all-linear")


def test_llama_2_7b(run: Run) -> None:
    """Rank 8 on queries and values: two matrices, from 4,096 to 4,096, in 32 layers."""
    adapters, weights = 2 * 32 * 8 * (4096 + 4096), 6_738_415_616
    found = run("params", "llama-2-7b", "--lora", "8", "--format", "json").json
    assert (found["adapters"], found["trainable"], found["frozen"]) == (adapters, adapters, weights)
    assert found["total"] == weights + adapters
    rows = {row["path"]: row["trainable"] for row in found["rows"]}
    assert rows["decoder.blocks.attention.q"] == rows["decoder.blocks.attention.v"] == adapters // 2
    assert rows["decoder.blocks.attention.k"] == rows["head"] == 0
    shown = run("params", "llama-2-7b", "--lora", "8", "--explain").out
    assert shown.startswith("Llama 2 7B · LoRA r8 on q, v\n4,194,304 of 6,742,609,920 parameters trainable · 0.0622 %")
    assert "\n= 2 × 32 × 8 × (2 × 4096)\n" in shown


def test_layers_of_other_shapes_are_terms_of_their_own() -> None:
    """Keys and values of Llama 3 8B have 8 heads of 128; queries 32."""
    working = load("llama-3-8b").params(lora=16, explain=True).working()
    assert working and working.text() == "32 × 16 × (2 × 4096) + 32 × 16 × (4096 + 1024)"


ASKED: list[tuple[str, dict[str, Any]]] = [
    ("gpt2", {"lora": 8}),
    ("gpt2", {"lora": 8, "code": "plain"}),
    ("llama-3-8b", {"lora": 16, "lora_targets": "all"}),
    ("t5-small", {"lora": 4, "lora_targets": ("q", "in")}),
    ("vit-b-16", {"freeze": ("embedding", "encoder")}),
    ("resnet-50", {"freeze": "conv_1"}),
]


@pytest.mark.parametrize(("name", "asked"), ASKED, ids=str)
def test_memory_trains_the_same_parameters(name: str, asked: dict[str, Any]) -> None:
    """A gradient in fp32 has four bytes."""
    model = load(name)
    counts, memory = model.params(**asked), model.memory(mode="train", precision="fp32", batch=1, **asked)
    assert (memory.trainable, memory.frozen) == (counts.trainable, counts.frozen)
    assert memory.states["gradients"] == 4 * int(counts.trainable)
    assert memory.record()["trainable"] == counts.record()["trainable"]
    assert sum(row.trainable for row in counts.rows if row.kind == "tensor") == counts.trainable


def test_what_there_is_to_adapt_is_asked_of_the_code_that_trains() -> None:
    """GPT-2's queries, keys and values are one matrix in transformers, which is said."""
    model = load("gpt2")
    report, step = model.params(lora=8, lora_targets="q"), model.flops(lora=8, lora_targets="q", seq=16, batch=1)
    adapters = 12 * 8 * (768 + 3 * 768)
    assert report.trainable == adapters
    assert step.forward - model.flops(seq=16, batch=1).forward == 2 * 16 * adapters
    assert any("adapted as a whole" in note.text for note in report.assumptions)
    assert model.params(lora=8, lora_targets="q", code="plain").trainable == 12 * 8 * (768 + 768)


@pytest.mark.parametrize(
    ("name", "asked", "words"),
    [
        ("resnet-50", {"lora": 8}, "no linear layer is called q"),
        ("dcgan-generator", {"lora": 8}, "no linear layer to adapt"),
        ("resnet-50", {"lora": 8, "lora_targets": "all"}, "no linear layer but the last one"),
        ("sentiment-lstm", {"lora": 8, "lora_targets": "all"}, "no linear layer but the last one"),
        ("gpt2", {"lora": 8, "freeze": "embedding"}, "frozen already"),
        ("gpt2", {"lora_targets": "q"}, "needs --lora"),
        ("gpt2", {"freeze": "embeding"}, "no layer is called embeding"),
        ("gpt2", {"rank": 8}, "no option called rank"),
    ],
)
def test_what_cannot_be_adapted_is_refused(name: str, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        load(name).params(**asked)


def test_configs_of_the_list_are_of_their_types() -> None:
    for name, (kind, _) in CLASSES.items():
        assert name in described(kind)["classes"]
