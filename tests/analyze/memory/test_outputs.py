"""What layers give out: the activations of a CNN as courses count them, and as PyTorch makes them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from torch import Tensor, nn

from archcalc import load

if TYPE_CHECKING:
    from conftest import Run

TENSORS = Path(__file__).parents[3] / "docs" / "examples" / "tiny" / "model.safetensors"
VGG = (64, 64, "M", 128, 128, "M", 256, 256, 256, "M", 512, 512, 512, "M", 512, 512, 512, "M")


def vgg() -> nn.Sequential:
    """VGG-16 with activation functions in place, as torchvision writes it."""
    layers: list[nn.Module] = []
    into = 3
    for width in VGG:
        if isinstance(width, str):
            layers.append(nn.MaxPool2d(2))
        else:
            layers += [nn.Conv2d(into, width, 3, padding=1), nn.ReLU(inplace=True)]
            into = width
    wide = [nn.Linear(25088, 4096), nn.ReLU(inplace=True), nn.Linear(4096, 4096), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers, nn.Flatten(), *wide, nn.Linear(4096, 1000))


class Bottleneck(nn.Module):
    """A residual block; the sum is made by no module."""

    def __init__(self, into: int, width: int, out: int) -> None:
        super().__init__()
        first = [nn.Conv2d(into, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
        second = [nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
        self.branch = nn.Sequential(*first, *second, nn.Conv2d(width, out, 1, bias=False), nn.BatchNorm2d(out))
        self.shortcut = nn.Sequential(nn.Conv2d(into, out, 1, bias=False), nn.BatchNorm2d(out))
        self.act = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        joined: Tensor = self.act(self.branch(x) + self.shortcut(x))
        return joined


def made(net: nn.Module, image: Tensor) -> int:
    """Elements of all storages that modules give out, and of the input; views and what works in place add none."""
    storages = {image.untyped_storage()._cdata: image.untyped_storage()}

    def remember(module: nn.Module, given: tuple[Tensor, ...], out: Tensor) -> None:
        storages[out.untyped_storage()._cdata] = out.untyped_storage()

    for module in net.modules():
        module.register_forward_hook(remember)
    with torch.no_grad():
        net.eval()(image)
    return sum(one.nbytes() for one in storages.values()) // 4


def test_pytorch_makes_as_many_for_vgg() -> None:
    with torch.device("meta"):
        counted = made(vgg(), torch.zeros(1, 3, 224, 224))
    assert load("vgg-16").memory(mode="forward", batch=1).rows[0].outputs == counted == 15_237_608


def test_and_for_norms_and_shortcuts() -> None:
    """The first stage of a ResNet."""
    block = {"width": 8, "out": 32}
    spec = {
        "family": "network",
        "input": "3x16x16",
        "layers": [
            {
                "residual": [
                    {"conv": block["width"], "kernel": 1, "bias": False, "norm": "batch", "act": "relu"},
                    {"conv": 8, "kernel": 3, "padding": 1, "bias": False, "norm": "batch", "act": "relu"},
                    {"conv": block["out"], "kernel": 1, "bias": False, "norm": "batch"},
                ],
                "shortcut": {"conv": 32, "kernel": 1, "bias": False, "norm": "batch"},
                "act": "relu",
            }
        ],
    }
    with torch.device("meta"):
        counted = made(Bottleneck(3, **block), torch.zeros(2, 3, 16, 16))
    assert load(spec).memory(mode="forward", batch=2).rows[0].outputs == counted


def test_the_table_of_cs231n(run: Run) -> None:
    """224·224·64 values behind the first convolution; 15.2 million in all, and 138 million parameters."""
    found = run("memory", "vgg-16", "--mode", "forward", "--format", "json").json
    rows = {row["path"]: row for row in found["rows"]}
    assert rows["input"]["outputs"] == 224 * 224 * 3
    assert rows["conv_1"]["outputs"] == rows["conv_2"]["outputs"] == 224 * 224 * 64
    assert rows["conv_1"]["output_bytes"] == 4 * 224 * 224 * 64
    assert rows["pool_1"]["outputs"] == 112 * 112 * 64
    assert rows["conv_9"]["outputs"] == 3 * 14 * 14 * 512
    assert (rows["model"]["outputs"], rows["model"]["parameters"]) == (15_237_608, 138_357_544)
    assert sum(row["outputs"] for path, row in rows.items() if path != "model") == 15_237_608


@pytest.mark.parametrize("mode", ["infer", "forward", "prefill", "train"])
@pytest.mark.parametrize("name", ["vgg-16", "lenet-5", "resnet-50", "unet", "efficientnet-b0"])
def test_a_narrow_terminal_shows_them(run: Run, name: str, mode: str) -> None:
    """With every layer of the network, however deep, and the sum of all above."""
    out = run("memory", name, "--mode", mode, columns=80).out
    rows = run("memory", name, "--mode", mode, "--format", "json").json["rows"]
    shown = out[out.index("\nlayer") :]
    assert "outputs" in shown.splitlines()[1]
    assert all(f"{row['outputs']:,}" in shown for row in rows[1:] if row["outputs"])
    assert re.search(rf"outputs of all layers +([\d.]+ [kMB] +)?{rows[0]['outputs']:,}", out)


def test_the_overhead_stands_apart(run: Run) -> None:
    """It is part of what a device must have, and of no share."""
    report = load("lenet-5").memory(mode="forward", batch=1)
    assert report.required_bytes == report.own_bytes + report.parts["overhead"] == report.total_bytes
    lines = run("memory", "lenet-5", "--mode", "forward").out.splitlines()
    assert "512.3 MiB on one GPU ± 12 % · 277.8 KiB + 512.0 MiB overhead · 537,155,368 bytes" in lines[1]
    (weights,) = (line for line in lines if line.startswith("weights "))
    assert f"{100 * report.parts['weights'] / report.own_bytes:.1f} %" in weights
    assert "overhead" not in run("memory", "lenet-5", "--overhead", "0").out.splitlines()[1]


def test_a_list_of_tensors_makes_nothing(run: Run) -> None:
    """Its table has memory."""
    out = run("memory", str(TENSORS)).out
    assert "outputs" not in out
    assert "memory" in out[out.index("\nlayer") :].splitlines()[1]
