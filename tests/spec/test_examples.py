"""Every example that `explain` and docs/language.md give is accepted when it is typed."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
import yaml

import archcalc
from archcalc.archs import families, family_module
from archcalc.catalog.fields import meanings_of
from archcalc.core.errors import InputError, dotted
from archcalc.spec.examples import example_of
from archcalc.spec.fields import Place

PLAIN = "vocab: 32000, d_model: 512, heads: 8, ffn: {width: 2048}"
PARTS = ("moe", "mamba", "delta", "rglru", "lightning", "conv", "attention cross", "local", "per_layer")
SMALL = {  # the smallest specs of each family, one of which has to take an example
    "autoencoder": [
        "kind: linear, input: 784, hidden: 32",
        "kind: deep, input: 784, hidden: [500, 250, 20]",
        "kind: recursive, input: 100, hidden: 100",
    ],
    "network": [
        "input: [64, 32, 32], layers: [relu]",
        "input: 784, layers: [relu]",
        "input: [64, 32, 32], layers: [{block: twice}]",
        "input: tokens, layers: [{embedding: 8, vocab: 10}]",
        "input: 8 × seq, seq: 49, layers: [relu]",
        "input: 8 × seq, seq: 48, layers: [relu]",
        "input: 64 × seq, layers: [relu]",
    ],
    "parts": [
        "parts: {body: {vocab: 100, d_model: 8, heads: 2, ffn: 16, decoder: 1}}",
        "input: 3 × 32 × 32, parts: {body: {layers: [flatten, {linear: 4}]}}",
        "inputs: {image: 3 × 32 × 32, text: tokens}, parts: {"
        "projector: {reads: image, layers: [{conv: 8, kernel: 32, stride: 32}, sequence]}, "
        "body: {reads: text, vocab: 100, d_model: 8, heads: 2, ffn: 16, decoder: 1}}",
        "inputs: {source: 9 tokens, text: tokens}, parts: {"
        "encoder: {reads: source, vocab: 100, d_model: 8, heads: 2, ffn: 16, encoder: 1}, "
        "body: {reads: text, vocab: 100, d_model: 8, heads: 2, ffn: 16, decoder: 1}}",
        "inputs: {source: 9 tokens, text: tokens}, parts: {"
        "encoder: {reads: source, vocab: 100, cell: gru, embedding: 8, hidden: 8, head: {pool: last}}, "
        "body: {reads: text, vocab: 100, cell: gru, embedding: 8, hidden: 8}}",
        "inputs: {left: 8, right: 8}, parts: {twin: {reads: left, linear: 4}, body: {reads: right}}",
        "inputs: {left: 8, right: 12}, parts: {vision: {reads: left, linear: 4}, words: {reads: right, linear: 4}}",
    ],
    "recurrent": [
        "cell: lstm, vocab: 10000, embedding: {width: 128}, hidden: 128, layers: 4",
        "cell: lstm, input: 64, hidden: 128, head: none",
        "cell: lstm, vocab: 10000, embedding: {width: 128}, hidden: 128, layers: 2, encoder: {}, decoder: {}",
    ],
    "transformer": [
        f"{PLAIN}, decoder: {{blocks: 6}}",
        f"{PLAIN}, encoder: {{blocks: 6}}",
        f"{PLAIN}, encoder: {{blocks: 6}}, decoder: {{blocks: 6}}",
        "d_model: 512, heads: 8, ffn: {width: 2048}, encoder: {blocks: 6}, head: none",
        "d_model: 512, heads: 8, ffn: {width: 2048}, encoder: {blocks: 6}, head: none, "
        "embedding: {kind: patches, image: 224, patch: 16}",
        "d_model: 512, heads: 8, ffn: {width: 2048}, encoder: {blocks: 6}, head: none, "
        "embedding: {kind: patches, image: 224, patch: 16, tokens: 0}",
        *(f"{PLAIN}, decoder: {{blocks: 6, pattern: [{part} ffn]}}" for part in PARTS),
        f"{PLAIN}, encoder: {{blocks: 6, pattern: [conv ffn]}}",
        f"{PLAIN}, decoder: {{pattern: [local ffn, attention ffn]}}, "
        "variants: {local: {kv_of: own, like: attention}}",
    ],
    "weights": ["tensors: {lm_head.weight: 'bf16 [32000, 4096]'}"],
    "word2vec": ["kind: cbow, vocab: 1000, embedding: 30"],
}
CASES = [  # every field once, but every word of a layer
    (family, place)
    for family in families()
    for one in meanings_of(family)
    for place in (one.places if one.place.item else [one.place])
]


@pytest.mark.parametrize(("family", "place"), CASES, ids=[f"{family}-{dotted(place.path)}" for family, place in CASES])
def test_an_example_is_accepted_when_it_is_typed(family: str, place: Place, tmp_path: pathlib.Path) -> None:
    text = example_of(family_module(family).Spec, place)
    is_layer = text.startswith("{")
    typed = {"layers": [yaml.safe_load(text)]} if is_layer else yaml.safe_load(f"{{{text}}}")
    told = [
        _told(_with({"family": family, **yaml.safe_load(f"{{{small}}}")}, typed), tmp_path) for small in SMALL[family]
    ]
    assert "" in told, "\n".join([text, *told])


def _with(spec: Any, typed: Any) -> Any:
    if not (isinstance(spec, dict) and isinstance(typed, dict)):
        return typed
    return {**spec, **{name: _with(spec.get(name), value) for name, value in typed.items()}}


def _told(spec: Any, folder: pathlib.Path) -> str:
    """What is said against it, or nothing."""
    file = folder / "typed.yaml"
    file.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    try:
        archcalc.load(str(file)).params()
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("family", "field"), [("word2vec", "seq")])
def test_a_field_that_a_family_refuses_is_none_of_its_fields(family: str, field: str) -> None:
    assert field in family_module(family).Spec.model_fields
    assert field not in [one.field for one in meanings_of(family)]


def test_a_field_of_cross_attention_alone_stands_nowhere_else() -> None:
    """Self-attention reads no memory."""
    (memory,) = [one for one in meanings_of("transformer") if one.field.endswith("cross.memory")]
    assert {place.path[-2:] for place in memory.places} == {("cross", "memory")}
