"""Gates of their own, norms in front of the output, gated convolutions: as PyTorch computes and keeps them."""

from __future__ import annotations

import pytest
from support.decoding import cache_bytes

from archcalc.model import Model
from archcalc.spec.yaml_reader import read
from archcalc.verify.check import verify

GATED = """
vocab: 500
d_model: 64
heads: 4
kv_heads: 2
attention: {gate: own, out_norm: true, bias: false}
moe: {experts: 4, top: 2, width: 48, correction: frozen, out_bias: true, shared: 32}
norm: rms
bias: false
position: rope
variants:
  local: {like: attention, window: 8, gate: head}
decoder: {pattern: [local moe, attention moe]}
"""

CONVOLVED = """
vocab: 500
d_model: 64
heads: 4
attention: {qk_norm: head}
conv: {kind: gated, kernel: 3, bias: true}
ffn: {width: 96, act: silu, gated: true, inner_norm: true}
norm: rms
bias: false
position: rope
decoder: {pattern: [2 × conv ffn, attention ffn]}
head: tied
"""


@pytest.mark.wide(1)
@pytest.mark.parametrize("spec", [GATED, CONVOLVED])
def test_every_row_is_equal(spec: str) -> None:
    """Gates as wide as the heads, or one number for each; convolutions between two gates."""
    model = Model.from_document(read(spec.encode(), "gated.yaml"), "gated")
    report = verify(model, model.workload(batch=2, seq=16))
    assert all(row.archcalc == row.reference for row in report.rows), report


def test_a_gate_is_a_projection_and_a_correction_is_frozen() -> None:
    rows = {row.path: row for row in Model.from_document(read(GATED.encode(), "gated.yaml"), "gated").params().rows}
    assert int(rows["decoder.local-moe.local.gate.weight"].total) == 64 * 4
    assert int(rows["decoder.attention-moe.attention.gate.weight"].total) == 64 * 4 * 16
    assert int(rows["decoder.attention-moe.moe.router.correction"].total) == 4
    assert int(rows["decoder.attention-moe.moe.bias"].total) == 64


def test_an_indexer_keeps_its_keys_and_learns_nothing() -> None:
    """DeepSeek-V3.2: queries from the squeezed ones, one key for all heads, a weight for each head."""
    spec = """
vocab: 100
d_model: 32
heads: 2
attention:
  {kind: mla, q_rank: 12, kv_rank: 8, nope_dim: 8, rope_dim: 4, v_dim: 8, index: {heads: 3, head_dim: 6, top: 4}}
ffn: 48
norm: rms
bias: false
position: rope
decoder: 2
"""
    model = Model.from_document(read(spec.encode(), "indexed.yaml"), "indexed")
    indexer = 12 * 3 * 6 + 32 * 6 + 2 * 6 + 32 * 3
    counted = model.params()
    assert int(counted.total) - int(counted.trainable) == 2 * indexer
    assert cache_bytes(model, model.workload(mode="prefill", seq=10), "fp32") == 2 * 10 * (8 + 4 + 6) * 4
