"""The layout of diagrams: no box over another, no line through a box, no text wider than its box."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from support.drawn_nets import chain, residual_net, three_towers, u_net

from archcalc import load
from archcalc.analyze.diagram.graph import Form, Node
from archcalc.analyze.diagram.report import graph
from archcalc.analyze.diagram.sketch import sketch
from archcalc.analyze.diagram.tidy import closed
from archcalc.core.ir import Module
from archcalc.render.diagram.area import Area, Box, Label
from archcalc.render.diagram.arrangement import arranged
from archcalc.render.diagram.layout import layout
from archcalc.render.diagram.sizes import texts
from archcalc.spec.paths import presets

Rectangle = tuple[float, float, float, float]
EDGE = 0.6  # pixels that boxes may share


def preset(name: str, depth: int | None = None) -> Area:
    report = load(name).diagram(depth=depth)
    return layout(report.graph, report.label)


def traced(module: Module, depth: int | None = None) -> Area:
    return layout(closed(graph(sketch(module)), depth), lambda wire: "×".join(map(str, wire.tensor.shape)))


def of_box(box: Box) -> Rectangle:
    return box.x, box.y, box.x + box.width, box.y + box.height


def of_label(label: Label) -> Rectangle:
    return label.x, label.y - 5, label.x + label.width, label.y + 5


def meet(one: Rectangle, two: Rectangle) -> bool:
    across = min(one[2], two[2]) - max(one[0], two[0])
    return across > EDGE and min(one[3], two[3]) - max(one[1], two[1]) > EDGE


def faults(area: Area) -> list[str]:
    return [*_boxes(area), *_texts(area), *_labels(area), *_lines(area)]


def _boxes(area: Area) -> Iterator[str]:
    whole = (0.0, 0.0, area.width, area.height)
    for box in area.boxes:
        if not _holds(whole, of_box(box)):
            yield f"{box.node.key} leaves the page"
    for one, two in combinations(area.boxes, 2):
        if one.node in two.node.above:
            if not _holds(of_box(one), of_box(two)):
                yield f"{two.node.key} leaves {one.node.key}"
        elif meet(of_box(one), of_box(two)):
            yield f"{one.node.key} and {two.node.key} overlap"


def _holds(outer: Rectangle, inner: Rectangle) -> bool:
    starts = outer[0] <= inner[0] + EDGE and outer[1] <= inner[1] + EDGE
    return starts and outer[2] >= inner[2] - EDGE and outer[3] >= inner[3] - EDGE


def _leaves(area: Area) -> list[Box]:
    return [box for box in area.boxes if box.node.form != Form.FRAME]


def _texts(area: Area) -> Iterator[str]:
    for box in _leaves(area):
        yield from (f"{box.node.key}: {line.text}" for line in texts(box.node) if line.width > box.width - 4)


def _labels(area: Area) -> Iterator[str]:
    for one, two in combinations(area.labels, 2):
        if meet(of_label(one), of_label(two)):
            yield f"labels {one.text} and {two.text} overlap"
    for label in area.labels:
        yield from (f"{label.text} over {box.node.key}" for box in _leaves(area) if meet(of_label(label), of_box(box)))


def _lines(area: Area) -> Iterator[str]:
    """Pieces of lines as rectangles that are a pixel wide."""
    for line in area.lines:
        for (x0, y0), (x1, y1) in pairwise(line.points):
            if abs(x0 - x1) > 0.1 and abs(y0 - y1) > 0.1:
                yield f"slanted: {line.points}"
            piece = (min(x0, x1) - 0.5, min(y0, y1) - 0.5, max(x0, x1) + 0.5, max(y0, y1) + 0.5)
            yield from (f"line through {box.node.key}" for box in _leaves(area) if meet(piece, of_box(box)))
            yield from (f"line through {label.text}" for label in area.labels if meet(piece, of_label(label)))


def place(area: Area, key: str) -> Box:
    return next(box for box in area.boxes if box.node.key == key)


@pytest.mark.parametrize("name", sorted(presets())[::5])
def test_a_preset_is_laid_out_without_faults(name: str) -> None:
    assert faults(preset(name)) == []


@pytest.mark.parametrize("name", ["llama-3-8b", "deepseek-v3", "resnet-50", "textbook", "unet", "rnnsearch"])
@pytest.mark.parametrize("landscape", [False, True])
def test_a_sheet_with_its_insets_has_no_faults(name: str, *, landscape: bool) -> None:
    assert faults(arranged(load(name).diagram(landscape=landscape))) == []


def test_landscape_has_about_the_shape_of_a_slide() -> None:
    """A sheet of a long decoder is higher than wide, and for slides its blocks are cut into columns."""
    high, wide = (arranged(load("llama-3-8b").diagram(landscape=landscape)) for landscape in (False, True))
    assert high.width / high.height < 1
    assert 4 / 3 < wide.width / wide.height < 2
    assert {box.node.key for box in high.boxes} == {box.node.key for box in wide.boxes}


@pytest.mark.parametrize("depth", [1, 2, 4, 9])
@pytest.mark.parametrize(
    "name", ["textbook", "luong", "deepseek-v3", "mamba-130m", "resnet-50", "unet", "sentiment-lstm"]
)
def test_every_depth_is_laid_out_without_faults(name: str, depth: int) -> None:
    assert faults(preset(name, depth)) == []


@pytest.mark.parametrize(
    "module",
    [
        u_net(),
        u_net(4),
        u_net(around="inside"),
        residual_net(),
        residual_net(projected=True),
        chain(3),
        chain(60),
        three_towers(),
    ],
    ids=[
        "u-net",
        "deep u-net",
        "u-net in a frame",
        "residuals",
        "projected residuals",
        "chain",
        "long chain",
        "towers",
    ],
)
@pytest.mark.parametrize("depth", [1, 2, None])
def test_a_hand_made_net_is_laid_out_without_faults(module: Module, depth: int | None) -> None:
    assert faults(traced(module, depth)) == []


def test_encoder_and_decoder_stand_side_by_side() -> None:
    area = preset("textbook")
    encoder, decoder = place(area, "encoder"), place(area, "decoder")
    assert encoder.x + encoder.width < decoder.x
    assert abs(encoder.y - decoder.y) < 1


def test_a_u_net_goes_down_at_the_left_and_up_at_the_right() -> None:
    """What is joined stands at one height, and the way up at the other side."""
    area = traced(u_net())
    down, up = [place(area, f"a{level}") for level in range(3)], [place(area, f"f{level}") for level in range(3)]
    assert all(one.x + one.width < two.x for one, two in zip(down, up, strict=True))
    assert down[0].y < down[1].y < down[2].y
    assert up[0].y < up[1].y < up[2].y
    for level in range(3):
        across = [
            line for line in area.lines if len(line.points) >= 2 and line.arrow and _ends_at(line.points, area, level)
        ]
        assert across


def _ends_at(points: tuple[tuple[float, float], ...], area: Area, level: int) -> bool:
    """Whether a line comes straight from the left into the join of a level."""
    box = place(area, f"e{level}")
    (_, y0), (x1, y1) = points[-2:]
    return abs(x1 - box.x) < 1 and box.y < y1 < box.y + box.height and abs(y0 - y1) < 0.1


def test_the_preset_of_a_u_net_is_folded_too() -> None:
    area = preset("unet", 1)
    down, up = place(area, "down_1"), place(area, "twice_5")
    assert down.x + down.width < up.x
    assert abs(down.y - up.y) < down.height + up.height


def test_a_residual_runs_beside_the_block() -> None:
    """From the top of the block to the circle's side, without touching what it goes around."""
    area = traced(residual_net())
    sign = next(box for box in area.boxes if box.node.form == Form.SIGN)
    right = sign.x + sign.width
    assert [line for line in area.lines if line.arrow and abs(line.points[-1][0] - right) < 1]


def test_a_long_chain_is_cut_into_columns() -> None:
    area = traced(chain(60))
    assert area.height < 2 * area.width
    assert len({round(box.x) for box in area.boxes}) > 3


def test_layout_is_the_same_every_time() -> None:
    first, second = preset("deepseek-v3"), preset("deepseek-v3")
    assert [(box.node.key, box.x, box.y) for box in first.boxes] == [
        (box.node.key, box.x, box.y) for box in second.boxes
    ]


def test_faults_are_found() -> None:
    """Else the tests above would pass everything."""
    area = traced(chain(3))
    moved = [replace(box, y=box.y - 70) if box.node.key == "l1" else box for box in area.boxes]
    area.boxes = moved
    assert any("overlap" in fault for fault in faults(area))
    assert any("line through" in fault for fault in faults(area))
    node: Node = moved[1].node
    node.detail = "a text that is far wider than its box ever was before"
    assert any(node.detail[:9] in fault for fault in faults(area))
