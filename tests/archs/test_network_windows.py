"""Windows of a map in lists of layers: attention inside each, shifted round the ends of the map."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.core.errors import InputError


def net(*layers: Any, sample: Any = "16 × 8 × 12") -> archcalc.Model:
    return archcalc.load({"family": "network", "input": sample, "layers": list(layers), "loss": "none"})


def attention(heads: int, **position: Any) -> dict[str, Any]:
    return {"attention": heads, "position": {"kind": "relative", "grid": 4, "per": "block", **position}}


def swin_of_transformers() -> Any:
    """Swin's own config: the defaults are those of the smallest model."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    config = transformers.SwinConfig(num_labels=1000, attn_implementation="eager")
    with torch.device("meta"):
        return transformers.SwinForImageClassification(config).eval()


def test_swin_has_the_parameters_and_the_flops_of_transformers() -> None:
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    theirs, ours = swin_of_transformers(), archcalc.load("swin-t")
    assert ours.params().total == sum(each.numel() for each in theirs.parameters())
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        theirs(torch.empty(2, 3, 224, 224, device="meta"))
    assert ours.flops(mode="prefill", batch=2).amounts.forward == counter.get_total_flops()


def test_each_window_is_a_sequence_of_its_own() -> None:
    model = net({"windows": 4, "layers": [attention(2)]})
    shapes = {row.path: row.shape for row in model.shapes().rows}
    assert shapes["windows_1.layers.scores"] == (2 * 3, 2, 16, 16)
    assert shapes["windows_1"] == (1, 16, 8, 12)
    assert model.params().total == 4 * (16 * 16 + 16) + 2 * (2 * 4 - 1) ** 2


def test_scores_grow_with_the_map_and_not_with_its_square() -> None:
    def scores(sample: str) -> int:
        return int(
            net({"windows": 4, "layers": [{"attention": 2}]}, sample=sample).flops().kinds["attention scores"].forward
        )

    assert scores("16 × 8 × 24") == 2 * scores("16 × 8 × 12")


def test_the_reference_computes_the_same_windows() -> None:
    """Blocks that are repeated, and shifted, and Transformer blocks inside of windows of unequal sides."""
    pytest.importorskip("torch")
    shifted = {"windows": 4, "shift": 2, "layers": [attention(2)]}
    blocks = {"transformer": 2, "heads": 2, "ffn": 8, "causal": True}
    model = net(
        {"residual": [{"norm": "layer"}, shifted], "repeat": 2},
        {"windows": [4, 6], "shift": 1, "layers": [blocks, {"linear": 24}]},
        {"pixel_unshuffle": 2},
    )
    assert model.verify(batch=2).ok


def test_attention_does_not_look_across_an_end() -> None:
    """Of four windows that are shifted by half, one holds places of all four corners: none of them sees another one."""
    torch = pytest.importorskip("torch")
    from archcalc.reference.map_windows import Windows

    made = Windows({"size": [4, 4], "shift": 2, "layers": {}}, lambda config: torch.nn.Identity())
    hidden = made._across_ends(torch.zeros(1, 1, 8, 8), [2, 2])
    seen = (~hidden[:, 0]).sum(-1)
    assert seen[0].tolist() == [16] * 16
    assert seen[1].tolist() == [8] * 16
    assert seen[3].tolist() == [4] * 16


@pytest.mark.parametrize(
    "layer,fact",
    [
        ({"windows": 5, "layers": [attention(2)]}, "a side of 8 places does not divide into windows of 5"),
        ({"windows": 4, "shift": 4, "layers": ["relu"]}, "a shift of 4 is as long as a window"),
        ({"windows": [8, 12], "shift": 2, "layers": ["relu"]}, "one window is the whole map"),
        ({"windows": 4, "layers": [attention(2, grid=5)]}, "a grid of 5 × 5, but 16 positions"),
        ({"windows": 4, "layers": [{"pool": "max", "kernel": 2}]}, "which is no map again"),
        ({"windows": 4, "shift": 1, "layers": [{"attention": 2, "memory": "input"}]}, "cross-attention in shifted"),
        ({"windows": 4, "layers": [{"attention": 2, "memory": "first"}]}, "no earlier layer called 'first'"),
        ({"pixel_unshuffle": 3}, "cannot be cut into windows of 3 × 3"),
    ],
)
def test_mistakes_are_named(layer: dict[str, Any], fact: str) -> None:
    with pytest.raises(InputError) as error:
        net({"conv": 16, "kernel": 1, "name": "first"}, layer)
    assert fact in str(error.value)
