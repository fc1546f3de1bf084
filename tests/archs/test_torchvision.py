"""Presets of convolutional nets beside what torchvision publishes of its models: GFLOPs with each multiply-add as one.

Source: the table of classification weights at pytorch.org/vision/stable/models.html, column GFLOPS.
"""

from __future__ import annotations

import pytest

import archcalc

GFLOPS = {
    "alexnet": 0.71,
    "vgg-16": 15.47,
    "resnet-18": 1.81,
    "resnet-50": 4.09,
    "resnet-152": 11.51,
    "resnext-50": 4.23,
    "densenet-121": 2.83,
    "mobilenet-v2": 0.30,
    "efficientnet-b0": 0.39,
    "convnext-t": 4.46,
    "swin-t": 4.49,
}
BUFFERS = {"resnet-50": 53_173, "densenet-121": 83_769, "mobilenet-v2": 34_164, "alexnet": 0}  # of batch norms


@pytest.mark.parametrize("preset", GFLOPS)
def test_forward_flops_as_published(preset: str) -> None:
    flops = archcalc.load(preset).flops(mode="prefill").total
    assert round(int(flops) / 2 / 1e9, 2) == GFLOPS[preset]


@pytest.mark.parametrize("preset", BUFFERS)
def test_running_statistics_as_torchvision_stores_them(preset: str) -> None:
    """The sizes of the buffers in torchvision 0.28's models."""
    assert archcalc.load(preset).params().buffers == BUFFERS[preset]
