"""`archcalc verify config.json`: the class that a config names, built and run by transformers, beside archcalc."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from support.hf_small import NAMED, small

from archcalc.core.count import Count
from archcalc.core.ops import KINDS
from archcalc.importers import hf
from archcalc.importers.files import of_config
from archcalc.importers.hf import translators
from archcalc.importers.hf._helpers.reading import described
from archcalc.model import Model
from archcalc.verify.hf.rows import Compared, compared

if TYPE_CHECKING:
    from conftest import Run, Write


def usual(model_type: str) -> str:
    """The class of a config that names none."""
    tasks = described(model_type)["classes"].items()
    return next(str(name) for name, task in tasks if task == translators()[model_type].usual)


def beside_transformers(said: dict[str, Any], length: int = 9) -> Compared:
    model = Model.from_document(of_config(said, "config.json"), "model")
    work = model.workload(batch=2)
    limits = model.resolved.lengths
    short = {name: size if limits[name].fixed else min(size, length) for name, size in work.lengths.items()}
    return compared(model, replace(work, lengths=short))


@pytest.mark.wide(6)
@pytest.mark.parametrize("model_type", NAMED.split())
def test_every_named_type_equals_transformers(model_type: str) -> None:
    """Tensors, what layers and blocks give out, and forward FLOPs, block by block."""
    found = beside_transformers(small(model_type, usual(model_type)))
    assert [row for row in found.rows if not row.equal] == []
    assert not found.left_out
    saved = [row for row in found.rows if row.quantity.startswith("eager softmax saved")]
    assert len(saved) == (0 if "mamba" in model_type else 2)
    assert len(found.rows) == 6 + len(saved)


@pytest.mark.wide(2)
@pytest.mark.parametrize(
    "model_type",
    [
        "t5gemma",
        "apertus",
        "falcon_h1",
        "minimax",
        "kimi_linear",
        "jetmoe",
        "roc_bert",
        "bailing_hybrid",
        "wav2vec2",
        "wavlm",
        "data2vec-audio",
    ],
)
def test_other_types_equal_transformers_too(model_type: str) -> None:
    """Types beyond the named ones, in the same rows."""
    found = beside_transformers(small(model_type, usual(model_type)))
    assert [row for row in found.rows if not row.equal] == []
    assert not left_out(found)


def left_out(found: Compared) -> list[str]:
    """A class that asks tensors for their values has no softmax to look at on the meta device; it says so."""
    on_cpu = "asks tensors for their values" in str(found.notes)
    return [name for name in found.left_out if not (on_cpu and name.startswith("scores that"))]


HEADS = [
    (model_type, name)
    for model_type in ("llama", "bert", "t5", "bart", "whisper", "vit", "beit")
    for name in described(model_type)["classes"]
    if name != usual(model_type)
]


@pytest.mark.wide(6)
@pytest.mark.parametrize(("model_type", "name"), HEADS, ids=[name for _, name in HEADS])
def test_every_head_equals_transformers(model_type: str, name: str) -> None:
    """The bare model, classes of texts, tokens, answers, images and sounds, each as `architectures` names it."""
    found = beside_transformers(small(model_type, name))
    assert [row for row in found.rows if not row.equal] == []
    assert not left_out(found)


def test_a_layer_that_is_called_again_is_one_layer() -> None:
    """DeBERTa's distances go through the projections of words, as DeBERTa-v3 has it."""
    found = beside_transformers({**small("deberta-v2", "DebertaV2ForMaskedLM"), "share_att_key": True})
    assert [row for row in found.rows if not row.equal] == []


def test_what_transformers_computes_for_nothing_is_told() -> None:
    """Mamba's convolution pads three positions and drops them: 2 sequences, 64 channels, 4 taps, 3 blocks."""
    found = beside_transformers(small("mamba", "MambaForCausalLM"))
    assert f"excluded from transformers' FLOPs: {3 * 2 * 3 * 2 * 64 * 4:,} for positions that causal" in str(
        found.notes
    )
    scored = beside_transformers(small("llama", "LlamaForSequenceClassification"))
    assert f"{2 * 8 * 2 * 32 * 2:,} for attention scores of positions that are dropped" in str(scored.notes)
    experts = beside_transformers(small("llama4_text", "Llama4ForCausalLM"))
    assert "for experts that were not selected for a token" in str(experts.notes)


def test_a_class_that_asks_for_values_runs_on_the_cpu() -> None:
    """BART's classes look for the end of the text; its weights take no memory there."""
    found = beside_transformers(small("bart", "BartForSequenceClassification"))
    assert found.rows[-1].group.endswith("on the CPU, batch 2, src_seq 9, tgt_seq 9")
    assert "asks tensors for their values" in str(found.notes)


LLAMA = small("llama", "LlamaForCausalLM")


def test_both_comparisons_stand_in_one_table(run: Run, write: Write) -> None:
    """transformers first, then the plain reference, each under its heading; exit code 0."""
    answer = run("verify", write(json.dumps(LLAMA), "config.json"), "--batch", "2", "--seq", "5")
    assert answer.code == 0
    said = " ".join(answer.out.split())
    assert (
        "✓ 8 quantities equal transformers' LlamaForCausalLM; 29 equal archcalc's own PyTorch reference; 3 checks"
        in said
    )
    assert answer.out.index("LlamaForCausalLM of transformers") < answer.out.index("the same spec in plain PyTorch")
    assert "✗" not in answer.out


def test_json_names_the_class_in_each_row(run: Run, write: Write) -> None:
    """The contract's keys, and nothing left out."""
    record = run("verify", write(json.dumps(LLAMA), "config.json"), "--quick", "--format", "json").json
    assert record["ok"] is True
    assert record["left_out"] == {}
    against = Counter(row["against"] for row in record["rows"])
    assert against == {"transformers' LlamaForCausalLM": 8, "archcalc's own PyTorch reference": 32}
    quantity = record["rows"][0]["quantity"]
    assert quantity.startswith("LlamaForCausalLM of transformers")
    block = 2 * 32 + 32 * 32 + 2 * 32 * 2 * 8 + 32 * 32 + 3 * 32 * 40
    assert record["rows"][0]["archcalc"] == 50 * 32 + 3 * block + 32 + 32 * 50


def test_a_wrong_tensor_is_named_on_both_sides(run: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """The block and the tensor where a translator goes wrong first, with both shapes; exit code 1."""
    read = hf._families("llama")
    wrong = replace(read["llama"], translate=lambda config: {**read["mistral"].translate(config), "kv_heads": 1})
    monkeypatch.setitem(read, "llama", wrong)
    answer = run("verify", write(json.dumps(LLAMA), "config.json"), "--seq", "4", columns=200)
    assert answer.code == 1
    named = "decoder.blocks.0.attention.k.weight 8 × 32 against model.layers.0.self_attn.k_proj.weight 16 × 32"
    assert named in answer.out


def test_wrong_flops_are_named_by_block(run: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine products a block, and the head: each one FLOP too much."""
    right = KINDS["contract"]
    monkeypatch.setitem(KINDS, "contract", right._replace(flops=lambda op: right.flops(op) + Count(1)))
    record = run("verify", write(json.dumps(LLAMA), "config.json"), "--seq", "4", "--format", "json").json
    flops = next(row for row in record["rows"] if "forward FLOPs, block by block" in row["quantity"])
    assert flops["archcalc"] - flops["reference"] == 3 * 9 + 1
    assert flops["first"].startswith("decoder.blocks.0 ")


def test_what_transformers_cannot_run_is_told(run: Run, write: Write) -> None:
    """More experts chosen than there are: tensors are compared, and why nothing else is."""
    said = {**small("mixtral", "MixtralForCausalLM"), "num_experts_per_tok": 7}
    record = run("verify", write(json.dumps(said), "config.json"), "--seq", "4", "--format", "json").json
    why = record["left_out"][next(iter(record["left_out"]))]
    assert why.startswith("it cannot be run: RuntimeError")


@pytest.mark.wide(1)
@pytest.mark.parametrize(("option", "why"), [(["--set", "ffn=48"], "--set changed"), (["--scale-down"], "shrank")])
def test_a_changed_config_is_not_what_transformers_builds(run: Run, write: Write, option: list[str], why: str) -> None:
    """It is compared with the plain reference, and the output says so."""
    answer = run("verify", write(json.dumps(LLAMA), "config.json"), "--seq", "4", *option)
    assert answer.code == 0
    assert why in answer.out


def test_without_transformers_the_way_to_get_it_is_named(
    run: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    answer = run("verify", write(json.dumps(LLAMA), "config.json"))
    assert answer.code == 2
    assert "pip install 'archcalc[verify]'" in answer.err
