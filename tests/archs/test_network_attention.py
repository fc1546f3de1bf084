"""Attention, Transformer blocks, products of two tensors and given tensors in lists of layers."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.core.errors import InputError


def net(*layers: Any, sample: Any = "64 × seq", **fields: Any) -> archcalc.Model:
    seq = {"seq": 20} if "seq" in str(sample) else {}
    return archcalc.load({"family": "network", "input": sample, "layers": list(layers), **seq, **fields})


def parameters(model: archcalc.Model) -> int:
    return int(model.params().total)


def count(module: Any) -> int:
    return sum(each.numel() for each in module.parameters())


DETECTOR: list[Any] = [  # as DETR: a map as a sequence, encoded; learned queries that look at it
    {"conv": 32, "kernel": 4, "stride": 4},
    "sequence",
    {"position": "learned"},
    {"transformer": 2, "heads": 4, "ffn": {"width": 64, "act": "relu"}, "norm": {"place": "post"}, "name": "encoded"},
    {"parameter": "10 × 32"},
    {"transformer": 2, "heads": 4, "ffn": {"width": 64, "act": "relu"}, "memory": "encoded", "name": "decoded"},
]
HEADS: dict[str, Any] = {
    "kind": [{"linear": 6}],
    "boxes": ["decoded", {"linear": 32, "act": "relu"}, {"linear": 4, "act": "sigmoid"}],
    "memory": ["encoded", {"linear": 1}],
}


def detector() -> archcalc.Model:
    return net(*DETECTOR, sample="3 × 32 × 32", heads=HEADS, loss="none")


def turned(width: int, *layers: Any) -> dict[str, Any]:
    """PointNet's T-Net (Qi et al. 2017, appendix C): the points times a matrix that is made of all of them."""
    made = [*layers, {"pool": "max", "to": 1}, "flatten", {"linear": width**2}, {"reshape": [width, width]}]
    identity = [{"constant": [width, width], "value": "identity"}]
    return {"matmul": ["input", [*made, {"add": ["input", identity]}]]}


def test_attention_has_the_parameters_of_pytorchs() -> None:
    torch = pytest.importorskip("torch")
    assert parameters(net({"attention": 8})) == count(torch.nn.MultiheadAttention(64, 8))
    assert parameters(net({"attention": 8, "kv_heads": 2, "bias": False})) == 2 * 64 * 64 + 2 * (64 * 16)


def test_blocks_have_the_parameters_of_pytorchs() -> None:
    """nn.TransformerDecoderLayer has cross-attention; neither has a norm behind the last block."""
    torch = pytest.importorskip("torch")
    fields = {"heads": 8, "ffn": 128, "norm": {"place": "post"}}
    encoder = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(64, 8, 128, batch_first=True), 3)
    decoder = torch.nn.TransformerDecoder(torch.nn.TransformerDecoderLayer(64, 8, 128), 3)
    assert parameters(net({"transformer": 3, **fields})) == count(encoder)
    assert parameters(net({"transformer": 3, **fields, "memory": "input"})) == count(decoder)


def test_a_memory_has_a_width_and_a_length_of_its_own() -> None:
    model = net({"linear": 24, "name": "wide"}, {"parameter": "5 × 16"}, {"attention": 4, "memory": "wide"})
    (attention,) = (row for row in model.params().rows if row.path == "attention_1")
    assert attention.total == 2 * (16 * 16 + 16) + 2 * (24 * 16 + 16)
    shapes = {row.path: row.shape for row in model.shapes().rows}
    assert shapes["attention_1.out"] == (1, 5, 16)
    assert (1, 4, 5, 20) in shapes.values()


def test_a_product_of_two_tensors_has_the_flops_of_bmm() -> None:
    """q·kᵀ of 20 positions, and the sum of values that it weighs."""
    one = {"linear": 64, "bias": False}
    scores = {"matmul": [[one], [one]], "transpose": "second", "scaled": True}
    work = net({"norm": "layer", "name": "x"}, scores, "softmax", {"matmul": ["input", ["x", one]]}).flops()
    linears, products = 3 * (2 * 20 * 64 * 64), 2 * (2 * 20 * 64 * 20)
    assert work.amounts.forward == linears + products
    assert work.kinds["matrix products"].forward == products


def test_given_tensors_are_maps_where_they_are_joined_with_maps() -> None:
    points = turned(3, {"linear": 64, "act": "relu"})
    model = net(points, sample="3 × seq")
    assert parameters(model) == (3 * 64 + 64) + (64 * 9 + 9)
    assert {row.path: row.shape for row in model.shapes().rows}["matmul_1"] == (1, 20, 3)
    assert parameters(net({"residual": [{"parameter": "20 × 64"}]})) == 20 * 64


def test_multiplied_in_turn_each_product_is_kept() -> None:
    """x·y is saved for the gradient of z, besides x, y, z and what the convolutions read."""
    pytest.importorskip("torch")
    conv = [{"conv": 4, "kernel": 1}]
    assert net({"multiply": [conv, conv, conv]}, sample="3 × 10").verify(batch=2).ok


@pytest.mark.parametrize(
    "model",
    [
        detector(),
        net(turned(3, {"conv": 16, "kernel": 1, "norm": "batch", "act": "relu"}), {"linear": 5}, sample="3 × seq"),
        net(
            {"attention": 8, "causal": True, "window": 4, "position": "rope", "dropout": 0.1},
            {"transformer": 2, "heads": 2, "ffn": 8},
        ),
        net({"matmul": ["input", "input"], "transpose": "first"}, {"matmul": ["input", [{"parameter": "64 × 9"}]]}),
    ],
    ids=["detector", "points", "blocks", "products"],
)
def test_all_of_them_equal_pytorch(model: archcalc.Model) -> None:
    pytest.importorskip("torch")
    assert model.verify(batch=2).ok


@pytest.mark.parametrize(
    "layers,fact",
    [
        ([{"attention": 7}], "d_model 64 does not divide into 7 heads"),
        ([{"attention": 8, "memory": "encoded"}], "no earlier layer called 'encoded'"),
        ([{"attention": 8, "memory": "input", "causal": True}], "cross-attention sees all of its memory"),
        ([{"attention": 8, "memory": "input", "window": 3}], "cross-attention has no window"),
        ([{"transformer": 2, "heads": 8}], "ffn is missing"),
        ([{"transformer": 2, "heads": 8, "ffn": {"act": "relu"}}], "width is missing"),
        ([{"transformer": 2, "heads": 8, "ffn": 9, "position": "sinusoidal"}], "do not act in attention"),
        ([{"matmul": ["input", "input"]}], "a matrix of 20 × 64 cannot be multiplied with one of 20 × 64"),
        ([{"matmul": ["input", "input", "input"]}], "a product has two factors"),
        ([{"matmul": ["input", [{"parameter": 64}]]}], "matmul multiplies matrices, and 64 is none"),
        ([{"add": ["input", [{"constant": [20, 64], "value": "identity"}]]}], "no identity has the sizes 20 × 64"),
        ([{"parameter": [20, 64], "value": "ones"}], "a parameter is learned"),
        (["map", {"attention": 8}], "attention reads a sequence, and a map of 64 × 20 comes in"),
    ],
)
def test_mistakes_are_named_at_their_layer(layers: list[Any], fact: str) -> None:
    with pytest.raises(InputError) as error:
        net(*layers)
    assert fact in str(error.value)
    assert error.value.fields[0][:1] == ("layers",)


def test_a_small_twin_keeps_the_sizes_that_layers_share() -> None:
    pytest.importorskip("torch")
    assert detector().verify(batch=1, scale_down=True).ok
