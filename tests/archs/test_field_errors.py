"""What can be wrong in the fields that real models need: said with its line and a way out, never ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Run, Write

SIZES = "vocab: 90\nd_model: 48\nheads: 6\nffn: 40\n"
DECODER = SIZES + "decoder: 2\n"
ENCODER = SIZES + "encoder: 2\n"
SEQ2SEQ = SIZES + "encoder: 2\ndecoder: 2\n"
MLA = "kind: mla, kv_rank: 4, nope_dim: 4, rope_dim: 4, v_dim: 4"


def stack(pattern: str, more: str = "", name: str = "decoder") -> str:
    return SIZES + f"{name}: {{blocks: 2, pattern: [{pattern}, attention ffn]}}\n{more}\n"


ATTENTION = [
    (DECODER + "attention: {qk_norm: heds}", "'heds' is not one of head, heads, all"),
    (DECODER + "attention: {qk_norm: {ovr: head}}", "did you mean over?"),
    (DECODER + "attention: {window: 0}", "expected a size from 1"),
    (DECODER + "attention: {window: 5, chunk: 4}", "attention.window and attention.chunk exclude each other"),
    (DECODER + "attention: {feature: elu, window: 5}", "elu attention has no window"),
    (DECODER + "attention: {feature: elu, sinks: true}", "elu attention has no sinks"),
    (DECODER + "attention: {softcap: -1}", "expected a number above 0, found -1"),
    (DECODER + "attention: {kv_rank: 5}", "attention has no kv_rank"),
    (DECODER + "attention: {memory: 5}", "self-attention reads no memory"),
    (DECODER + "attention: {kind: mla}", "attention.rope_dim: missing"),
    (
        DECODER + f"attention: {{{MLA.replace('rope_dim: 4', 'rope_dim: 3')}}}",
        "RoPE rotates pairs of numbers, but rope_dim is 3",
    ),
    (DECODER + f"attention: {{{MLA}, window: 3}}", "mla has no window"),
    (DECODER + f"attention: {{{MLA}, bias: [q]}}", "attention.bias of latent attention is true or false"),
    (DECODER + f"position: alibi\nattention: {{{MLA}}}", "latent attention has no alibi positions"),
    (SEQ2SEQ + f"cross: {{{MLA}}}", "latent attention is self-attention, not cross-attention"),
    (SEQ2SEQ + "cross: {window: 4}", "cross-attention has no window"),
    (SEQ2SEQ + "cross: {memory: 4}", "cross-attention reads the encoder"),
    (stack("attention cross ffn"), "cross-attention needs an encoder"),
]
BLOCKS = [
    (DECODER + "parallel: shared\nnorm: {place: post}", "parallel parts are pre-norm"),
    (DECODER + "parallel: shared\nattention: {norm: rms}", "parts that share a norm have different ones"),
    (DECODER + "parallel: both", "'both' is not one of shared, separate"),
    (DECODER + "layer_scale: 1", "expected true or false"),
    (DECODER + "moe: {experts: 4}", "no block has a part called moe"),
    (DECODER + "variants: {a: {like: b}, b: {like: a}}", "no block has a part called a"),
    (stack("attention loc", "variants: {loc: {like: ffn, widht: 3}}"), "did you mean width?"),
    (SIZES + "decoder: {blocks: 4, pattern: [attention ffn, ffn], distinct: 2}", "only equal blocks can share weights"),
    (SIZES + "decoder: {blocks: 4, distinct: 0}", "expected a size from 1"),
    (SIZES + "encoder: {blocks: 4, once: [convv]}", "did you mean conv?"),
]
PARTS = [
    (stack("attention moe", "moe: {experts: 4, top: 5, width: 3}"), "a token cannot be routed to 5 of 4 experts"),
    (stack("attention moe", "moe: {experts: 4, width: 3}"), "moe.top: missing"),
    (stack("attention moe", "moe: {experts: 4, top: 2, width: 3, shared_gate: true}"), "shared_gate without shared"),
    (stack("attention moe", "moe: {experts: 4, top: 2, width: 3, latent_bias: true}"), "latent_bias without latent"),
    (stack("attention moe", "moe: {experts: 4, top: 2, width: 3, shared: {act: silu}}"), "moe.shared.width: missing"),
    (stack("mamba", "mamba: {norms: heavy}"), "expected true, false or weightless"),
    (stack("mamba", "mamba: {heads: 3}"), "mamba has no heads"),
    (stack("mamba", "mamba: {kind: mamba2}"), "mamba.heads: missing"),
    (stack("mamba", "mamba: {kind: mamba2, heads: 7}"), "inner 96 does not divide into 7 heads"),
    (stack("mamba", "mamba: {kind: mamba2, heads: 8, groups: 3}"), "heads 8 does not divide into 3 groups"),
    (stack("mamba", name="encoder"), "mamba is causal"),
    (stack("delta"), "delta.heads: missing"),
    (stack("delta", "delta: {heads: 4, v_heads: 6, head_dim: 3}"), "v_heads 6 does not divide into 4 heads"),
    (stack("rglru", "rglru: {heads: 7}"), "width 48 does not divide into 7 heads"),
    (stack("conv"), "this convolution is not causal"),
    (stack("conv", "conv: {groups: 5}", name="encoder"), "d_model 48 does not divide into 5 groups"),
]
POSITIONS = [
    (DECODER + "position: {kind: disentangled, buckets: 4}", "disentangled positions are for bidirectional attention"),
    (ENCODER + "position: disentangled", "disentangled positions need buckets"),
    (ENCODER + "position: {kind: disentangled, buckets: 4, terms: [c2p], project: [q]}", "is for the term p2c"),
    (ENCODER + "kv_heads: 2\nposition: {kind: disentangled, buckets: 4}", "for 6 heads of keys, not 2"),
    (ENCODER + "position: {kind: disentangled, buckets: 4, terms: [x2p]}", "did you mean c2p?"),
    (ENCODER + "position: {kind: relative, grid: [2, 3, 4]}", "expected one number or [height, width]"),
    (ENCODER + "position: [{kind: relative, buckets: 4}, {kind: relative, buckets: 4}]", "keep one of them"),
]
ENDS = [
    (DECODER + "embedding: {project: sum}", "project without a width to project from"),
    (DECODER + "embedding: {width: 20}\nhead: tied", "the embedding is 20 wide, and the model 48"),
    (DECODER + "embedding: {mels: 3}", "tokens has no mels"),
    (DECODER + "embedding: {kind: audio}", "a decoder reads tokens, not audio"),
    (SIZES + "encoder: {blocks: 2, embedding: {kind: audio, strides: [1]}}", "2 kernels, but 1 strides"),
    (SIZES + "encoder: {blocks: 2, embedding: {kind: audio}}\nhead: tied", "audio has no token table"),
    (
        SIZES + "encoder: {blocks: 2, embedding: {kind: audio}}\nhead: none",
        "vocab is set, but nothing reads or predicts tokens",
    ),
    (DECODER + "head: {bias: thrice}", "expected true, false or twice"),
    (DECODER + "head: {hidden: 3}", "lm has no hidden"),
    (DECODER + "head: {kind: classifier, classes: 2, pool: both}", "there is no class token beside patches"),
    (DECODER + "head: {transform_bias: false}", "transform_bias without transform"),
    (DECODER + "head: {kind: classifier, classes: 2, transform: true, hidden: 3}", "transform and hidden"),
    (DECODER + "head: {kind: none, pooler: often}", "expected a whole number"),
]


@pytest.mark.parametrize(
    ("text", "told"), [*ATTENTION, *BLOCKS, *PARTS, *POSITIONS, *ENDS], ids=lambda text: text[-50:]
)
def test_a_mistake_is_told(run: Run, write: Write, text: str, told: str) -> None:
    """Exit code 2, the file and its line, no traceback."""
    answer = run("params", write(text + "\n"))
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err
    assert "model.yaml:" in answer.err
    assert "Traceback" not in answer.err
