"""Diagrams are graphs of the trace: who reads what whom makes, and every parameter in one box."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.drawn_nets import chain, residual_net, u_net

from archcalc import load
from archcalc.analyze.diagram.graph import Form, Graph, Node, PartKind
from archcalc.analyze.diagram.report import graph
from archcalc.analyze.diagram.sketch import sketch
from archcalc.analyze.diagram.tidy import closed
from archcalc.core.ir import Module
from archcalc.core.tree import ops_in


def drawn(model: str, depth: int | None = None) -> Graph:
    return load(model).diagram(depth=depth).graph


def of(module: Module, depth: int | None = None) -> Graph:
    return closed(graph(sketch(module)), depth)


def node(found: Graph, key: str) -> Node:
    return next(each for each in found.root.walk() if each.key == key)


def read_by(found: Graph, key: str) -> set[str]:
    return {edge.source.key for edge in found.edges if edge.target.key == key}


def test_the_textbook_decoder_looks_at_the_last_layer_of_the_encoder() -> None:
    found = drawn("textbook")
    assert read_by(found, "decoder.blocks.cross") == {"encoder.blocks.ffn_norm", "decoder.blocks.attention_norm"}


def test_a_residual_is_an_edge_around_the_branch() -> None:
    """The sum and the normalisation that alone reads it are one box, as in the paper's figure."""
    found = drawn("textbook")
    before = "source_embedding.positions"
    assert read_by(found, "encoder.blocks.attention") == {before}
    assert read_by(found, "encoder.blocks.attention_norm") == {before, "encoder.blocks.attention"}
    assert node(found, "encoder.blocks.attention_norm").title == "Add & Norm"


def test_a_sum_that_others_read_too_is_a_sign_of_its_own() -> None:
    signs = [each for each in drawn("gpt2").root.leaves() if each.form == Form.SIGN]
    assert [each.title for each in signs] == ["+", "+"]


@pytest.mark.parametrize("depth", [None, 1, 2, 4, 9])
@pytest.mark.parametrize(
    "model",
    [
        "textbook",
        "mixtral-8x7b",
        "deepseek-v3",
        "gpt-oss-20b",
        "densenet-121",
        "resnet-50",
        "rnnsearch",
        "bart-base",
        "mamba-130m",
        "t5-small",
    ],
)
def test_the_parameters_of_all_boxes_are_those_of_the_model(model: str, depth: int | None) -> None:
    """At every depth: tied weights once, experts and repeated blocks times their number, nothing left out."""
    found = drawn(model, depth)
    assert sum(each.total for each in found.root.leaves()) == load(model).params().total


@pytest.mark.parametrize("model", ["textbook", "mixtral-8x7b", "jamba-v0.1"])
def test_a_frame_counts_what_is_in_it(model: str) -> None:
    frames = [each for each in drawn(model, 9).root.walk() if each.children]
    for frame in frames:
        assert sum(child.total for child in frame.children) == frame.total, frame.key


def test_a_closed_module_stands_for_all_that_is_in_it() -> None:
    found = drawn("textbook", 1)
    titles = ["source embedding", "encoder", "target embedding", "decoder", "head"]
    assert [each.title for each in found.root.children if each.form == Form.BOX] == titles
    assert (node(found, "encoder").repeat, node(found, "encoder").parameters) == (12, 4_203_264)
    assert {(edge.source.key, edge.target.key) for edge in found.edges} >= {("encoder", "decoder"), ("decoder", "head")}


def test_a_single_layer_is_one_box_unless_a_depth_is_asked_for() -> None:
    """Pooling and the matrix of a head are told together; with a depth they are two."""
    assert node(drawn("vit-b-16"), "head").form == Form.BOX
    assert [each.title for each in node(drawn("vit-b-16", 3), "head").children] == ["pooled", "linear"]


@pytest.mark.parametrize(
    ("model", "key", "told"),
    [
        ("textbook", "encoder.blocks.attention", "4 heads × 192"),
        ("textbook", "encoder.blocks.ffn", "1,024 → 512 → 1,024, ReLU"),
        ("textbook", "encoder.blocks.ffn_norm", "layer norm of the sum"),
        ("textbook", "head", "1,024 → 30,000"),
        ("llama-3-8b", "decoder.blocks.attention", "32 heads × 128, 8 KV heads"),
        ("falcon-7b", "decoder.blocks.attention", "71 heads × 64, 1 KV head"),
        ("deepseek-v3", "decoder.attention-ffn.attention", "128 heads × 192, latent KV of 512 + 64"),
        ("vit-b-16", "head", "the class token, 768 → 1,000"),
        ("vit-b-16", "embedding.projection", "16 × 16, 3 → 768"),
        ("whisper-tiny", "source_embedding.conv_1", "kernel 3, 80 → 384"),
        ("convnext-t", "convnext_1.branch.conv_1", "7 × 7, 96 → 96, 96 groups, layer norm"),
        ("mixtral-8x7b", "decoder.blocks.moe.experts", "4,096 → 14,336 → 4,096, SiLU"),
    ],
)
def test_a_box_tells_what_is_in_it(model: str, key: str, told: str) -> None:
    assert node(drawn(model), key).detail == told


def test_experts_are_copies_behind_a_router() -> None:
    """The picture opens a mixture by itself: router, and 8 experts of which a token visits 2."""
    found = drawn("mixtral-8x7b")
    router, experts = (node(found, f"decoder.blocks.moe.{name}") for name in ("router", "experts"))
    assert router.detail == "2 of 8 experts"
    assert (experts.repeat, experts.parameters) == (8, 3 * 4096 * 14336)
    assert read_by(found, experts.key) == {"decoder.blocks.moe_norm", router.key}


def test_a_recurrent_layer_keeps_its_state() -> None:
    """Closed it says so; opened, the state of the step before enters, and is handed on along a dashed edge."""
    assert node(drawn("luong"), "decoder.step.layer_2").keeps == ("h", "c")
    found = drawn("sentiment-lstm", 9)
    state = next(each for each in found.root.leaves() if each.title == "c⟨t−1⟩")
    assert [edge.feedback for edge in found.edges if edge.target is state] == [True]
    assert node(drawn("sentiment-lstm"), "layer_1.direction").calls == 100


def test_tied_weights_are_told_by_the_box_that_reads_them() -> None:
    head = node(drawn("gpt2"), "head")
    assert (head.parameters, head.reads_weights_of) == (0, "embedding.tokens")


def test_what_leads_nowhere_is_not_drawn() -> None:
    """A classifier reads the last states alone; the stacked ones that nn.LSTM gives too are read by nothing."""
    assert not [each for each in drawn("sentiment-lstm", 9).root.leaves() if each.title == "hidden state"]


def test_inputs_stand_outside_and_outputs_at_the_end() -> None:
    found = drawn("vit-b-16")
    inputs = [each for each in found.root.walk() if each.form == Form.INPUT]
    outputs = [edge.tensor.shape for edge in found.edges if edge.target.form == Form.OUTPUT]
    assert [(each.title, each.parent) for each in inputs] == [("image", found.root)]
    assert outputs == [(1, 1000)]


@pytest.mark.parametrize("model", ["textbook", "min-char-rnn", "word2vec-google-news", "word2vec-cbow", "whisper-tiny"])
def test_whatever_enters_a_model_is_read(model: str) -> None:
    """By the very tensor that was recorded: else the picture would lack its input."""
    ops = list(ops_in(load(model).build()))
    read = {tensor.storage for op in ops for tensor in op.inputs}
    assert [op.name for op in ops if op.traits.enters and op.output not in read] == []


def test_the_kind_of_a_part_follows_from_what_is_declared_not_from_its_name() -> None:
    found = of(residual_net(), 1)
    assert node(found, "z").kind == PartKind.CONVOLUTION
    kinds = {each.kind for each in drawn("textbook").root.leaves()}
    assert {PartKind.EMBEDDING, PartKind.ATTENTION, PartKind.FEED_FORWARD, PartKind.NORM, PartKind.HEAD} <= kinds
    assert node(drawn("rnnsearch"), "decoder.step.layer_1").kind == PartKind.RECURRENT
    assert node(drawn("rnnsearch"), "decoder.step.attention").kind == PartKind.ATTENTION
    assert node(drawn("textbook", 1), "decoder").kind == PartKind.STACK


def test_long_skips_are_edges_across() -> None:
    found = of(u_net(2))
    assert read_by(found, "e0") == {"d0", "a0"}
    assert read_by(found, "e1") == {"d1", "a1"}


def test_a_chain_is_a_chain() -> None:
    found = of(chain(4))
    assert [(edge.source.key.split()[-1], edge.target.key.split()[0]) for edge in found.edges] == [
        ("image", "l0"),
        *((f"l{index}", f"l{index + 1}") for index in range(3)),
        ("l3", "#output"),
    ]


def test_the_record_names_every_node_and_edge() -> None:
    record = load("gpt2").diagram(depth=2).record()
    ids = [each["id"] for each in record["nodes"]]
    assert len(set(ids)) == len(ids)
    assert {end for edge in record["edges"] for end in (edge["from"], edge["to"])} <= set(ids)
    assert {each["inside"] for each in record["nodes"]} <= {None, *ids}
    assert record["parameters"] == 124_439_808
    assert record["edges"][-1]["shape"] == [1, 1024, 50257]


def test_layers_that_share_weights_are_a_stack_and_no_recurrence() -> None:
    encoder = node(drawn("albert-base-v2"), "encoder")
    assert (encoder.calls, encoder.is_step, encoder.repeat) == (12, False, 1)
    assert not [each for each in encoder.walk() if each.form == Form.STATE]


def test_several_outputs_have_the_names_of_their_modules() -> None:
    """What a loss compares them with is none of them."""
    outputs = [each.title for each in drawn("recursive-autoencoder").root.children if each.form == Form.OUTPUT]
    assert outputs == ["reconstruction", "output"]


NET = """
family: network
input: 3 × 64 × 64
layers:
  - {conv: 8, kernel: 7, stride: 2, padding: 3, norm: batch, act: relu}
  - {pool: max, kernel: 3, stride: 2, padding: 1}
  - {transposed_conv: 4, kernel: 2, stride: 2}
  - {pool: average, to: 1}
  - flatten
  - {linear: 10}
"""


def test_layers_of_a_network_tell_how_they_move_over_a_map(tmp_path: Path) -> None:
    spec = tmp_path / "net.yaml"
    spec.write_text(NET, encoding="utf-8")
    boxes = [each for each in drawn(str(spec)).root.children if each.form == Form.BOX]
    assert [(each.kind, each.detail) for each in boxes] == [
        (PartKind.CONVOLUTION, "7 × 7, 3 → 8, stride 2, batch norm, ReLU"),
        (PartKind.POOLING, "max, 3 × 3, stride 2"),
        (PartKind.CONVOLUTION, "2 × 2, 8 → 4, 2 × larger"),
        (PartKind.POOLING, "over the whole map"),
        (PartKind.HEAD, "4 → 10"),
    ]
