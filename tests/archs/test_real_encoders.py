"""Encoders of transformers, each written as a spec: text first, then images."""

from __future__ import annotations

from typing import Any

import pytest
from support.same_tensors import Case, check

VOCAB, D, HEADS, FFN, BLOCKS, LENGTH, NARROW, CLASSES = 90, 48, 6, 40, 3, 64, 20, 5


def hf(**changes: Any) -> dict[str, Any]:
    sizes = {"vocab_size": VOCAB, "hidden_size": D, "num_attention_heads": HEADS, "intermediate_size": FFN}
    return {
        **sizes,
        "num_hidden_layers": BLOCKS,
        "max_position_embeddings": LENGTH,
        "type_vocab_size": 2,
        "num_labels": CLASSES,
        **changes,
    }


def bert(**changes: Any) -> dict[str, Any]:
    """Post-norm, a norm on the embedding, learned positions, two types; `None` takes a field out."""
    said = {
        "vocab": VOCAB,
        "d_model": D,
        "heads": HEADS,
        "ffn": FFN,
        "norm": {"place": "post"},
        "position": LEARNED,
        "embedding": {"norm": True, "types": 2},
        "encoder": BLOCKS,
        "head": MASKED_LM,
        **changes,
    }
    return {name: value for name, value in said.items() if value is not None}


LEARNED = {"kind": "learned", "length": LENGTH}
MASKED_LM = {"kind": "tied", "bias": True, "transform": True}
CLASSIFIER = {"kind": "classifier", "classes": CLASSES, "bias": True}
ONE_TYPE = {"norm": True, "types": 1}
RELATIVE = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}

TEXT = [
    Case("BertForMaskedLM", hf(), bert()),
    Case("BertForMaskedLM", hf(tie_word_embeddings=False), bert(head={**MASKED_LM, "kind": "lm", "bias": "twice"})),
    Case("BertModel", hf(), bert(head={"kind": "none", "pooler": True})),
    Case("BertForSequenceClassification", hf(), bert(head={**CLASSIFIER, "pooler": True})),
    Case("BertForTokenClassification", hf(), bert(head=CLASSIFIER)),
    Case(
        "BertLMHeadModel",
        hf(is_decoder=True, add_cross_attention=True),
        bert(
            encoder=None,
            cross={"memory": D},
            decoder={"blocks": BLOCKS, "pattern": ["attention cross ffn"]},
        ),
    ),
    Case("RobertaForMaskedLM", hf(type_vocab_size=1), bert(embedding=ONE_TYPE)),
    Case(
        "RobertaForSequenceClassification",
        hf(type_vocab_size=1),
        bert(embedding=ONE_TYPE, head={**CLASSIFIER, "pool": "class", "hidden": D}),
    ),
    Case("XLMRobertaForMaskedLM", hf(), bert()),
    Case("MegatronBertForMaskedLM", hf(), bert(norm={"place": "pre"}, embedding={"types": 2})),
    Case(
        "DistilBertForMaskedLM",
        {
            "vocab_size": VOCAB,
            "dim": D,
            "n_heads": HEADS,
            "hidden_dim": FFN,
            "n_layers": BLOCKS,
            "max_position_embeddings": LENGTH,
        },
        bert(embedding={"norm": True}),
    ),
    Case(
        "AlbertForMaskedLM",
        hf(embedding_size=NARROW, num_hidden_groups=2, num_hidden_layers=5),
        bert(embedding={"width": NARROW, "norm": True, "types": 2}, encoder={"blocks": 5, "distinct": 2}),
    ),
    Case(
        "AlbertForMaskedLM",
        hf(embedding_size=D, num_hidden_groups=4, num_hidden_layers=3),
        bert(embedding={"always_project": True, "norm": True, "types": 2}, encoder={"blocks": 3, "distinct": 4}),
    ),
    Case(
        "ElectraForMaskedLM",
        hf(embedding_size=NARROW),
        bert(embedding={"width": NARROW, "norm": True, "types": 2}),
    ),
    Case(
        "DebertaV2ForMaskedLM",
        hf(
            **RELATIVE,
            type_vocab_size=0,
            position_buckets=9,
            norm_rel_ebd="layer_norm",
            conv_kernel_size=3,
            conv_groups=2,
            position_biased_input=False,
        ),
        bert(
            embedding={"norm": True},
            position={"kind": "disentangled", "buckets": 9, "project": ["q", "k"], "norm": True},
            conv={"groups": 2, "act": "tanh"},
            encoder={"blocks": BLOCKS, "once": ["conv"]},
        ),
    ),
    Case(
        "DebertaV2ForMaskedLM",
        hf(**RELATIVE, share_att_key=True, embedding_size=NARROW),
        bert(
            embedding={"norm": True, "width": NARROW, "project": "sum", "types": 2},
            position=[LEARNED, {"kind": "disentangled", "buckets": LENGTH}],
        ),
    ),
    Case(
        "ModernBertForMaskedLM",
        {
            "vocab_size": VOCAB,
            "hidden_size": D,
            "num_attention_heads": HEADS,
            "intermediate_size": FFN,
            "num_hidden_layers": 7,
            "pad_token_id": 0,
            "local_attention": 8,
        },
        bert(
            ffn={"width": FFN, "gated": True},
            bias=False,
            norm={"bias": False},
            position="rope",
            embedding={"norm": True},
            variants={"first": {"like": "attention", "norm": "none"}, "local": {"like": "attention", "window": 8}},
            encoder={"pattern": ["first ffn", {"repeat": 2, "pattern": ["2 × local ffn", "attention ffn"]}]},
            head={**MASKED_LM, "transform_bias": False},
        ),
        ("qkv", "gate_up"),
    ),
]

PATCHES = {"kind": "patches", "image": 32, "patch": 8}


def image(**changes: Any) -> dict[str, Any]:
    """A config of the family."""
    sizes = {"hidden_size": D, "num_attention_heads": HEADS, "num_hidden_layers": BLOCKS, "num_labels": CLASSES}
    return {**sizes, "image_size": 32, "patch_size": 8, **changes}


def vit(**changes: Any) -> dict[str, Any]:
    said = {"d_model": D, "heads": HEADS, "ffn": FFN, "position": "learned", "embedding": PATCHES}
    return {**said, "encoder": BLOCKS, "head": CLASSIFIER, **changes}


MASKED = {**PATCHES, "mask": True}
NO_KEY_BIAS = {"bias": ["q", "v", "o"]}
BOTH = {**CLASSIFIER, "pool": "both"}

IMAGES = [
    Case("ViTForImageClassification", image(intermediate_size=FFN, qkv_bias=False), vit(attention={"bias": ["o"]})),
    Case(
        "ViTModel",
        image(intermediate_size=FFN, pooler_output_size=30),
        vit(head={"kind": "none", "pooler": 30}),
    ),
    Case(
        "Dinov2ForImageClassification",
        image(mlp_ratio=2),
        vit(ffn=2 * D, layer_scale=True, embedding=MASKED, head=BOTH),
    ),
    Case(
        "BeitForImageClassification",
        image(
            intermediate_size=FFN,
            use_relative_position_bias=True,
            use_shared_relative_position_bias=True,
            use_mask_token=True,
        ),
        vit(
            attention=NO_KEY_BIAS,
            layer_scale=True,
            position=[{"kind": "relative", "per": "block"}, {"kind": "relative", "per": "stack"}],
            embedding=MASKED,
        ),
    ),
    Case(
        "BeitForImageClassification",
        image(intermediate_size=FFN, layer_scale_init_value=0.0, use_absolute_position_embeddings=True),
        vit(attention=NO_KEY_BIAS),
    ),
]


@pytest.mark.parametrize("case", [*TEXT, *IMAGES], ids=str)
def test_an_encoder_has_the_tensors_of_its_class(case: Case) -> None:
    """Every tensor by shape and number, not only their sum."""
    check(case)


def test_a_gated_ffn_is_as_wide_as_two_thirds_of_four_times_d_model() -> None:
    """DINOv2's SwiGLU of a width rounded up to 8; its first two matrices are one: (48 × 4 × 2 / 3 → 128) × 2."""
    from support.same_tensors import build

    import archcalc

    config = image(mlp_ratio=4, use_swiglu_ffn=True)
    spec = vit(ffn={"width": 128, "gated": True, "act": "silu"}, layer_scale=True, embedding=MASKED, head=BOTH)
    built = build(Case("Dinov2ForImageClassification", config, spec))
    assert archcalc.load(spec).params().total == sum(parameter.numel() for parameter in built.parameters())


def test_two_tokens_in_front_are_one_tensor() -> None:
    """DeiT keeps its class and its distillation token apart."""
    from support.same_tensors import build

    import archcalc

    spec = vit(embedding={**PATCHES, "tokens": 2})
    built = build(Case("DeiTForImageClassification", image(intermediate_size=FFN), spec))
    assert archcalc.load(spec).params().total == sum(parameter.numel() for parameter in built.parameters())
