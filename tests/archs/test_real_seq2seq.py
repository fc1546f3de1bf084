"""Encoder-decoders of transformers, each written as a spec."""

from __future__ import annotations

from typing import Any

import pytest
from support.same_tensors import Case, check

VOCAB, D, HEADS, FFN, LENGTH = 90, 48, 6, 40, 64


def t5(**changes: Any) -> dict[str, Any]:
    said = {"vocab": VOCAB, "d_model": D, "heads": HEADS, "head_dim": 10, "ffn": {"width": FFN, "act": "relu"}}
    said |= {"norm": "rms", "bias": False, "position": RELATIVE, "embedding": {"shared": True}, "head": "tied"}
    return {**said, "encoder": 3, "decoder": 2, **changes}


RELATIVE = {"kind": "relative", "buckets": 8}
GATED = {"width": FFN, "act": "gelu_tanh", "gated": True}
T5 = {
    "vocab_size": VOCAB,
    "d_model": D,
    "d_kv": 10,
    "d_ff": FFN,
    "num_layers": 3,
    "num_decoder_layers": 2,
    "num_heads": HEADS,
    "relative_attention_num_buckets": 8,
}


def bart(**changes: Any) -> dict[str, Any]:
    """Two stacks that differ in blocks, heads and width."""
    said = {"vocab": VOCAB, "d_model": D, "norm": {"place": "post"}, "position": {**LEARNED, "offset": 2}}
    stacks = {"encoder": {"blocks": 3, "heads": HEADS, "ffn": FFN}, "decoder": {"blocks": 2, "heads": 4, "ffn": 32}}
    return {**said, "embedding": {"norm": True, "shared": True}, "head": "tied", **stacks, **changes}


PRE, SHARED = {"place": "pre"}, {"shared": True}
LEARNED = {"kind": "learned", "length": LENGTH}
SINUSOIDAL = {"kind": "sinusoidal", "length": LENGTH}
STORED = {**SINUSOIDAL, "stored": True}
BART = {
    "vocab_size": VOCAB,
    "d_model": D,
    "encoder_layers": 3,
    "decoder_layers": 2,
    "encoder_attention_heads": HEADS,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": FFN,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": LENGTH,
}
WHISPER = {**BART, "max_source_positions": 30, "max_target_positions": 20, "num_mel_bins": 16, "pad_token_id": 0}
SOUND = {"embedding": {"kind": "audio", "mels": 16}, "position": {**STORED, "length": 30}}

CASES = [
    Case("T5ForConditionalGeneration", T5, t5()),
    Case("MT5ForConditionalGeneration", T5, t5(ffn=GATED)),
    Case("UMT5ForConditionalGeneration", T5, t5(ffn=GATED, position={**RELATIVE, "per": "block"})),
    Case("BartForConditionalGeneration", BART, bart()),
    Case(
        "BartForConditionalGeneration",
        {**BART, "tie_word_embeddings": False},
        bart(embedding={"norm": True, "spare": True}, head="lm"),
    ),
    Case(
        "BartForCausalLM",
        BART,
        {
            "vocab": VOCAB,
            "d_model": D,
            "heads": 4,
            "ffn": 32,
            "norm": {"place": "post"},
            "position": {**LEARNED, "offset": 2},
            "embedding": {"norm": True},
            "cross": {"memory": D},
            "decoder": {"blocks": 2, "pattern": ["attention cross ffn"]},
            "head": "tied",
        },
    ),
    Case("MBartForConditionalGeneration", BART, bart(norm=PRE)),
    Case("BlenderbotForConditionalGeneration", BART, bart(norm=PRE, position=LEARNED, embedding=SHARED)),
    Case("PegasusForConditionalGeneration", BART, bart(norm=PRE, position=STORED, embedding=SHARED)),
    Case(
        "MarianMTModel",
        {**BART, "decoder_vocab_size": VOCAB, "pad_token_id": 1},
        bart(position=STORED, embedding=SHARED),
    ),
    Case("M2M100ForConditionalGeneration", BART, bart(norm=PRE, position=SINUSOIDAL, embedding=SHARED)),
    Case(
        "WhisperForConditionalGeneration",
        WHISPER,
        {
            "vocab": VOCAB,
            "d_model": D,
            "attention": {"bias": ["q", "v", "o"]},
            "encoder": {"blocks": 3, "heads": HEADS, "ffn": FFN, **SOUND},
            "decoder": {"blocks": 2, "heads": 4, "ffn": 32, "position": {**LEARNED, "length": 20}},
            "head": "tied",
        },
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_encoder_decoder_has_the_tensors_of_its_class(case: Case) -> None:
    """Every tensor by shape and number, not only their sum."""
    check(case)
