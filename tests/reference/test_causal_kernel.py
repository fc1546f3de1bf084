"""Causal kernel attention: its sums along the sequence give what every query would find by meeting every key."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch
from torch import Tensor
from torch.autograd import gradcheck

import archcalc
from archcalc.reference.kernel import FEATURES, KernelAttention
from archcalc.verify.check import Subject

HEADS, KV_HEADS, EACH, SEQ = 4, 2, 3, 5


def attention(feature: str) -> KernelAttention:
    """Of a decoder of one block."""
    spec = {"vocab": 5, "d_model": 6, "heads": HEADS, "kv_heads": KV_HEADS, "head_dim": EACH, "ffn": 4, "decoder": 1}
    model = archcalc.load({**spec, "attention": {"feature": feature}})
    built = Subject(model, model.workload()).built(device="cpu", dtype="fp64")
    found = built.get_submodule("decoder.blocks.attention")
    assert isinstance(found, KernelAttention)
    return found


def drawn(heads: int) -> Tensor:
    return torch.randn(2, heads, SEQ, EACH, dtype=torch.float64).requires_grad_()


def looked_up(made: KernelAttention, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return made._core_of(None, q, k, v, None)[0]


@pytest.mark.parametrize("feature", ["poly2", "elu", "relu"])
def test_sums_give_what_meeting_every_key_gives(feature: str) -> None:
    """Σ φ(q)·φ(k) v over Σ φ(q)·φ(k), over all keys up to the query's own."""
    torch.manual_seed(0)
    q, k, v = drawn(HEADS), drawn(KV_HEADS), drawn(KV_HEADS)
    keys, values = (t.repeat_interleave(HEADS // KV_HEADS, dim=1) for t in (k, v))
    similar = (FEATURES[feature](q) @ FEATURES[feature](keys).mT).tril()
    assert torch.allclose(
        looked_up(attention(feature), q, k, v), similar @ values / (similar.sum(-1)[..., None] + 1e-6)
    )


def test_the_gradient_is_that_of_what_it_computes() -> None:
    """Though nothing but queries, keys and values is kept for it."""
    torch.manual_seed(0)
    made = attention("poly2")
    assert gradcheck(lambda *given: looked_up(made, *given), (drawn(HEADS), drawn(KV_HEADS), drawn(KV_HEADS)))


def test_nothing_but_queries_keys_and_values_is_kept() -> None:
    """No state of any position."""
    kept: set[int] = set()
    given = drawn(HEADS), drawn(KV_HEADS), drawn(KV_HEADS)

    def keep(tensor: Tensor) -> Tensor:
        kept.add(tensor.untyped_storage().data_ptr())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        looked_up(attention("elu"), *given)
    assert kept == {tensor.untyped_storage().data_ptr() for tensor in given}
