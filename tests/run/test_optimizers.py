"""Optimizer states, against PyTorch's own optimizers after a step."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from archcalc import load
from archcalc.core.errors import InputError
from archcalc.reference.transformer import Transformer
from archcalc.verify.plain import plain

SMALL = ["decoder=2", "vocab=100", "d_model=64", "heads=4", "ffn.width=128"]


def states_after_a_step(kind: Any, **options: Any) -> int:
    """Bytes of every state but the numbers of steps."""
    net = Transformer(plain(load("gpt2", set=SMALL).resolved), {"attention": "eager", "recompute": "none"})
    net(torch.zeros(1, 4, dtype=torch.long)).sum().backward()
    steps = kind(net.parameters(), **options)
    steps.step()
    tensors = [tensor for state in steps.state.values() for tensor in state.values() if torch.is_tensor(tensor)]
    return sum(tensor.untyped_storage().nbytes() for tensor in tensors if tensor.dim())


@pytest.mark.parametrize(
    ("name", "kind", "options"),
    [
        ("sgd", torch.optim.SGD, {"lr": 0.1}),
        ("momentum", torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
        ("adam", torch.optim.Adam, {}),
        ("adamw", torch.optim.AdamW, {}),
        ("adafactor", torch.optim.Adafactor, {}),
    ],
)
def test_states_are_what_pytorch_keeps(name: str, kind: Any, options: dict[str, Any]) -> None:
    """To the byte, in fp32, of layers with a matrix each for queries, keys and values."""
    asked: dict[str, Any] = {"mode": "train", "precision": "fp32", "code": "plain", "batch": 1, "seq": 4}
    report = load("gpt2", set=SMALL).memory(optimizer=name, **asked)
    assert report.states["optimizer"] == states_after_a_step(kind, **options)


def test_lion_keeps_one_value_and_8_bit_adam_two_bytes() -> None:
    """Blocks of 256 share an fp32 scale; GPT-2's norms and biases, under 4,096 elements, stay in fp32."""
    model = load("gpt2")
    small = 12 * (4 * 768 + 4 * 768 + 3072 + 768) + 2 * 768
    large = 124_439_808 - small
    lion, eight = (
        model.memory(mode="train", optimizer=name, batch=1, seq=4).states["optimizer"] for name in ("lion", "adam8bit")
    )
    assert lion == 4 * 124_439_808
    blocks = -(-50257 * 768 // 256) + 1024 * 768 // 256 + 12 * (4 * 768 * 768 + 2 * 768 * 3072) // 256
    assert eight == 2 * (large + 4 * blocks) + 8 * small


def test_muon_keeps_one_value_for_the_blocks_matrices() -> None:
    """Two for tables, norms and biases."""
    matrices = 12 * (4 * 768 * 768 + 2 * 768 * 3072)
    report = load("gpt2").memory(mode="train", precision="fp32", optimizer="muon", batch=1, seq=4)
    assert report.states["optimizer"] == 4 * (matrices + 2 * (124_439_808 - matrices))


@pytest.mark.parametrize("name", ["adafactor", "muon", "adam8bit"])
def test_what_libraries_disagree_on_is_an_estimate(name: str) -> None:
    """And says so."""
    record = load("gpt2").memory(mode="train", optimizer=name, batch=1, seq=4).record()
    assert record["estimate"] is True
    assert record["estimates"]


def test_an_unknown_optimizer_gets_the_closest_name() -> None:
    """Whatever its case."""
    with pytest.raises(InputError, match="no optimizer called Adamm") as raised:
        load("gpt2").memory(mode="train", optimizer="Adamm")
    assert "adam" in raised.value.hint
