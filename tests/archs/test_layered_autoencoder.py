"""Deep and variational autoencoders: counted by hand and against PyTorch as its users write them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

import archcalc
from archcalc.analyze.flops.cost import work
from archcalc.loading import load
from archcalc.verify.check import verify

if TYPE_CHECKING:
    from conftest import Run, Write


def spec(kind: str = "deep", **changes: Any) -> dict[str, Any]:
    return {"family": "autoencoder", "kind": kind, "input": 12, "hidden": [8, 5, 3], **changes}


def total(**changes: Any) -> int:
    return int(load(spec(**changes)).params().total)


def numel(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def stack(*widths: int) -> nn.Sequential:
    """Linear layers of these widths with sigmoids between them."""
    layers = [nn.Linear(*pair) for pair in pairwise(widths)]
    return nn.Sequential(*(part for layer in layers for part in (layer, nn.Sigmoid())))


class Variational(nn.Module):
    """As PyTorch's own example writes it."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc21, self.fc22 = nn.Linear(784, 500), nn.Linear(500, 20), nn.Linear(500, 20)
        self.fc3, self.fc4 = nn.Linear(20, 500), nn.Linear(500, 784)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.tanh(self.fc1(x))
        mean, log_variance = self.fc21(h), self.fc22(h)
        z = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
        rebuilt = torch.sigmoid(self.fc4(torch.tanh(self.fc3(z))))
        divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
        return nn.functional.binary_cross_entropy(rebuilt, x, reduction="sum") + divergence


def test_hinton_and_salakhutdinovs_autoencoder() -> None:
    """784-1000-500-250-30 and back, every layer with its biases."""
    counted = load("deep-autoencoder").params().total
    assert counted == numel(stack(784, 1000, 500, 250, 30, 250, 500, 1000, 784)) == 2_837_314


def test_kingma_and_wellings_autoencoder() -> None:
    """500 hidden units and a code of 20: two heads of 500 × 20 + 20 in the middle."""
    assert load("vae-mnist").params().total == numel(Variational()) == 815_824
    rows = {row.path: row.total for row in load("vae-mnist").params().rows}
    assert rows["encoder.mean"] == rows["encoder.log_variance"] == 500 * 20 + 20


def test_a_training_step_of_a_variational_one_costs_what_pytorch_counts() -> None:
    """Matrix products forward and backward."""
    model, batch = Variational(), torch.rand(3, 784)
    with FlopCounterMode(display=False) as forward:
        loss = model(batch)
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    done = work(load("vae-mnist", set=["batch=3"]).build())
    assert (done.forward, done.backward) == (forward.get_total_flops(), backward.get_total_flops())


def test_the_code_of_a_variational_one_is_drawn_from_its_two_heads() -> None:
    shapes = {row.path: row.shape for row in load("vae-mnist").shapes(batch=7).rows}
    for signal in ("encoder.mean", "encoder.log_variance", "deviation", "noise", "z"):
        assert shapes[signal] == (7, 20)


def test_the_decoder_mirrors_the_encoder_unless_it_says_otherwise() -> None:
    mirrored = 12 * 8 + 8 + 8 * 5 + 5 + 5 * 3 + 3 + 3 * 5 + 5 + 5 * 8 + 8 + 8 * 12 + 12
    assert total() == total(decoder=[5, 8]) == mirrored
    assert total(decoder=4) == 12 * 8 + 8 + 8 * 5 + 5 + 5 * 3 + 3 + 3 * 4 + 4 + 4 * 12 + 12


def test_tied_matrices_are_counted_once() -> None:
    """The decoder keeps its biases alone."""
    assert total() - total(tied=True) == 12 * 8 + 8 * 5 + 5 * 3
    rows = {row.path: row.tied_to for row in load(spec(tied=True)).params().rows}
    assert rows["decoder.layer_3.weight"] == "encoder.layer_1.weight"


def test_one_layer_and_no_bias() -> None:
    """`hidden: 3` is a code and nothing between."""
    assert total(hidden=3, bias=False) == 2 * 12 * 3
    assert total(kind="variational", hidden=3, bias=False) == 3 * 12 * 3


@pytest.mark.parametrize(
    "changes",
    [
        {"act": "gelu", "code_act": "tanh", "tied": True},
        {"tied": True, "hidden": 4, "bias": False},
        {"decoder": [4, 7, 9], "output_act": "sigmoid", "loss": "squared"},
        {"kind": "variational", "output_act": "sigmoid"},
        {"kind": "variational", "hidden": 4, "decoder": [6], "act": "elu"},
    ],
)
def test_it_equals_pytorch(changes: dict[str, Any]) -> None:
    """Parameters, shapes, FLOPs and saved bytes, as for every family."""
    model = load(spec(**changes))
    report = verify(model, model.workload(batch=3))
    assert report.ok, report.answer()


def test_activations_and_loss_are_said(run: Run) -> None:
    """Whoever compares memory with another count sees what was taken."""
    out = " ".join(run("params", "vae-mnist").out.split())
    assert "activation tanh, the code is drawn, on the output sigmoid; loss: binary cross-entropy" in out


TOP = "family: autoencoder\nkind: deep\ninput: 50\nhidden: [20, 5]\n"
MISTAKES = {
    TOP.replace(
        "hidden: [20, 5]\n", ""
    ): "model.yaml:2: hidden: missing\n  2 | kind: deep\n  give the encoder's widths",
    TOP + "tied: true\ndecoder: 9\n": "model.yaml:6: decoder: tied matrices need a decoder that mirrors the encoder",
    TOP + "loss: bernoulli\n": "model.yaml:5: loss: a Bernoulli loss takes probabilities, and identity gives none",
    TOP + "classes: 3\n": "model.yaml:5: classes: a deep autoencoder has no classifier",
    TOP + "seq: 3\n": "model.yaml:5: seq: a deep autoencoder reads vectors",
    TOP.replace("deep", "variational") + "tied: true\n": "model.yaml:5: tied: a variational autoencoder has no tied",
    TOP.replace("deep", "linear"): "model.yaml:4: hidden: a linear autoencoder has one hidden width, not 2",
    TOP.replace("[20, 5]", "[]"): "model.yaml:4: hidden: expected a width, or a list of widths",
    TOP + "act: relux\n": "did you mean relu",
}


@pytest.mark.parametrize(("text", "told"), MISTAKES.items())
def test_a_mistake_is_told_with_its_line(run: Run, write: Write, text: str, told: str) -> None:
    """File, line, field and the way out."""
    answer = run("params", write(text))
    assert answer.code == 2
    assert told in answer.err


def test_there_is_nothing_to_decode() -> None:
    model = load("vae-mnist")
    with pytest.raises(archcalc.InputError, match="generates no tokens"):
        model.build(model.workload(mode="decode"))
