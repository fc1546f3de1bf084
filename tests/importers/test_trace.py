"""--trace counts what archcalc cannot read: transformers builds it on the meta device, and the output says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import torch
import transformers
from support.assumption_texts import texts

if TYPE_CHECKING:
    from conftest import Run, Write

REFUSED: dict[str, Any] = {
    "model_type": "convbert",
    "architectures": ["ConvBertForMaskedLM"],
    "vocab_size": 100,
    "hidden_size": 32,
    "embedding_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}


def test_a_refused_config_is_built_by_transformers(run: Run, write: Write) -> None:
    """Without --trace it is refused, with the option named; with it the class's own parameters are counted."""
    file = write(json.dumps(REFUSED), "config.json")
    refused = run("params", file)
    assert refused.code == 2
    assert "--trace" in refused.err
    answer = run("params", file, "--trace", "--format", "json").json
    with torch.device("meta"):
        model = transformers.ConvBertForMaskedLM(transformers.ConvBertConfig(**REFUSED))
    assert answer["total"] == sum(parameter.numel() for parameter in model.parameters())
    assert texts(answer)[1].startswith("traced: ConvBertForMaskedLM as transformers")


@pytest.mark.wide
def test_a_traced_model_has_weights_in_memory(run: Run, write: Write) -> None:
    """In the config's dtype; of caches and activations nothing is known, which is said."""
    file = write(json.dumps({**REFUSED, "torch_dtype": "bfloat16"}), "config.json")
    parameters = run("params", file, "--trace", "--format", "json").json["total"]
    answer = run("memory", file, "--trace", "--format", "json").json
    assert answer["parts"]["weights"] == 2 * parameters
    assert any("neither a cache nor activations" in note for note in texts(answer))
    assert run("fit", file, "--trace", "--gpu", "t4").code == 0
    assert "family: weights" in run("show", file, "--trace").out


def test_a_parameter_that_is_called_like_a_buffer_counts(
    run: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In files such names are buffers and scales; what transformers calls a parameter is one, and `show` keeps that."""
    names = ("mlp.weight", "mlp.expert_bias", "mlp.e_score_correction_bias", "attn.k_scale", "norm.running_mean")
    tensors = {f"layers.0.{name}": ["float32", [4], 16] for name in names}
    answer = {"class": "Model", "version": "5", "tensors": tensors}
    monkeypatch.setattr("archcalc.importers.trace._answer", lambda asked: answer)
    file = write(json.dumps(REFUSED), "config.json")
    assert run("params", file, "--trace", "--format", "json").json["total"] == 4 * len(names)
    shown = write(run("show", file, "--trace").out, "shown.yaml")
    assert run("params", shown, "--format", "json").json["total"] == 4 * len(names)


def test_a_list_of_weights_has_no_shapes_on_the_way(run: Run, write: Write) -> None:
    """Refused, rather than an empty table."""
    answer = run("shapes", write("family: weights\ntensors: {a: 'bf16 [2, 3]'}\n"))
    assert answer.code == 2
    assert "does not describe the computation" in answer.err


def test_what_archcalc_reads_is_not_traced(run: Run, write: Write) -> None:
    said = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}
    answer = run("params", write(json.dumps(said), "config.json"), "--trace", "--format", "json").json
    assert answer["total"] == 124_439_808
    assert not any("traced" in note for note in texts(answer))


def test_what_transformers_cannot_build_is_told(run: Run, write: Write) -> None:
    answer = run("params", write(json.dumps({**REFUSED, "hidden_size": "wide"}), "config.json"), "--trace")
    assert answer.code == 2
    assert "transformers cannot build it" in answer.err
    unknown = run("params", write(json.dumps({**REFUSED, "model_type": "sphinx"}), "config.json"), "--trace")
    assert unknown.code == 2
    assert "transformers cannot build it" in unknown.err


def test_without_transformers_the_way_to_get_it_is_named(
    run: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    answer = run("params", write(json.dumps(REFUSED), "config.json"), "--trace")
    assert answer.code == 2
    assert "pip install 'archcalc[trace]'" in answer.err
