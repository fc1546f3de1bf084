"""A Vision Transformer on a larger image: more patches of the same size, and the same projection."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from archcalc.identities.finding import WHOLE, Findings, Value, corrected, measured_at, right, wrong
from archcalc.identities.measure import filled, gaussian, weights

PATCH, COLOURS, WIDTH = 16, 3, 64
SMALL, LARGE = 224, 384


def image(side: int) -> Tensor:
    """A square one."""
    return torch.zeros(COLOURS, side, side, dtype=torch.float64)


def cut(pixels: Tensor) -> Tensor:
    """An image as patches, a row of numbers each."""
    tiles = pixels.unfold(1, PATCH, PATCH).unfold(2, PATCH, PATCH)  # colours, rows, columns, patch, patch
    return tiles.permute(1, 2, 0, 3, 4).flatten(2).flatten(0, 1)


def interpolated(rows: Tensor, side: int) -> Tensor:
    """Position rows of a square grid for another with `side` patches to a row, as ViTs are fine-tuned."""
    before = round(len(rows) ** 0.5)
    grid = rows.T.reshape(1, WIDTH, before, before)
    return nn.functional.interpolate(grid, size=(side, side), mode="bicubic").flatten(2)[0].T


def patches() -> Findings:
    """P is a choice of the architecture; the number of patches is HW/P²."""
    # The patch embedding is a convolution whose kernel and stride are one patch.
    layer = filled(lambda: nn.Conv2d(COLOURS, WIDTH, PATCH, stride=PATCH, dtype=torch.float64), gaussian(seed=30))
    few, many = cut(image(SMALL)), cut(image(LARGE))
    embedded = layer(image(LARGE)).flatten(1).T
    grown = PATCH * LARGE / SMALL  # the side of a patch, if there were as many as before
    number = Value(f"N of {SMALL}²", len(few)), Value(f"N of {LARGE}²", len(many))
    formula = max(abs(len(cut(image(side))) - side**2 // PATCH**2) for side in (SMALL, LARGE))
    positions = interpolated(gaussian(seed=31)((SMALL // PATCH) ** 2, WIDTH), LARGE // PATCH)
    held = abs(weights(layer) - (PATCH**2 * COLOURS + 1) * WIDTH)
    return measured_at(
        f"P = {PATCH}, C = {COLOURS}, d_model = {WIDTH}, images of {SMALL}² and {LARGE}²",
        wrong("the size of a patch grows with the image", abs(grown**2 * COLOURS - many.shape[1]), WHOLE),
        corrected("a patch stays P²·C numbers", abs(many.shape[1] - PATCH**2 * COLOURS), WHOLE),
        wrong("the number of patches stays", abs(len(many) - len(few)), WHOLE),
        corrected("there are N = HW/P² patches", formula, WHOLE).showing(*number),
        right("the projection has (P²·C + 1)·d_model weights", held, WHOLE),
        right("the sequence is as long as there are patches", abs(len(embedded) - len(many)), WHOLE),
        right("interpolated positions: a row for each patch", abs(len(positions) - len(many)), WHOLE),
    )
