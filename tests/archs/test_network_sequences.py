"""Networks of sequences: what layers make of positions and features, lengths that are asked for, and mistakes."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.archs.network.layer import Shape
from archcalc.core.errors import InputError

EMBEDDED = {"embedding": 8, "vocab": 30}


def net(*layers: Any, sample: Any = "12 tokens", **fields: Any) -> archcalc.Model:
    return archcalc.load({"family": "network", "input": sample, "layers": list(layers), **fields})


def out(model: archcalc.Model, **sizes: Any) -> tuple[int, ...]:
    """The shape of the last row, without the batch."""
    return tuple(model.shapes(**sizes).rows[-1].shape[1:])


@pytest.mark.parametrize(
    ("layers", "shape"),
    [
        ([{"linear": 5}], (12, 5)),
        ([{"conv": 6, "kernel": 3, "stride": 2}], (5, 6)),
        ([{"pool": "max", "to": 1}], (1, 8)),
        (["flatten"], (12 * 8,)),
        (["transpose"], (8, 12)),
        ([{"merge": 4}], (12 // 4, 4 * 8)),
        ([{"merge": "2 × 2"}], (12 // 4, 4 * 8)),
        ([{"map": "3 × 4"}], (8, 3, 4)),
        (["map"], (8, 12)),
        ([{"lstm": 7, "layers": 2, "bidirectional": True}], (12, 2 * 7)),
        ([{"gru": 7, "give": "last"}], (7,)),
        ([{"concat": ["input", [{"linear": 3}]]}], (12, 8 + 3)),
        ([{"linear": "2 * features"}, {"linear": "positions"}], (12, 12)),
    ],
)
def test_what_comes_out(layers: list[Any], shape: tuple[int, ...]) -> None:
    assert out(net(EMBEDDED, *layers)) == shape


@pytest.mark.parametrize(
    ("along", "shape"),
    [({"sequence": "width"}, (5, 4 * 3)), ({"sequence": "height"}, (3, 4 * 5)), ("sequence", (15, 4))],
)
def test_a_map_becomes_a_sequence(along: Any, shape: tuple[int, ...]) -> None:
    assert out(net(along, sample=[4, 3, 5])) == shape


def test_a_shape_is_told_as_people_write_it() -> None:
    told = [str(one) for one in (Shape.sequence(77, 512), Shape(512, (77,)), Shape(1, (40,), is_ids=True))]
    assert told == ["77 × 512", "512 × 77", "40 tokens"]


def test_a_recurrent_layer_has_pytorchs_parameters() -> None:
    torch = pytest.importorskip("torch")
    theirs = torch.nn.LSTM(8, 16, num_layers=3, bidirectional=True, device="meta")
    ours = net({"lstm": 16, "layers": 3, "bidirectional": True, "biases": "two"}, sample="8 × seq")
    assert ours.params().total == sum(parameter.numel() for parameter in theirs.parameters())


def test_features_stand_before_or_behind_the_open_side() -> None:
    one, other = (net({"linear": 3}, sample=sample) for sample in ("80 × seq", "seq × 80"))
    assert out(one, seq=50) == out(other, seq=50) == (50, 3)


def test_the_layers_are_read_for_the_length_that_is_asked_for() -> None:
    model = net(EMBEDDED, {"conv": 6, "kernel": 3}, {"pool": "max", "kernel": 2}, {"linear": 4}, sample="40 tokens")
    assert (out(model), out(model, seq=101)) == ((19, 4), (49, 4))
    assert model.resolved.lengths["seq"].least == 4  # a window of three positions, and two of them


def test_a_length_that_weights_depend_on_is_not_chosen_by_an_option() -> None:
    """A linear layer behind flatten, a table of as many positions as there are, positions that are mixed."""
    for layers in (["flatten", {"linear": 2}], [{"position": "learned"}], ["transpose", {"linear": 2}]):
        model = net(EMBEDDED, *layers)
        with pytest.raises(InputError, match="the sequence is 12 long"):
            model.shapes(seq=13)
        other = archcalc.load({**model.document.data, "input": "13 tokens"})
        assert other.params().total > model.params().total


def test_a_position_sees_further_with_every_dilation() -> None:
    rows = net(
        *({"conv": 8, "kernel": 3, "padding": "same", "dilation": step} for step in (1, 2, 4)), sample="8 × seq"
    ).shapes(seq=64)
    assert [row.window.receptive_field for row in rows.rows[1:]] == [(3,), (3 + 4,), (3 + 4 + 8,)]


def test_training_compares_a_class_at_each_position() -> None:
    model = net(EMBEDDED, {"linear": 5})
    losses = [op for op in _ops(model.build(model.workload(batch=3))) if op.kind == "cross_entropy"]
    assert [loss.inputs[0].shape for loss in losses] == [(3, 12, 5)]


def _ops(module: Any) -> list[Any]:
    from archcalc.core.tree import ops_in

    return list(ops_in(module))


@pytest.mark.parametrize(
    ("sample", "layers", "fact"),
    [
        ("tokens", [{"linear": 3}], "linear reads numbers, and ids of tokens come in"),
        ("tokens", [{"dropout": 0.5}, EMBEDDED], "dropout reads numbers"),
        ("tokens", [{"add": ["input", "input"]}], "ids of tokens cannot be joined"),
        ("tokens", [{"layers": []}], "no layer reads the ids"),
        ("784", [EMBEDDED], "an embedding reads ids of tokens, and 784 comes in"),
        ("8 × seq", ["sequence"], "a sequence of 2048 × 8 comes in already"),
        ("8 × 5", ["flatten", "sequence"], "sequence needs a map"),
        ("8 × 5", [{"sequence": "width"}], "has no width"),
        ("8 × 5", [{"lstm": 3}], "a recurrent layer reads a sequence, and 8 × 5 comes in"),
        ("8 × 5", ["transpose"], "transpose reads a sequence"),
        ("8 × 5", ["sequence", {"merge": 2}], "5 positions cannot be merged 2 by 2"),
        ("8 × 5", ["sequence", {"map": "2 × 2"}], "5 positions, but 4 places"),
        ("8 × 5", ["sequence", {"position": "learned", "length": 3}], "5 positions, but a table of 3"),
        ("8 × 5", ["sequence", {"position": "sinusoidal", "length": 3}], "length"),
        ("8 × 5", [{"linear": 3}], "a linear layer reads vectors, and a map of 8 × 5 comes in"),
        ("8 × 5", [{"add": ["input", ["sequence"]]}], "vectors, maps or sequences"),
        ("8 × 5", ["sequence", {"lstm": 3, "layers": 1000}], "more than 100 recurrent layers"),
    ],
)
def test_mistakes_are_named(sample: str, layers: list[Any], fact: str) -> None:
    with pytest.raises(InputError, match=fact):
        net(*layers, sample=sample)


@pytest.mark.parametrize("sample", ["seq", "0 tokens", "seq × seq", "3 × seq × 4", "tokens × 3"])
def test_an_input_that_is_none_is_refused(sample: str) -> None:
    with pytest.raises(InputError, match="input: expected"):
        net(EMBEDDED, sample=sample)


def test_a_network_of_sequences_is_not_run_token_by_token() -> None:
    with pytest.raises(InputError, match="generates no tokens"):
        net(EMBEDDED, {"lstm": 4}).memory(mode="decode")


@pytest.mark.parametrize(("word", "layer"), [("embedding", "{embedding: 100, vocab: 20000}"), ("lstm", "{lstm: 256}")])
def test_a_kind_alone_is_told_what_it_needs(word: str, layer: str) -> None:
    with pytest.raises(InputError) as refused:
        net(word)
    assert refused.value.hint == f"write {layer}"
