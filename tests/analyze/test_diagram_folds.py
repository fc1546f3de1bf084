"""Folds of diagrams: what repeats in other sizes is drawn once and says what it stands for; insets open one part."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.drawn_nets import chain, u_net

from archcalc import load
from archcalc.analyze.diagram.fold import GLANCE, folded
from archcalc.analyze.diagram.graph import Form, Graph, Node, PartKind
from archcalc.analyze.diagram.report import graph
from archcalc.analyze.diagram.sketch import sketch
from archcalc.analyze.diagram.tidy import closed
from archcalc.core.ir import Module
from archcalc.render.diagram.sizes import badge, count, details


def drawn(model: str, *, fold: bool = True) -> Graph:
    return load(model).diagram(fold=fold).graph


def of(module: Module) -> Graph:
    return folded(closed(graph(sketch(module)), None))


def boxes(found: Graph) -> list[Node]:
    return list(found.root.leaves())


def named(found: Graph, name: str) -> Node:
    return next(node for node in found.root.walk() if node.name == name)


@pytest.mark.parametrize("model", ["densenet-121", "resnet-50", "resnet-18", "efficientnet-b0", "mobilenet-v2"])
def test_a_network_of_stages_is_read_at_a_glance(model: str) -> None:
    assert len(boxes(drawn(model))) <= GLANCE < len(boxes(drawn(model, fold=False)))
    assert sum(node.total for node in boxes(drawn(model))) == load(model).params().total


def test_densenet_is_three_dense_blocks_with_transitions_and_a_fourth() -> None:
    """6 + 12 + 24 + 16 layers, of which each reads 32 channels more than the one before."""
    found = drawn("densenet-121")
    stages = named(found, "dense 1 … transition 3")
    assert [badge(child) for child in stages.children] == ["× 6, 12, 24", ""]
    assert badge(stages) == "× 3"
    assert badge(named(found, "dense 43 … dense 58")) == "× 16"
    squeeze = next(node for node in stages.walk() if node.detail.startswith("1 × 1, 64 → 128"))
    widest = 256 + 32 * 23  # channels that the last of 24 layers reads
    assert details(squeeze) == [
        "from 1 × 1, 64 → 128, batch norm, ReLU",
        f"to 1 × 1, {widest:,} → 128, batch norm, ReLU",
    ]
    assert count(squeeze) == f"{64 * 128 + 2 * 128:,} … {widest * 128 + 2 * 128:,}"


def test_the_stages_of_resnet_are_one_with_the_depth_of_each() -> None:
    stage = named(drawn("resnet-50"), "bottleneck 1 … bottleneck 8")
    assert (badge(stage), [badge(child) for child in stage.children]) == ("× 4", ["", "× 2, 3, 5, 2"])
    assert stage.total == load("resnet-50").params().total - (64 * 3 * 49 + 2 * 64) - (2048 * 1000 + 1000)


def test_arrows_of_a_fold_tell_the_first_shape_and_the_last() -> None:
    report = load("resnet-50").diagram()
    labels = {report.label((edge.source, edge.tensor)) for edge in report.graph.edges}
    assert "1 × 256…2,048 × 56…7 × 56…7" in labels
    assert "1 × 2,048 × 7 × 7" in labels  # what leaves it is made by the last


def test_without_folds_every_layer_is_drawn() -> None:
    titles = [node.title for node in drawn("densenet-121", fold=False).root.children]
    assert sum(title.startswith("dense ") for title in titles) == 6 + 12 + 24 + 16


def test_what_is_seen_at_a_glance_is_not_folded() -> None:
    assert len(boxes(of(chain(4)))) == len(boxes(closed(graph(sketch(chain(4))), None)))


def test_a_long_chain_is_one_box_that_stands_for_all() -> None:
    layers = [node for node in boxes(of(chain(60))) if node.form == Form.BOX]
    assert [(badge(node), len(node.others)) for node in layers] == [("× 60", 59)]


def test_levels_that_are_read_from_afar_are_not_folded() -> None:
    """Each level of a U-Net goes to another place on the way up."""
    assert len(boxes(of(u_net(12)))) == len(boxes(closed(graph(sketch(u_net(12))), None)))


def test_a_fold_never_joins_layers_of_different_ops(tmp_path: Path) -> None:
    """Only sizes may differ: a ReLU is no SiLU."""
    spec = "family: network\ninput: 3 × 64 × 64\nlayers:\n"
    acts = ("relu", "silu")
    spec += "".join(f"  - {{conv: {8 + n}, kernel: 3, padding: 1, act: {acts[n % 2]}}}\n" for n in range(40))
    file = tmp_path / "net.yaml"
    file.write_text(spec, encoding="utf-8")
    (frame,) = [node for node in drawn(str(file)).root.children if node.form == Form.FRAME]
    assert (badge(frame), [node.makes[-1] for node in frame.children]) == ("× 20", ["relu", "silu"])


def test_the_record_lists_what_a_box_stands_for() -> None:
    record = load("densenet-121").diagram().record()
    dense = next(each for each in record["nodes"] if each["title"] == "dense 43 … dense 58")
    assert dense["times"] == [16]
    assert [each["title"] for each in dense["others"]] == [f"dense {number}" for number in range(44, 59)]


@pytest.mark.parametrize(
    ("model", "kinds"),
    [
        ("llama-3-8b", [PartKind.ATTENTION]),
        ("sentiment-lstm", [PartKind.RECURRENT]),
        ("rnnsearch", [PartKind.ATTENTION, PartKind.RECURRENT]),
        ("mamba-130m", [PartKind.STATE_SPACE]),
        ("resnet-50", []),
    ],
)
def test_an_inset_opens_attention_or_the_cell(model: str, kinds: list[PartKind]) -> None:
    report = load(model).diagram()
    assert [inset.root.kind for inset in report.insets] == kinds
    for inset in report.insets:
        (frame,) = inset.root.children
        inside = [node for node in inset.root.leaves() if node.form not in (Form.INPUT, Form.OUTPUT)]
        assert sum(node.total for node in inside) == frame.parameters
        assert len(inside) > 5


def test_an_inset_reads_what_the_part_reads() -> None:
    (inset,) = load("llama-3-8b").diagram().insets
    (into,) = [node for node in inset.root.leaves() if node.form == Form.INPUT]
    assert into.title == "attention norm"
    assert {edge.target.title for edge in inset.edges if edge.source is into} == {"q", "k", "v"}


def test_a_depth_that_is_asked_for_needs_no_inset() -> None:
    assert load("llama-3-8b").diagram(depth=4).insets == ()


@pytest.mark.parametrize("model", ["sentiment-lstm", "rnnsearch"])
def test_two_directions_stand_side_by_side_in_their_layer(model: str) -> None:
    """Alone or as an encoder: a frame for the layer, in it one direction × 2."""
    both = [node for node in boxes(drawn(model)) if node.is_side_by_side]
    assert both
    assert {(node.title, badge(node), bool(node.parent and node.parent.parent)) for node in both} == {
        ("direction", "× 2", True)
    }


CROPPED = """
family: network
input: 1 × 64 × 64
layers:
  - {conv: 8, kernel: 3}
  - concat:
      - [{pool: max, kernel: 2, stride: 2}, {conv: 16, kernel: 3}, {transposed_conv: 8, kernel: 2, stride: 2}]
      - input
    crop: true
  - {conv: 2, kernel: 1}
"""


def test_a_map_that_is_cut_is_seen_to_be(tmp_path: Path) -> None:
    spec = tmp_path / "net.yaml"
    spec.write_text(CROPPED, encoding="utf-8")
    report = load(str(spec)).diagram()
    (made,) = [edge.tensor.shape for edge in report.graph.edges if edge.source.title == "crop"]
    assert made == (1, 8, 58, 58)
