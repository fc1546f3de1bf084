"""The kernel that bends scores computes what eager attention does, forward and backward."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from archcalc.reference.attention import Attention
from archcalc.reference.fused import FusedAttention, Scores
from archcalc.reference.stack import Constants

SEES = {"causal": True, "window": None, "chunk": None, "memory": 0}
PLAIN: dict[str, Any] = {"softcap": False, "sinks": False, "positions": [], "feature": "softmax", "sight": SEES}
PLAIN |= {"head_dim": 3, "v_dim": None}
BENT = [
    {"softcap": True},
    {"sinks": True},
    {"positions": [{"kind": "alibi"}]},
    {"v_dim": 2},
    {"softcap": True, "sinks": True, "sight": {**SEES, "window": 2}},
]


def tensors(said: dict[str, Any]) -> list[Any]:
    """Queries of four heads, keys and values of two, and a sink for each head if there are any."""
    torch.manual_seed(0)
    sizes = [(2, 4, 5, 3), (2, 2, 5, 3), (2, 2, 5, said["v_dim"] or 3)]
    made = [torch.randn(size, dtype=torch.float64, requires_grad=True) for size in sizes]
    return [*made, torch.randn(4, dtype=torch.float64, requires_grad=True) if said["sinks"] else None]


@pytest.mark.wide(2)
@pytest.mark.parametrize("changes", BENT, ids=lambda changes: " ".join(changes))
def test_its_gradients_are_those_of_its_output(changes: dict[str, Any]) -> None:
    """With dropout too, whose choice is the same in both passes."""
    said = {**PLAIN, **changes}
    for scores in (Scores(said), Scores(said, dropout=0.3, seed=7)):
        given: tuple[Any, ...] = (*tensors(said), None, scores)
        assert torch.autograd.gradcheck(FusedAttention.apply, given)


@pytest.mark.parametrize("changes", BENT, ids=lambda changes: " ".join(changes))
def test_it_finds_what_eager_attention_finds(changes: dict[str, Any]) -> None:
    said = {
        **PLAIN,
        **changes,
        "heads": 4,
        "kv_heads": 2,
        "cross": False,
        "global_qkv": False,
        "gate": None,
        "qk_norm": None,
        "softmax": "input",
    }
    said |= {"bias": "", "weights_dropout": 0.0, "name": "attention", "out_norm": None}
    said |= {"makes": "qkv", "kv_of": "", "v_norm": None, "windows": None}
    built = {way: Attention(said, 8, 8, {"attention": way, "recompute": "none"}).double() for way in ("eager", "flash")}
    built["flash"].load_state_dict(built["eager"].state_dict())
    x = torch.randn(2, 5, 8, dtype=torch.float64)
    given = given_to(said, x)
    assert torch.allclose(built["flash"](x, {}), built["eager"](x, given))


def given_to(said: dict[str, Any], x: torch.Tensor) -> dict[str, torch.Tensor]:
    """What a stack makes for eager attention: the mask, and ALiBi's bias."""
    constants = Constants(torch.nn.Module(), x, 0, {"attention": "eager"})
    constants.add(said)
    return constants.given
