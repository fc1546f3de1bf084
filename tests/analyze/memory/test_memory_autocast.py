"""Autocast, against PyTorch's own on a CPU, which computes softmax in 16 bits where a GPU does it in fp32."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.alive import Alive
from torch import Tensor
from torch.nn.functional import cross_entropy

from archcalc import load
from archcalc.analyze.memory import Memory, training
from archcalc.core.ops import KINDS
from archcalc.reference.measure import training_step
from archcalc.reference.transformer import Transformer
from archcalc.run.tree_changes import traced
from archcalc.verify.plain import plain

SMALL = ["decoder=3", "vocab=100", "d_model=64", "heads=4", "ffn.width=128"]
MODELS = {
    "gpt2": SMALL,
    "llama-3-8b": [*SMALL, "kv_heads=2"],
    "t5-small": ["encoder=2", "decoder=2", "vocab=100"],
    "textbook": ["encoder=2", "decoder=2", "vocab=100"],
}


def _compute_softmax_in_16_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a CPU does: it is in none of PyTorch's lists for CPUs."""
    monkeypatch.setitem(KINDS, "softmax", KINDS["softmax"]._replace(autocast=""))


@pytest.mark.parametrize("name", MODELS)
def test_autocast_keeps_what_pytorch_keeps(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Activations of both widths, a copy for each product that reads a wide one, and 16-bit copies of the weights."""
    _compute_softmax_in_16_bits(monkeypatch)
    model = load(name, set=MODELS[name])
    net = Transformer(plain(model.resolved), {"attention": "eager", "recompute": "none"})
    ids = [torch.zeros(2, 16, dtype=torch.long) for _ in model.resolved.lengths]

    def loss() -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = net(*ids)
        return cross_entropy(logits.float().flatten(0, 1), torch.zeros(32, dtype=torch.long))

    truth = training_step(net, loss).saved
    ask = Memory(model, mode="train", precision="autocast", attention="eager", code="plain")
    root = traced(ask.deployment.network, ask.deployment.run, model.workload(batch=2, seq=16))
    report = ask.at(2, 16)
    at_loss = next(instant for instant in report.instants if instant.phase == "loss")
    copies = at_loss.parts["weights"] - report.states["weights"]
    assert (
        sum(one.bytes for one in training.step_schedule(root, ask.deployment.run, ask.deployment.keeping).saved())
        + copies
        == truth
    )


def test_a_gpu_keeps_softmax_in_fp32() -> None:
    """Twice, once for itself and once in 16 bits for the product that follows: 4 + 2 bytes for each score."""
    model = load("gpt2", set=["dropout=0"])
    ask: dict[str, Any] = {"mode": "train", "code": "plain", "attention": "eager", "batch": 1}
    eager = model.memory(precision="autocast", **ask).rows[0].parts["activations"]
    mixed = model.memory(precision="master", **ask).rows[0].parts["activations"]
    scores = 12 * 12 * 1024 * 1024
    assert eager - mixed > (4 + 2 - 2) * scores


@pytest.mark.parametrize("recompute", ["none", "core", "block"])
def test_copies_of_weights_end_with_autocast_where_blocks_are_recomputed(
    recompute: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyTorch frees the cached copies behind the loss, unless a product saved them, and casts again to recompute."""
    _compute_softmax_in_16_bits(monkeypatch)
    model = load(
        "llama-3-8b", set=["decoder=4", "vocab=1000", "d_model=256", "heads=4", "ffn.width=1024", "kv_heads=2"]
    )
    net = Transformer(plain(model.resolved), {"attention": "eager", "recompute": recompute})
    ids, targets = torch.zeros(2, 64, dtype=torch.long), torch.zeros(128, dtype=torch.long)
    with Alive(*net.parameters(), ids, targets) as alive:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss: Any = cross_entropy(net(ids).flatten(0, 1).float(), targets)
        loss.backward()
    said = {"core": "selective", "block": "full"}.get(recompute, "none")
    ours = model.memory(
        mode="train",
        precision="autocast",
        code="plain",
        attention="eager",
        recompute=said,
        optimizer="sgd",
        batch=2,
        seq=64,
        overhead=0,
    )
    assert abs(alive.peak / ours.total_bytes - 1) < 0.015
