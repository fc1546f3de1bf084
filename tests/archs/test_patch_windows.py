"""Towers of this year's models: windows of patches, clips, RoPE by row and column, tables that are interpolated."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

import archcalc
from archcalc.core.errors import InputError
from archcalc.layers.windowed import Windows, windows_on

if TYPE_CHECKING:
    from conftest import Run, Write

PLAIN: dict[str, Any] = {"d_model": 32, "heads": 4, "ffn": 48, "encoder": 2, "head": "none"}
PATCHES: dict[str, Any] = {"kind": "patches", "image": [40, 56], "patch": 8, "tokens": 0}


def spec(**changes: Any) -> dict[str, Any]:
    return {**PLAIN, "embedding": PATCHES, **changes}


def windowed(rows: int, columns: int) -> dict[str, Any]:
    return spec(position={"kind": "rope", "axes": 2}, attention={"windows": [rows, columns]})


@pytest.mark.parametrize(
    ("grid", "side", "found"),
    [
        ((4, 6), (2, 3), [(4, 6)]),
        ((5, 7), (2, 3), [(2 * 2, 2 * 3), (2, 2 * 1), (2, 1 * 3), (1, 1 * 1)]),
        ((2, 2), (4, 4), [(1, 4)]),
        ((3, 8), (8, 4), [(2, 3 * 4)]),
    ],
)
def test_a_grid_is_divided_into_windows_of_up_to_four_sizes(
    grid: tuple[int, int], side: tuple[int, int], found: list[tuple[int, int]]
) -> None:
    assert windows_on(grid, side) == tuple(Windows(*each) for each in found)


def test_every_patch_looks_at_its_window_alone() -> None:
    """Scores and their sums are products over pairs of patches of one window: 5 × 7 patches in windows of 2 × 3."""
    pairs = 4 * 6**2 + 2 * 2**2 + 2 * 3**2 + 1
    both = [archcalc.load(windowed(*side)).flops(mode="forward").forward for side in ((2, 3), (5, 7))]
    assert both[1] - both[0] == 2 * (2 * 2 * 32 * (35**2 - pairs))  # two blocks, two products, d_model


@pytest.mark.parametrize(
    "said",
    [
        windowed(2, 3),
        windowed(5, 7),
        windowed(3, 9),
        spec(embedding={**PATCHES, "frames": 2}),
        spec(position={"kind": "rope", "axes": 2, "fraction": 0.5}, embedding={**PATCHES, "tokens": 1, "registers": 2}),
        spec(position={"kind": "learned", "interpolated": [6, 4]}, embedding={**PATCHES, "tokens": 2}),
        spec(
            position=[{"kind": "learned", "interpolated": 3}, {"kind": "rope", "axes": 2}],
            variants={"near": {"like": "attention", "windows": 4}},
            encoder={"pattern": ["near ffn", "attention ffn"]},
        ),
    ],
)
@pytest.mark.parametrize("batch", [1, 3])
def test_the_reference_computes_the_same(said: dict[str, Any], batch: int, run: Run, write: Write) -> None:
    """Parameters, shapes, FLOPs and saved bytes, eagerly and by a flash kernel."""
    answer = run("verify", write(json.dumps(said), "spec.yaml"), "--batch", str(batch))
    assert answer.code == 0, answer.out


def test_patches_of_clips_are_those_of_a_convolution_over_time() -> None:
    model = archcalc.load(spec(embedding={**PATCHES, "frames": 2}))
    found = {row.path: row.each for row in model.params().rows if row.path == "embedding.projection.weight"}
    with torch.device("meta"):
        conv = nn.Conv3d(3, 32, (2, 8, 8), (2, 8, 8))
    assert found == {"embedding.projection.weight": conv.weight.numel()}


def test_an_interpolated_table_has_the_same_rows_for_every_image() -> None:
    said = spec(position={"kind": "learned", "interpolated": [6, 4]})
    counts = {
        int(archcalc.load(said, set=[f"embedding.image=[{height}, 64]"]).params().total) for height in (32, 64, 128)
    }
    without = int(archcalc.load(spec()).params().total)
    assert counts == {without + 6 * 4 * 32}


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        (spec(attention={"windows": 2}, embedding={**PATCHES, "tokens": 1}), "the image has tokens in front"),
        (spec(attention={"windows": 2}, embedding={**PATCHES, "registers": 1}), "the image has tokens in front"),
        ({**PLAIN, "vocab": 9, "attention": {"windows": 2}}, "this stack has none"),
        (spec(attention={"windows": 2, "window": 3}), "exclude each other"),
        (spec(attention={"windows": 2}, position="relative"), "windows have none of them"),
        (spec(attention={"windows": [1, 2, 3]}), "expected one number or [height, width]"),
        (
            spec(
                variants={"near": {"like": "attention", "windows": 2}, "far": {"like": "attention", "windows": 4}},
                encoder={"pattern": ["near ffn", "far ffn"]},
            ),
            "windows of different sizes",
        ),
        (spec(position={"kind": "rope", "axes": 2}, heads=16), "2 is no multiple of four"),
        ({**PLAIN, "vocab": 9, "position": {"kind": "rope", "axes": 2}}, "this stack has none"),
        ({**PLAIN, "vocab": 9, "position": {"kind": "learned", "interpolated": 4}}, "this stack has none"),
        (spec(position={"kind": "learned", "interpolated": 4, "length": 16}), "leave length out"),
        ({**PLAIN, "vocab": 9, "embedding": {"frames": 2}}, "tokens has no frames"),
    ],
)
def test_what_goes_with_no_image_is_refused(said: dict[str, Any], fact: str) -> None:
    with pytest.raises(InputError) as error:
        archcalc.load(said).params()
    assert fact in str(error.value)
