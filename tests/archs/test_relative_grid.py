"""Relative positions on the grid of an image's patches: a row for each difference of rows and columns."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
import torch
import transformers

import archcalc
from archcalc.layers.patches import Patches
from archcalc.reference.positions import differences, rows_on_grid
from archcalc.verify.check import verify

if TYPE_CHECKING:
    from conftest import Run, Write

SIZES = {"hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 3}


def spec(position: dict[str, Any] | None = None, **embedding: Any) -> dict[str, Any]:
    return {
        "d_model": 24,
        "heads": 3,
        "ffn": 40,
        "position": {"kind": "relative", **(position or {})},
        "embedding": {"kind": "patches", "image": 28, "patch": 4, **embedding},
        "encoder": 2,
        "head": "none",
    }


def tables(said: dict[str, Any]) -> set[tuple[int, ...]]:
    """The shapes of the tables."""
    rows = archcalc.load(said).shapes(parameters=True).rows
    return {row.shape for row in rows if row.path.endswith("position.weight")}


def theirs(model: torch.nn.Module) -> set[tuple[int, ...]]:
    named = model.named_parameters()
    return {tuple(parameter.shape) for name, parameter in named if name.endswith("relative_position_bias_table")}


@pytest.mark.parametrize("per", ["stack", "block"])
def test_a_window_without_a_class_token_is_swins(per: str) -> None:
    config = transformers.SwinConfig(
        image_size=28, patch_size=4, embed_dim=24, depths=[2], num_heads=[3], window_size=7
    )
    found = tables(spec({"per": per}, tokens=0))
    assert found == theirs(transformers.SwinModel(config)) == {((2 * 7 - 1) ** 2, 3)}


@pytest.mark.parametrize("image", [28, [28, 12]])
def test_a_class_token_has_three_more_as_beit_has(image: Any) -> None:
    config = transformers.BeitConfig(image_size=image, patch_size=4, use_relative_position_bias=True, **SIZES)
    assert tables(spec({"per": "block"}, image=image)) == theirs(transformers.BeitModel(config))


@pytest.mark.parametrize("tokens,registers", [(0, 0), (1, 0), (2, 1)])
def test_the_reference_has_a_row_for_each_difference(tokens: int, registers: int) -> None:
    """Two pairs share a row exactly if they are as far apart, down and across."""
    patches = {"image": [8, 12], "patch": [4, 4], "tokens": tokens, "registers": registers}
    front: list[Any] = [None] * (tokens + registers)
    places = [*front, *product(range(2), range(3))]
    rows = rows_on_grid(patches, torch.device("cpu"))
    known: dict[Any, set[int]] = {}
    for (i, one), (j, two) in product(enumerate(places), repeat=2):
        apart = (one[0] - two[0], one[1] - two[1]) if one and two else (one is None, two is None)
        known.setdefault((apart, bool(one and two)), set()).add(int(rows[i, j]))
    assert all(len(found) == 1 for found in known.values())
    assert sorted(row for found in known.values() for row in found) == list(range(differences(patches)))


def test_a_wrong_number_of_rows_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference works it out by itself."""
    right = Patches.differences.fget  # type: ignore[attr-defined]
    assert agrees(spec(image=8, tokens=0))
    monkeypatch.setattr(Patches, "differences", property(lambda patches: right(patches) + 3))
    assert not agrees(spec(image=8, tokens=0))


def agrees(said: dict[str, Any]) -> bool:
    model = archcalc.load(said)
    return verify(model, model.workload(), way=("eager", "none")).ok


@pytest.mark.parametrize(
    "position,embedding,fact",
    [
        ("{kind: relative, grid: 7}", "{kind: patches, image: 224, patch: 4}", "the image has 56 × 56"),
        ("{kind: relative, grid: [7, 8]}", "{kind: patches, image: 28, patch: 4}", "a table for 7 × 8 patches"),
        ("{kind: relative, grid: 7, buckets: 32}", "{kind: patches, image: 28, patch: 4}", "exclude each other"),
        ("{kind: relative, grid: 7}", "{}", "this stack has none"),
    ],
)
def test_a_grid_is_the_images(write: Write, run: Run, position: str, embedding: str, fact: str) -> None:
    file = write(
        f"vocab: 9\nd_model: 24\nheads: 3\nffn: 40\nencoder: 2\nembedding: {embedding}\nposition: {position}\n"
    )
    found = run("params", str(file))
    assert found.code == 2
    assert fact in found.err
    assert ":7:" in found.err
