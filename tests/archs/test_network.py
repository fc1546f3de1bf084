"""Networks written layer by layer: sizes, their working, receptive fields, and what is wrong in a spec."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.core.errors import InputError
from archcalc.core.windows import Bins, Spread, Window


def net(*layers: Any, sample: Any = "3 × 32 × 32", **fields: Any) -> archcalc.Model:
    return archcalc.load({"family": "network", "input": sample, "layers": list(layers), **fields})


def out(model: archcalc.Model) -> tuple[int, ...]:
    """The shape of the last row, without the batch."""
    return tuple(model.shapes().rows[-1].shape[1:])


def test_the_working_of_an_output_size() -> None:
    window = Window(224, kernel=7, stride=2, before=3, after=3)
    assert window.worked == "⌊(224 + 2·3 − 7)/2⌋ + 1 = 112"
    assert Spread(7, kernel=4, stride=2, padding=1).worked == "(7 − 1)·2 − 2·1 + 4 = 14"
    assert Window(10, kernel=3, dilation=2).worked == "⌊(10 + 2·0 − 2·(3 − 1) − 1)/1⌋ + 1 = 6"


@pytest.mark.parametrize("size", range(5, 20))
@pytest.mark.parametrize("kernel", [1, 2, 3, 5])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_output_sizes_are_pytorchs(size: int, kernel: int, stride: int) -> None:
    """Of convolutions, of pooling that rounds up, of transposed convolutions."""
    functional = pytest.importorskip("torch.nn.functional")
    torch = pytest.importorskip("torch")
    x, padding = torch.zeros(1, 1, size), kernel // 2
    weight = torch.zeros(1, 1, kernel)
    ends = (padding, padding)
    assert Window(size, kernel, stride, *ends).places == functional.conv1d(x, weight, None, stride, padding).shape[2]
    pooled = functional.max_pool1d(x, kernel, stride, padding, ceil_mode=True)
    assert Window(size, kernel, stride, *ends, ceil=True).places == pooled.shape[2]
    spread = functional.conv_transpose1d(x, weight, None, stride, padding)
    assert Spread(size, kernel, stride, padding).places == spread.shape[2]


def test_same_padding_gives_as_many_places_as_the_stride_leaves() -> None:
    assert out(net({"conv": 8, "kernel": 4, "stride": 2, "padding": "same"}, sample=[3, 33, 20])) == (8, 17, 10)


@pytest.mark.parametrize("preset,last,expected", [("vgg-16", "pool_5", 212), ("resnet-18", "basic_7", 435)])
def test_receptive_fields_as_published(preset: str, last: str, expected: int) -> None:
    """Araujo, Norris and Sim 2019, Computing receptive fields of convolutional neural networks, table 1."""
    rows = {row.path: row.window.receptive_field for row in archcalc.load(preset).shapes().rows}
    assert rows[last] == (expected, expected)


def test_a_receptive_field_is_what_a_gradient_reaches() -> None:
    """The input places that the middle of the output depends on, in a real network with weights of one."""
    torch = pytest.importorskip("torch")
    layers = [{"conv": 1, "kernel": 3}, {"pool": "average", "kernel": 2}, {"conv": 1, "kernel": 3, "dilation": 2}]
    model = net(*layers, {"transposed_conv": 1, "kernel": 2, "stride": 2}, sample=[1, 40, 40])
    x = torch.ones(1, 1, 40, 40, requires_grad=True)
    y = torch.nn.functional.avg_pool2d(torch.nn.functional.conv2d(x, torch.ones(1, 1, 3, 3)), 2)
    y = torch.nn.functional.conv2d(y, torch.ones(1, 1, 3, 3), dilation=2)
    y = torch.nn.functional.conv_transpose2d(y, torch.ones(1, 1, 2, 2), stride=2)
    y[0, 0, 14, 14].backward()
    rows, columns = x.grad[0, 0].nonzero().T
    reached = (int(rows.max() - rows.min()) + 1, int(columns.max() - columns.min()) + 1)
    assert model.shapes().rows[-1].window.receptive_field == reached


def test_equal_layers_behind_a_map_leave_its_receptive_field() -> None:
    """The first convolution sees 3 places, however many of the same kind read it; a later skip from it too."""
    equal = {"conv": 8, "kernel": 3, "padding": 1}
    skip = {"add": ["first", [{"conv": 8, "kernel": 1}]]}
    rows = net({**equal, "name": "first"}, {**equal, "repeat": 4}, {"concat": ["first", "first"]}, skip).shapes().rows
    seen = {row.path: row.window.receptive_field for row in rows}
    assert [seen[path] for path in ("first", "conv_1", "concat_1", "add_1")] == [(3, 3), (11, 11), (3, 3), (3, 3)]


def test_a_generator_sees_no_more_than_its_single_place() -> None:
    rows = archcalc.load("dcgan-generator").shapes().rows
    assert {row.window.receptive_field for row in rows if row.window.worked} == {(1, 1)}


def test_adaptive_bins_cover_the_side() -> None:
    assert (Bins(7, 3).reach, Bins(8, 2).reach) == (3, 4)


def test_parameters_of_a_block_and_sizes_that_are_worked_out() -> None:
    block = {"parameters": {"width": "required", "half": "width // 2"}, "layers": [{"conv": "half", "kernel": 1}] * 2}
    model = net({"block": "narrow", "width": 10}, blocks={"narrow": block})
    assert model.params().total == (3 * 5 + 5) + (5 * 5 + 5)


def test_running_statistics_are_buffers() -> None:
    model = net({"conv": 8, "kernel": 1, "norm": "batch"})
    assert model.params().buffers == 2 * 8 + 1


@pytest.mark.parametrize(
    "layers,fact",
    [
        ([{"linear": 10}], "a linear layer reads vectors, and a map of 3 × 32 × 32 comes in"),
        ([{"conv": 8, "kernel": 40}], "the window does not fit: ⌊(32 + 2·0 − 40)/1⌋ + 1 = -7"),
        ([{"conv": 8, "kernel": 3, "groups": 2}], "2 groups, but 3 channels come in"),
        ([{"conv": 8}], "kernel is missing"),
        ([{"residual": [{"conv": 8, "kernel": 1}]}], "3 × 32 × 32 comes in and 8 × 32 × 32 comes out"),
        ([{"concat": ["input", "skip"]}], "no earlier layer called 'skip'"),
        ([{"subtract": ["input", "input", "input"]}], "a difference has two branches"),
        ([{"conv": "2 * widht", "kernel": 1}], "there is no 'widht' here"),
        ([{"conv": 8, "kernel": [3, 3, 3]}], "3 sizes for a map with 2 sides"),
        ([{"pool": "max"}], "pooling needs a kernel"),
        ([{"pixel_shuffle": 2, "mode": "linear"}], "pixel_shuffle has no mode"),
        (["reluu"], "no layer called 'reluu'"),
        ([{"block": "stem"}], "no block called 'stem'"),
        ([{"reshape": "2 × 2"}], "3 × 32 × 32 has 3,072 numbers, 2 × 2 has 4"),
    ],
)
def test_mistakes_are_named(layers: list[Any], fact: str) -> None:
    with pytest.raises(InputError) as error:
        net(*layers)
    assert fact in str(error.value)


def test_all_layers_that_cannot_be_read_are_named_at_once() -> None:
    with pytest.raises(InputError) as error:
        net({"conv": 8, "kernl": 3}, {"conv2d": 8}, "reluu", {"linear": 10})
    assert len(error.value.each()) == 3


@pytest.mark.filterwarnings("ignore:Using padding='same'")  # which copies the input for even kernels
@pytest.mark.parametrize("kernel,dilation", [(3, 1), (4, 1), (3, 2), (2, 3), (1, 1)])
def test_same_padding_is_pytorchs(kernel: int, dilation: int) -> None:
    torch = pytest.importorskip("torch")
    from archcalc.archs.network.values import same_padding
    from archcalc.reference.maps import same_zeros

    x, weight = torch.rand(1, 1, 11), torch.rand(1, 1, kernel)
    expected = torch.nn.functional.conv1d(x, weight, padding="same", dilation=dilation)
    for zeros in (same_padding(11, kernel, 1, dilation), same_zeros(11, kernel, 1, dilation)):
        padded = torch.nn.functional.pad(x, list(zeros))
        assert torch.allclose(torch.nn.functional.conv1d(padded, weight, dilation=dilation), expected)


def test_filters_that_are_not_shared_have_the_parameters_of_keras() -> None:
    """LocallyConnected2D: a kernel (places, 3 · 3 · channels, filters) and a bias for each place and filter."""
    model = net({"conv": 32, "kernel": 3, "shared": False}, sample="1 × 28 × 28")
    places = (28 - 3 + 1) ** 2
    assert model.params().total == places * 3 * 3 * 1 * 32 + places * 32
    shared = net({"conv": 32, "kernel": 3}, sample="1 × 28 × 28")
    assert model.flops().amounts.forward == shared.flops().amounts.forward


def test_filters_that_are_not_shared_equal_pytorch() -> None:
    pytest.importorskip("torch")
    local = {"conv": 5, "kernel": [3, 1], "shared": False, "padding": "same", "norm": "batch"}
    assert net({**local, "act": "relu"}, {**local, "stride": 2, "bias": False}, sample="3 × 9 × 8").verify(batch=2).ok
    with pytest.raises(InputError, match="filters that are not shared have no dilation"):
        net({**local, "dilation": 2})
