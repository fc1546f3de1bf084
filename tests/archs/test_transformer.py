"""Transformers of every kind, counted against PyTorch and transformers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

import archcalc
from archcalc.spec import paths

if TYPE_CHECKING:
    from collections.abc import Iterator

META = torch.device("meta")


def numel(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def published() -> Iterator[tuple[str, int]]:
    for name in paths.presets():
        spec = archcalc.load(name).spec
        if spec.published and isinstance(spec.published.parameters, int):
            yield name, spec.published.parameters


@pytest.mark.parametrize(("name", "parameters"), list(published()))
def test_a_preset_counts_what_its_source_says(name: str, parameters: int) -> None:
    """To the unit, where a checkpoint of a named class fixes it."""
    assert archcalc.load(name).params().total == parameters


@pytest.mark.parametrize("name", sorted(paths.presets()))
def test_a_preset_names_its_source_and_its_published_count(name: str) -> None:
    """Rounded counts agree to the digits printed, or the difference is explained."""
    spec = archcalc.load(name).spec
    assert spec.source
    if spec.family == "transformer":
        assert spec.published
    assert spec.published is None or (spec.published.parameters and spec.published.of)
    if spec.published and isinstance(spec.published.parameters, str):
        from archcalc.spec.units import parse_size

        said = spec.published.parameters
        unit = {"k": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}[said[-1]]
        decimals = len(said[:-1].partition(".")[2])
        agrees = round(archcalc.load(name).params().total / unit, decimals) == parse_size(said) / unit
        assert agrees or spec.published.differs


HF = {
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", {}),
    "gpt2-medium": ("GPT2LMHeadModel", "GPT2Config", {"n_embd": 1024, "n_head": 16, "n_layer": 24}),
    "gpt2-large": ("GPT2LMHeadModel", "GPT2Config", {"n_embd": 1280, "n_head": 20, "n_layer": 36}),
    "gpt2-xl": ("GPT2LMHeadModel", "GPT2Config", {"n_embd": 1600, "n_head": 25, "n_layer": 48}),
    "bert-base": ("BertForMaskedLM", "BertConfig", {}),
    "bert-large": (
        "BertForMaskedLM",
        "BertConfig",
        {"hidden_size": 1024, "num_attention_heads": 16, "num_hidden_layers": 24, "intermediate_size": 4096},
    ),
    "t5-small": ("T5ForConditionalGeneration", "T5Config", {"vocab_size": 32128}),
    "t5-base": (
        "T5ForConditionalGeneration",
        "T5Config",
        {"vocab_size": 32128, "d_model": 768, "d_ff": 3072, "num_heads": 12, "num_layers": 12},
    ),
    "bart-base": (
        "BartForConditionalGeneration",
        "BartConfig",
        {
            "d_model": 768,
            "encoder_layers": 6,
            "decoder_layers": 6,
            "encoder_ffn_dim": 3072,
            "decoder_ffn_dim": 3072,
            "encoder_attention_heads": 12,
            "decoder_attention_heads": 12,
        },
    ),
    "llama-2-7b": ("LlamaForCausalLM", "LlamaConfig", {}),
    "llama-3-8b": (
        "LlamaForCausalLM",
        "LlamaConfig",
        {"vocab_size": 128256, "intermediate_size": 14336, "num_key_value_heads": 8},
    ),
}


@pytest.mark.parametrize("name", sorted(HF))
def test_a_preset_counts_what_transformers_builds(name: str) -> None:
    """The class named in the preset, on the meta device."""
    import transformers

    model_class, config_class, changes = HF[name]
    with META:
        model = getattr(transformers, model_class)(getattr(transformers, config_class)(**changes))
    spec = archcalc.load(name).spec
    assert spec.published and model_class in str(spec.published.of)
    assert archcalc.load(name).params().total == numel(model)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("d_model", "heads", "ffn", "blocks"), [(8, 2, 16, 1), (12, 3, 7, 4)])
def test_an_encoder_counts_what_torch_counts(d_model: int, heads: int, ffn: int, blocks: int, bias: bool) -> None:
    """nn.TransformerEncoder is a stack of blocks with or without biases, and nothing else."""
    layer = nn.TransformerEncoderLayer(d_model, heads, ffn, bias=bias, device=META)
    encoder = nn.TransformerEncoder(layer, blocks, enable_nested_tensor=False)
    spec = {"vocab": 5, "d_model": d_model, "heads": heads, "ffn": ffn, "encoder": blocks, "head": "none"}
    counted = archcalc.load({**spec, "bias": bias, "norm": {"place": "post", "bias": bias}}).params()
    assert counted.non_embedding == numel(encoder)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize(("d_model", "heads", "ffn", "blocks"), [(8, 2, 16, 3), (12, 4, 20, 2)])
def test_an_encoder_decoder_counts_what_torch_counts(d_model: int, heads: int, ffn: int, blocks: int) -> None:
    """nn.Transformer is post-norm with a final norm behind each stack."""
    model = nn.Transformer(d_model, heads, blocks, blocks + 1, ffn, device=META)
    spec = {"vocab": 5, "d_model": d_model, "heads": heads, "ffn": ffn, "head": "none"}
    stacks = {"encoder": blocks, "decoder": blocks + 1, "norm": {"place": "post", "final": True}}
    assert archcalc.load({**spec, **stacks}).params().non_embedding == numel(model)


BASE: dict[str, Any] = {"vocab": 10, "d_model": 12, "heads": 3, "ffn": 20, "decoder": 2, "head": "none", "bias": False}
BARE = 2 * (4 * 12 * 12 + 2 * 12 * 20 + 2 * 24) + 24  # two blocks and the final norm

CHANGES = [
    ({"bias": True}, 2 * (4 * 12 + 20 + 12)),
    ({"attention": {"bias": ["q", "v"]}}, 2 * (12 + 12)),
    ({"ffn": {"width": 20, "bias": True}}, 2 * (20 + 12)),
    ({"ffn": {"width": 20, "gated": True}}, 2 * 12 * 20),
    ({"kv_heads": 1}, -2 * 2 * 12 * 8),
    ({"head_dim": 5}, -2 * 4 * 12 * (12 - 15)),
    ({"norm": "rms"}, -5 * 12),
    ({"norm": {"bias": False}}, -5 * 12),
    ({"norm": {"affine": False}}, -5 * 24),
    ({"norm": "none"}, -5 * 24),
    ({"norm": {"place": "post"}}, -24),
    ({"norm": {"place": "sandwich"}}, 2 * 2 * 24),
    ({"norm": {"place": "out"}}, 0),
    ({"norm": {"final": False}}, -24),
    ({"position": "sinusoidal"}, 0),
    ({"position": "rope"}, 0),
    ({"position": "alibi"}, 0),
    ({"position": {"kind": "learned", "length": 7}}, 7 * 12),
    ({"position": {"kind": "learned", "length": 7, "offset": 2}}, 9 * 12),
    ({"position": {"kind": "relative", "buckets": 6}}, 6 * 3),
    ({"position": {"kind": "relative", "buckets": 6, "per": "block"}}, 2 * 6 * 3),
    ({"position": [{"kind": "learned", "length": 7}, "rope"]}, 7 * 12),
    ({"position": {"kind": "sinusoidal", "length": 7, "stored": True}}, 7 * 12),
    ({"embedding": {"bias": True}}, 12),
    ({"embedding": {"types": 2}}, 2 * 12),
    ({"embedding": {"norm": True}}, 24),
    ({"embedding": {"joined": [[7, 5], [4, 3]]}}, 7 * 5 + 4 * 3 + (12 + 5 + 3) * 12 + 12),
    ({"head": "lm"}, 12 * 10),
    ({"head": {"bias": True}}, 12 * 10 + 10),
    ({"head": "tied"}, 0),
    ({"head": {"kind": "tied", "bias": True}}, 10),
    ({"head": {"kind": "tied", "transform": True}}, 12 * 12 + 12 + 24),
    ({"head": {"kind": "classifier", "classes": 4}}, 12 * 4 + 4),
    ({"dropout": 0.1}, 0),
    ({"decoder": {"blocks": 2, "pattern": ["attention ffn ffn"]}}, 2 * (2 * 12 * 20 + 24)),
    ({"decoder": {"blocks": 3, "pattern": ["ffn", "attention"]}}, -(4 * 12 * 12 + 24)),
    ({"decoder": {"blocks": 2, "pattern": ["attention+ffn"]}}, -2 * 24),
    ({"attention": {"global_qkv": True}}, 2 * 3 * 12 * 12),
    ({"attention": {"experts": 4, "top": 1}}, 2 * (3 * 2 * 12 * 12 + 4 * 12)),
    ({"ffn": {"width": 20, "act": "xielu"}}, 2 * 2),
]


@pytest.mark.parametrize(("change", "more"), CHANGES, ids=lambda value: str(value))
def test_what_each_field_adds(change: dict[str, Any], more: int) -> None:
    """Every field against the same small decoder."""
    assert archcalc.load({**BASE, **change}).params().total == 10 * 12 + BARE + more


def test_what_is_said_nearer_wins() -> None:
    """A stack may differ from the model, a part from its stack, and mappings merge field by field."""
    spec = {**BASE, "encoder": {"blocks": 1, "ffn": 30, "heads": 4}, "decoder": {"blocks": 1, "ffn": {"gated": True}}}
    rows = {row.path: row.each for row in archcalc.load(spec).params().rows}
    assert rows["encoder.blocks.ffn"] == 2 * 12 * 30
    assert rows["decoder.blocks.ffn"] == 3 * 12 * 20


def test_frozen_parameters_are_counted_apart() -> None:
    """Stored sinusoids are parameters that nothing trains; kept as a buffer they are none."""
    stored = archcalc.load({**BASE, "position": {"kind": "sinusoidal", "length": 7, "stored": True}}).params()
    assert stored.total - stored.trainable == 7 * 12
    kept = archcalc.load({**BASE, "position": {"kind": "sinusoidal", "length": 7}}).params()
    assert (kept.buffers, kept.total - kept.trainable) == (7 * 12, 0)


def test_non_embedding_leaves_out_tables_and_an_untied_head() -> None:
    """Token, position and type tables go; norms and a tied head's own bias stay."""
    spec = {**BASE, "position": {"kind": "learned", "length": 7}, "embedding": {"types": 2, "norm": True}}
    assert archcalc.load({**spec, "head": "lm"}).params().non_embedding == BARE + 24
    assert archcalc.load({**spec, "head": {"kind": "tied", "bias": True}}).params().non_embedding == BARE + 24 + 10
