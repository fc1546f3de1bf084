"""Receptive fields against the places of the input that outputs of a PyTorch network depend on."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import archcalc
from archcalc.core.errors import InputError

LENGTH = 240
Layer = dict[str, Any]


def net(*layers: Any, sample: Any = (1, LENGTH)) -> archcalc.Model:
    return archcalc.load({"family": "network", "input": list(sample), "layers": list(layers), "loss": "none"})


def fields(model: archcalc.Model) -> list[tuple[int, int]]:
    """The smallest and the largest of the last row, along each side."""
    window = model.shapes().rows[-1].window
    return list(zip(window.smallest_field, window.receptive_field, strict=True))


def reached(model: archcalc.Model, length: int = LENGTH) -> list[tuple[int, int] | None]:
    """For each place of the output the first and the last place that it depends on.

    The network has weights of one and no biases, so that one sample for each place, with a one there, shows it.
    """
    torch = pytest.importorskip("torch")
    from archcalc.verify.check import Subject

    built = Subject(model, model.workload()).built(device="cpu", dtype="fp64")
    for name, parameter in built.named_parameters():
        torch.nn.init.constant_(parameter, 0.0 if name.endswith("bias") else 1.0)
    with torch.no_grad():
        (out,) = built(torch.eye(length, dtype=torch.float64).reshape(length, 1, length))
    touched = out.abs().sum(1).T > 0
    found = [row.nonzero().flatten().tolist() for row in touched]
    return [(places[0], places[-1]) if places else None for places in found]


def extents(places: list[tuple[int, int] | None]) -> list[int]:
    """Of the places in the middle, far from the ends."""
    middle = places[len(places) // 3 : -(len(places) // 3)]
    return [each[1] - each[0] + 1 if each else 0 for each in middle]


def drawn_layer(draw: Random) -> Layer:
    """One layer that keeps, shortens or lengthens a map."""
    kernel, stride, dilation = draw.randint(1, 5), draw.randint(1, 3), draw.randint(1, 3)
    padding = draw.choice([0, 1, "same", [[0, 2]]])
    return draw.choice(
        [
            {"conv": 1, "kernel": kernel, "dilation": dilation, "padding": padding},
            {"conv": 1, "kernel": kernel, "stride": stride, "padding": padding},
            {"pool": "average", "kernel": kernel, "stride": stride, "ceil": draw.random() < 0.5},
            {"transposed_conv": 1, "kernel": kernel, "stride": stride, "dilation": dilation},
            {"upsample": draw.randint(2, 3), "mode": draw.choice(["nearest", "linear"])},
            {"pad": [[draw.randint(0, 2), draw.randint(0, 2)]]},
        ]
    )


def drawn_branch(draw: Random) -> list[Layer]:
    """Layers that shorten a map and lengthen it again, or the other way round."""
    times = draw.randint(1, 3)
    up: Layer = draw.choice(
        [
            {"transposed_conv": 1, "kernel": draw.randint(1, 4), "stride": times},
            {"upsample": times, "mode": draw.choice(["nearest", "linear"])},
        ]
    )
    around: list[Layer] = [{"conv": 1, "kernel": 3, "dilation": 2}, up, {"pool": "average", "kernel": times}]
    draw.shuffle(around)
    return around if draw.random() < 0.8 else [{"conv": 1, "kernel": draw.randint(1, 3)}]


def drawn_join(draw: Random) -> Layer:
    branches = [draw.choice(["input", drawn_branch(draw)]), drawn_branch(draw)]
    return {draw.choice(["concat", "add"]): branches, "crop": True}


def drawn_network(draw: Random) -> archcalc.Model:
    """One that fits: a draw that is refused, or whose fields are not small against the input, is drawn again."""
    while True:
        layers = [drawn_join(draw) if draw.random() < 0.4 else drawn_layer(draw) for _ in range(draw.randint(2, 6))]
        try:
            model = net(*layers)
        except InputError:
            continue
        shown, places = fields(model), model.shapes().rows[-1].shape[-1]
        if shown and 1 < shown[0][1] < LENGTH // 8 and 150 < places < 1500:
            return model


@pytest.mark.parametrize("seed", range(60))
def test_drawn_networks_see_what_pytorch_reads(seed: int) -> None:
    model = drawn_network(Random(seed))
    seen = extents(reached(model))
    assert fields(model) == [(min(seen), max(seen))]


def test_every_place_of_a_map_has_its_own_extent() -> None:
    """Place by place, in a network whose neighbours see unlike extents."""
    up = {"transposed_conv": 1, "kernel": 3, "stride": 2, "dilation": 3}
    model = net({"pool": "average", "kernel": 2}, up, {"upsample": 3, "mode": "linear"}, {"conv": 1, "kernel": 3})
    root, places = model.build(), reached(model)
    walked = followed(root)
    middle = range(len(places) // 3, 2 * len(places) // 3)
    assert [walked.at(place) for place in middle] == [places[place] for place in middle]
    assert len(set(extents(places))) > 1


def test_a_pool_is_spread_again() -> None:
    """Pooled in fours and spread again: a window of 3 lies in one of these, or in two."""
    up = {"transposed_conv": 1, "kernel": 4, "stride": 4}
    model = net({"pool": "average", "kernel": 4}, up, {"conv": 1, "kernel": 3})
    assert fields(model) == [(4, 2 * 4)]
    assert set(extents(reached(model))) == {4, 2 * 4}


def test_the_range_stands_in_the_table_and_both_ends_in_the_record() -> None:
    up = {"transposed_conv": 1, "kernel": 4, "stride": 4}
    report = net({"pool": "max", "kernel": 4}, up, {"conv": 1, "kernel": 3}, sample=(1, 64, 48)).shapes()
    record = report.records()[-1]
    assert report.rows[-1].window.seen == "4–8"
    assert (record["smallest_receptive_field"], record["receptive_field"]) == ((4, 4), (8, 8))


def test_sides_that_differ_stand_apart() -> None:
    layers = [{"pool": "max", "kernel": [2, 4]}, {"upsample": 2}, {"conv": 1, "kernel": [3, 1]}]
    assert net(*layers, sample=(1, 64, 64)).shapes().rows[-1].window.seen == "4 × 4"
    layers[-1] = {"conv": 1, "kernel": [2, 1]}
    assert net(*layers, sample=(1, 64, 64)).shapes().rows[-1].window.seen == "2–4 × 4"


def test_the_u_net_as_its_gradients_reach() -> None:
    """Along one side: the preset's convolutions, of one channel, with the places of its own maps."""
    twice = [{"conv": 1, "kernel": 3}, {"conv": 1, "kernel": 3}]
    layers: list[Any] = []
    for level in range(4):
        layers += [{"layers": twice, "name": f"down_{level}"}, {"pool": "average", "kernel": 2}]
    layers += twice
    for level in reversed(range(4)):
        up = [{"transposed_conv": 1, "kernel": 2, "stride": 2}]
        layers += [{"concat": [f"down_{level}", up], "crop": True}, *twice]
    model = net(*layers, sample=(1, 572))
    seen = extents(reached(model, 572))
    assert fields(model) == [(min(seen), max(seen))]
    assert fields(archcalc.load("unet")) == fields(model) * 2


@pytest.mark.parametrize("inner", [1, 3])
def test_equal_layers_see_as_if_they_were_written_out(inner: int) -> None:
    """A layer that shortens and lengthens, with a skip, a hundred times: from the growth, and one by one."""
    body = [{"pool": "max", "kernel": 3}, {"upsample": 3}, {"conv": 1, "kernel": 3, "padding": 1, "repeat": inner}]
    one = {"residual": body}
    repeated, written = net({**one, "repeat": 100}), net(*[{"layers": [one, {"dropout": 0.5}]}] * 100)
    assert fields(repeated) == fields(written)


def test_what_weighs_all_places_shows_the_whole_map() -> None:
    """A gate from the mean over a map, as squeeze and excitation has it."""
    gate = [{"pool": "average", "to": 1}, {"conv": 1, "kernel": 1}, "sigmoid"]
    model = net({"multiply": ["input", gate]}, {"conv": 1, "kernel": 3, "padding": 1})
    assert fields(model) == [(LENGTH, LENGTH)]


def test_a_group_norm_leaves_fields_and_a_reshape_does_not() -> None:
    convs = {"conv": 8, "kernel": 3, "norm": {"kind": "group", "groups": 2}}
    assert fields(net(convs, convs)) == [(5, 5)]
    assert fields(net({"conv": 8, "kernel": 3, "padding": 1}, {"reshape": [16, LENGTH // 2]})) == []


@pytest.mark.parametrize(
    "layers",
    [
        [{"upsample": 10**6}, {"conv": 1, "kernel": 3}],
        [{"upsample": 1000}, {"conv": 1, "kernel": 3, "padding": 1, "repeat": 10_000}],
        [{"transposed_conv": 1, "kernel": 10**9, "stride": 10**9 - 1, "dilation": 10**9}],
        [{"pool": "average", "to": 10**15}],
        [{"add": [[{"conv": 1, "kernel": 3}], [{"conv": 1, "kernel": 4, "stride": 2}]], "crop": True}],
    ],
)
def test_what_takes_too_long_is_not_stated(layers: list[Layer]) -> None:
    report = net(*layers).shapes()
    assert report.rows[-1].window.seen == "not stated"
    assert any("receptive field is not stated" in str(each) for each in report.assumptions)


def test_long_strides_and_kernels_take_no_longer() -> None:
    far = {"conv": 1, "kernel": 10**9, "stride": 10**9, "padding": 10**12, "dilation": 10**3}
    assert fields(net(far)) == [(10**3 * (10**9 - 1) + 1,) * 2]


def followed(root: Any) -> Any:
    """The field of the last map, along its side."""
    from archcalc.analyze.receptive_field import Walk
    from archcalc.core.tree import given_out

    walked = Walk()
    walked.follow(root)
    last = given_out(root.children[-1])
    found: Any = walked.of(last) if last else ()
    return found[0]
