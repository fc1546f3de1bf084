"""Random stages of convolutional classes: few and narrow, each with a depth of its own."""

from __future__ import annotations

import random
from typing import Any

Fields = dict[str, Any]


def _stages(drawn: Fields, rng: random.Random) -> Fields:
    number = rng.randint(1, 4)
    widths = [8 * rng.randint(1, 6) for _ in range(number)]
    return {"hidden_sizes": widths, "depths": [rng.randint(1, 3) for _ in range(number)]}


def _resnet(drawn: Fields, rng: random.Random) -> Fields:
    return {**_stages(drawn, rng), "layer_type": rng.choice(["basic", "bottleneck"])}


def _regnet(drawn: Fields, rng: random.Random) -> Fields:
    return {**_stages(drawn, rng), "layer_type": rng.choice(["x", "y"]), "groups_width": rng.choice([4, 8, 64])}


def _convnext(drawn: Fields, rng: random.Random) -> Fields:
    found = _stages(drawn, rng)
    sizes = {"image_size": rng.choice([64, [64, 72]]), "patch_size": rng.choice([2, 4])}
    return {**found, **sizes, "num_stages": len(found["depths"])}


def _mobilenet(drawn: Fields, rng: random.Random) -> Fields:
    sizes = {"image_size": rng.choice([32, 45, [50, 33]]), "depth_multiplier": rng.choice([0.25, 0.35, 0.75, 1.0, 1.4])}
    return {**sizes, "min_depth": rng.choice([4, 8, 24])}


def _mobilenet_v2(drawn: Fields, rng: random.Random) -> Fields:
    widths = {"expand_ratio": rng.choice([1, 2.5, 6]), "depth_divisible_by": rng.choice([4, 8])}
    return {**_mobilenet(drawn, rng), **widths, "output_stride": rng.choice([4, 8, 16, 32])}


def _efficientnet(drawn: Fields, rng: random.Random) -> Fields:
    number = rng.randint(1, 4)
    widths = [32, *(rng.choice([12, 16, 40]) for _ in range(number))]
    wider = rng.choice([0.5, 1.0, 1.2])
    last = max(8, int(1280 * wider + 4) // 8 * 8)
    several: Fields = {
        "in_channels": widths[:-1],
        "out_channels": widths[1:],
        "kernel_sizes": [rng.choice([3, 5]) for _ in range(number)],
        "strides": [rng.choice([1, 2]) for _ in range(number)],
        "expand_ratios": [rng.choice([1, 4]) for _ in range(number)],
        "num_block_repeats": [rng.randint(1, 2) for _ in range(number)],
    }
    single = {"image_size": rng.choice([32, 45, [50, 33]]), "width_coefficient": wider, "hidden_dim": last}
    more = {"depth_coefficient": rng.choice([1.0, 1.4]), "depthwise_padding": rng.choice([[], [0, 2]])}
    return {**several, **single, **more, "pooling_type": rng.choice(["mean", "max"])}


def _poolformer(drawn: Fields, rng: random.Random) -> Fields:
    found = _stages(drawn, rng)
    number = len(found["depths"])
    windows = {"patch_sizes": [7, 3, 3, 2][:number], "strides": [4, 2, 2, 1][:number], "padding": [2, 1, 1, 0][:number]}
    return {**found, **windows, "num_encoder_blocks": number, "pool_size": rng.choice([3, 5]), "mlp_ratio": 2.5}


NETS: dict[str, Any] = {
    "resnet": _resnet,
    "regnet": _regnet,
    **dict.fromkeys(("convnext", "convnextv2"), _convnext),
    "efficientnet": _efficientnet,
    "poolformer": _poolformer,
    "mobilenet_v1": _mobilenet,
    "mobilenet_v2": _mobilenet_v2,
}
