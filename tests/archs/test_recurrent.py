"""Recurrent nets: counted against PyTorch's layers and Keras' documentation, traced beside a loop over cells."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

import archcalc
from archcalc.analyze.flops.cost import work
from archcalc.analyze.memory.activations import saved_activations
from archcalc.core.ir import walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Run, Write

LAYERS: dict[str, Any] = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}
GATES = {"lstm": 4, "gru": 3, "rnn": 1}


def spec(**changes: Any) -> dict[str, Any]:
    """Vectors of 100 into a state of 128 and no head: what nn.LSTM(100, 128) is."""
    return {"family": "recurrent", "input": 100, "cell": "lstm", "hidden": 128, "head": "none", **changes}


def total(**changes: Any) -> int:
    return int(archcalc.load(spec(**changes)).params().total)


def numel(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def tensors(model: archcalc.Model) -> Counter[tuple[str, tuple[int, ...]]]:
    """Every tensor by its last name and its shape, as often as the model holds it."""
    found: Counter[tuple[str, tuple[int, ...]]] = Counter()
    for row in model.params().rows:
        if row.kind == "tensor" and not row.tied_to:
            found[(row.path.split(".")[-1], row.shape or ())] += int(row.repeat)
    return found


def pytorch_tensors(module: nn.Module) -> Counter[tuple[str, tuple[int, ...]]]:
    """`weight_ih_l1_reverse` is one more weight_ih."""
    return Counter((name.split("_l")[0], tuple(tensor.shape)) for name, tensor in module.named_parameters())


def shapes(model: archcalc.Model, **sizes: Any) -> dict[str, tuple[int, ...]]:
    return {row.path: row.shape for row in model.shapes(**sizes).rows}


# Parameters


@pytest.mark.parametrize("cell", LAYERS)
@pytest.mark.parametrize("layers", [1, 2, 5])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("biases", ["two", "none"])
def test_pytorchs_layers_tensor_by_tensor(cell: str, layers: int, bidirectional: bool, biases: str) -> None:
    """`biases: two` is what PyTorch keeps, `none` is its bias=False: the same names, the same shapes."""
    options: Any = {"num_layers": layers, "bidirectional": bidirectional, "bias": biases == "two", "device": "meta"}
    reference = LAYERS[cell](100, 128, **options)
    model = archcalc.load(spec(cell=cell, layers=layers, bidirectional=bidirectional, biases=biases))
    assert model.params().total == numel(reference)
    assert tensors(model) == pytorch_tensors(reference)


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_projected_lstm(layers: int, bidirectional: bool) -> None:
    """proj_size narrows h, which the gates and the next layer read; weight_hr has no bias."""
    options: Any = {"num_layers": layers, "bidirectional": bidirectional, "proj_size": 32, "device": "meta"}
    reference = nn.LSTM(100, 128, **options)
    model = archcalc.load(spec(layers=layers, bidirectional=bidirectional, projection=32, biases="two"))
    named = Counter(
        {("weight_hr" if name == "weight" else name, shape): n for (name, shape), n in tensors(model).items()}
    )
    assert named == pytorch_tensors(reference)


@pytest.mark.parametrize("cell", LAYERS)
def test_one_bias_a_gate_as_on_paper(cell: str) -> None:
    """A matrix over [h; x] and one bias for each gate: PyTorch's count without its second biases."""
    reference = LAYERS[cell](100, 128, device="meta")
    second = sum(tensor.numel() for name, tensor in reference.named_parameters() if "bias_hh" in name)
    assert total(cell=cell) == GATES[cell] * ((100 + 128) * 128 + 128) == numel(reference) - second


def test_a_gate_has_its_own_matrix_on_paper() -> None:
    """W_u, W_f, W_c and W_o of 128 × 228, each with its bias."""
    assert tensors(archcalc.load(spec())) == {("weight", (128, 228)): 4, ("bias", (128,)): 4}


def test_peepholes() -> None:
    """Three of the four gates see the cell, through a vector each; the candidate does not."""
    for biases in ("one", "two", "keras", "none"):
        assert total(biases=biases, peephole=True) - total(biases=biases) == 3 * 128


def test_widths_of_their_own() -> None:
    """A list gives each layer a width; the next layer reads it."""
    assert total(hidden=[64, 32, 32], biases="two") == sum(
        numel(nn.LSTM(*sizes, device="meta")) for sizes in ((100, 64), (64, 32), (32, 32))
    )


def test_a_thousand_million_layers_are_never_written_out() -> None:
    """Equal layers are one module, repeated."""
    first, other = 4 * ((100 + 128) * 128 + 128), 4 * ((128 + 128) * 128 + 128)
    assert total(layers=10**9) == first + (10**9 - 1) * other


# Keras, from its documentation


def test_keras_guide_to_recurrent_layers() -> None:
    """https://keras.io/guides/working_with_rnns prints these with model.summary()."""
    keras = {"biases": "keras", "cell": "lstm"}
    embedded = {**spec(vocab=1000, embedding=64, **keras), "head": {"kind": "classifier", "classes": 10}}
    del embedded["input"]
    assert archcalc.load(embedded).params().total == 64_000 + 98_816 + 1_290
    assert total(input=64, cell="gru", hidden=256, biases="keras") == 247_296
    assert total(input=256, cell="rnn", hidden=128, biases="keras") == 49_280
    both_ways = spec(input=10, hidden=[64, 32], bidirectional=True, **keras)
    both_ways["head"] = {"kind": "classifier", "classes": 10}
    assert archcalc.load(both_ways).params().total == 38_400 + 41_216 + 650


def test_keras_text_generation_tutorial(run: Run) -> None:
    """Its model.summary() prints 16,896, 3,938,304 and 67,650: 4,022,850 in all."""
    rows = {row["path"]: row for row in run("params", "keras-gru", "--format", "json").json["rows"]}
    assert [rows[path]["total"] for path in ("embedding", "layer_1", "head")] == [16_896, 3_938_304, 67_650]
    assert rows["layer_1.cell.bias"]["shape"] == [2, 3 * 1024]
    assert rows["layer_1.cell.kernel"]["shape"] == [256, 3 * 1024]


def test_keras_defaults_make_a_gru_more_than_three_quarters(run: Run, write: Write) -> None:
    """Its GRU has two biases a gate, its LSTM one: 37,248 / 49,408 = 0.754 from 128 to 64."""
    for cell in ("lstm", "gru"):
        write(f"family: recurrent\ninput: 128\ncell: {cell}\nhidden: 64\nbiases: keras\nhead: none\n", f"{cell}.yaml")
    out = run("compare", "lstm.yaml", "gru.yaml", "--format", "json").json
    lstm, gru = 4 * (128 * 64 + 64 * 64 + 64), 3 * (128 * 64 + 64 * 64 + 2 * 64)
    assert [model["total"] for model in out["models"]] == [lstm, gru]
    assert round(gru / lstm, 3) == 0.754
    assert "0.754" in run("compare", "lstm.yaml", "gru.yaml").out


@pytest.mark.parametrize("biases", ["one", "two", "none"])
def test_a_gru_is_three_quarters_of_an_lstm(run: Run, biases: str) -> None:
    """In its recurrent layers, under one convention; embedding and head do not shrink."""
    change = ("--set", f"biases={biases}")
    out = run("compare", "sentiment-lstm", "sentiment-gru", *change, "--format", "json").json
    lstm, gru = ({row["path"]: row["values"][index] for row in out["rows"]} for index in (0, 1))
    assert all(gru[path] / lstm[path] == 3 / 4 for path in ("layer_1", "layer_2"))
    assert all(gru[path] == lstm[path] for path in ("embedding", "head"))


# The presets


def test_the_sentiment_lstm(run: Run) -> None:
    """Every figure of the exercise, with its working."""
    out = run("params", "sentiment-lstm", "--explain").out
    assert "2,631,298" in out
    assert "= 2,000,000 + 2 × 117,760 + 2 × 197,632 + 514" in out
    assert "= 4 × (100 × 128 + 128 × 128 + 2 × 128)" in out
    assert "= 4 × (256 × 128 + 128 × 128 + 2 × 128)" in out
    for gate in ("update gate", "forget gate", "candidate", "output gate"):
        assert gate in out
    assert 2_000_000 + 2 * 117_760 + 2 * 197_632 + (256 * 2 + 2) == 2_631_298


def test_the_sentiment_lstm_is_pytorchs() -> None:
    """Built in PyTorch, layer by layer."""
    parts = [nn.Embedding(20000, 100), nn.LSTM(100, 128, 2, bidirectional=True), nn.Linear(256, 2)]
    assert archcalc.load("sentiment-lstm").params().total == sum(numel(part) for part in parts)


def test_awd_lstm_ties_its_head_to_the_embedding() -> None:
    """As in its repository's model.py, where the decoder's weight is the encoder's: 24M, exactly 24,221,600."""
    layers = [nn.LSTM(*sizes, device="meta") for sizes in ((400, 1150), (1150, 1150), (1150, 400))]
    expected = 10_000 * 400 + sum(map(numel, layers)) + 10_000
    report = archcalc.load("awd-lstm").params()
    assert report.total == expected == 24_221_600
    assert next(row.tied_to for row in report.rows if row.path == "head.weight") == "embedding.tokens.weight"


# The working


@pytest.mark.parametrize(
    ("changes", "worked"),
    [
        ({}, "4 × ((100 + 128) × 128 + 128)"),
        ({"cell": "gru"}, "3 × ((100 + 128) × 128 + 128)"),
        ({"cell": "rnn"}, "(100 + 128) × 128 + 128"),
        ({"biases": "two"}, "4 × (100 × 128 + 128 × 128 + 2 × 128)"),
        ({"biases": "keras"}, "4 × (100 × 128 + 128 × 128 + 128)"),
        ({"biases": "keras", "cell": "gru"}, "3 × (100 × 128 + 128 × 128 + 2 × 128)"),
        ({"biases": "none"}, "4 × (100 × 128 + 128 × 128)"),
        ({"biases": "two", "projection": 32}, "4 × (100 × 128 + 32 × 128 + 2 × 128) + 128 × 32"),
        ({"biases": "two", "peephole": True}, "4 × (100 × 128 + 128 × 128 + 2 × 128) + 3 × 128"),
    ],
)
def test_the_convention_shows_in_the_working(changes: dict[str, Any], worked: str) -> None:
    """As a person writes it, gates in front."""
    assert archcalc.load(spec(**changes)).params().total.worked() == worked


def test_the_working_by_names() -> None:
    """`embedding` where tokens come in, `hidden` where a layer reads the one below."""
    model = archcalc.load({"family": "recurrent", "vocab": 10, "embedding": 100, "cell": "lstm", "hidden": 128})
    rows = {row.path: row for row in model.params().rows}
    assert rows["layer_1"].each.worked(names=True) == "4 × ((embedding + hidden) × hidden + hidden)"


def test_the_convention_is_said_under_every_report(run: Run) -> None:
    """Whoever compares with another count sees first what is counted."""
    assert "two biases per gate, as in PyTorch and cuDNN (biases: two)" in run("params", "sentiment-lstm").out
    assert "one bias per gate, as in textbooks" in run("shapes", "sentiment-lstm", "--set", "biases=one").out


# Shapes


@pytest.mark.parametrize("cell", LAYERS)
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("biases", ["one", "two"])
def test_shapes_of_a_sequence_are_pytorchs(cell: str, bidirectional: bool, biases: str) -> None:
    """Outputs at every position, and the last hidden and cell states of all layers and directions."""
    reference = LAYERS[cell](100, 128, 3, bidirectional=bidirectional, batch_first=True)
    outputs, states = reference(torch.zeros(2, 5, 100))
    model = archcalc.load(spec(cell=cell, layers=3, bidirectional=bidirectional, biases=biases))
    traced = shapes(model, batch=2, seq=5)
    assert traced["layer_2.outputs"] == outputs.shape
    hidden, *more = states if cell == "lstm" else (states,)
    assert traced["hidden_state"] == hidden.shape
    assert ("cell_state" in traced) == (cell == "lstm")
    assert [traced["cell_state"] for _ in more] == [state.shape for state in more]


def test_shapes_of_a_projected_lstm() -> None:
    """h is narrow, c is not."""
    reference = nn.LSTM(100, 128, 2, proj_size=32, batch_first=True, device="meta")
    outputs, (hidden, cell) = reference(torch.zeros(2, 5, 100, device="meta"))
    traced = shapes(archcalc.load(spec(layers=2, projection=32, biases="two")), batch=2, seq=5)
    assert (traced["layer_2.outputs"], traced["hidden_state"], traced["cell_state"]) == (
        outputs.shape,
        hidden.shape,
        cell.shape,
    )


def test_shapes_of_one_step_are_the_cells() -> None:
    """One x, [h; x], every gate, c and h: no position in any of them."""
    hidden, cell = nn.LSTMCell(100, 128)(torch.zeros(32, 100))
    traced = shapes(archcalc.load(spec()), batch=32, seq=7)
    step = "layer_1.cell."
    assert traced[step + "x"] == (32, 100)
    assert traced[step + "joined"] == (32, 100 + 128)
    for gate in ("update_gate", "forget_gate", "candidate", "output_gate"):
        assert traced[step + gate] == (32, 128)
    assert (traced[step + "h"], traced[step + "c"]) == (hidden.shape, cell.shape)


def test_a_step_stands_under_a_heading_that_says_how_often(run: Run) -> None:
    """It exists once and runs once a position."""
    out = run("shapes", "sentiment-lstm").out
    assert "direction × 2\n" in out
    assert [line.split() for line in out.splitlines() if "LSTM step" in line] == [
        ["LSTM", "step", "runs", "100", "times"]
    ] * 2


def test_a_classifier_reads_the_last_states_and_a_language_model_every_output() -> None:
    """h of both directions, joined; or h at each position."""
    classifier = shapes(archcalc.load("sentiment-lstm"), batch=4, seq=9)
    assert (classifier["head.last_states"], classifier["head"]) == ((4, 2 * 128), (4, 2))
    assert shapes(archcalc.load("awd-lstm"), batch=4, seq=9)["head"] == (4, 9, 10_000)


# Copies and calls


def test_copies_are_not_calls() -> None:
    """Longer sequences call a step more often; there are no more of it."""
    model = archcalc.load("sentiment-lstm")
    for seq in (3, 300):
        cells = [m for m, _ in walk(model.build(model.workload(seq=seq))) if m.name == "cell"]
        assert [(int(m.calls), int(m.repeat), int(m.parent.repeat if m.parent else 0)) for m in cells] == [
            (seq, 1, 2)
        ] * 2
    assert model.params().total == 2_631_298


def measured(forward: Callable[[], torch.Tensor], weights: list[torch.Tensor]) -> tuple[int, int, int]:
    """Forward and backward FLOPs, and the bytes of distinct storages saved in between, parameters left out."""
    own = {weight.untyped_storage().data_ptr() for weight in weights}
    kept: dict[int, torch.Tensor] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.untyped_storage().data_ptr() not in own:
            kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with FlopCounterMode(display=False) as ahead, torch.autograd.graph.saved_tensors_hooks(keep, lambda x: x):
        loss = forward()
    with FlopCounterMode(display=False) as back:
        torch.autograd.backward(loss)
    storages = sum(tensor.untyped_storage().nbytes() for tensor in kept.values())
    return ahead.get_total_flops(), back.get_total_flops(), storages


def lstm_step(
    cell: nn.LSTMCell, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    stacked = nn.functional.linear(x, cell.weight_ih, cell.bias_ih) + nn.functional.linear(
        h, cell.weight_hh, cell.bias_hh
    )
    update, forget, candidate, output = stacked.chunk(4, dim=1)
    c = torch.sigmoid(update) * torch.tanh(candidate) + torch.sigmoid(forget) * c
    return torch.sigmoid(output) * torch.tanh(c), c


def gru_step(cell: nn.GRUCell, x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
    of_x = nn.functional.linear(x, cell.weight_ih, cell.bias_ih).chunk(3, dim=1)
    of_h = nn.functional.linear(h, cell.weight_hh, cell.bias_hh).chunk(3, dim=1)
    reset, update = torch.sigmoid(of_x[0] + of_h[0]), torch.sigmoid(of_x[1] + of_h[1])
    candidate = torch.tanh(of_x[2] + reset * of_h[2])
    return update * h + (1 - update) * candidate


@pytest.mark.parametrize("cell", ["lstm", "gru"])
@pytest.mark.parametrize("layers", [1, 3])
def test_costs_are_those_of_a_loop_over_cells(cell: str, layers: int) -> None:
    """FLOPs both ways and saved bytes, to the last: the first step's h wants no gradient, later ones do."""
    batch, seq, vocab, width, hidden = 3, 5, 11, 7, 4
    table, head = nn.Embedding(vocab, width), nn.Linear(hidden, vocab)
    kind: Any = nn.LSTMCell if cell == "lstm" else nn.GRUCell
    cells = [kind(hidden if layer else width, hidden) for layer in range(layers)]
    ids = torch.arange(batch * seq).reshape(batch, seq) % vocab
    targets = torch.ones(batch * seq, dtype=torch.long)

    def forward() -> torch.Tensor:
        x = table(ids)
        for one in cells:
            state = [torch.zeros(batch, hidden) for _ in range(2 if cell == "lstm" else 1)]
            outputs = []
            for t in range(seq):
                state = list(lstm_step(one, x[:, t], *state)) if cell == "lstm" else [gru_step(one, x[:, t], *state)]
                outputs.append(state[0])
            x = torch.stack(outputs, dim=1)
        return nn.functional.cross_entropy(head(x).flatten(0, 1), targets)

    model = archcalc.load(
        {"family": "recurrent", "vocab": vocab, "embedding": width, "cell": cell, "hidden": hidden}
        | {"layers": layers, "biases": "two"}
    )
    root = model.build(model.workload(batch=batch, seq=seq))
    done, kept = work(root), saved_activations(root, "fp32")
    weights = [weight for module in (table, head, *cells) for weight in module.parameters()]
    assert (done.forward, done.backward, kept.bytes) == measured(forward, weights)


# What a user can get wrong

TOP = "family: recurrent\nvocab: 100\nembedding: 8\ncell: lstm\nhidden: 16\n"


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        (TOP.replace("cell: lstm\n", ""), "model.yaml:1: cell: missing", "`cell: lstm`, `cell: gru` or `cell: rnn`"),
        (TOP.replace("hidden: 16\n", ""), "model.yaml:1: hidden: missing", "such as `hidden: 128`"),
        (TOP.replace("vocab: 100\n", ""), "model.yaml:1: vocab: missing", "`vocab: 20000`"),
        (TOP.replace("embedding: 8\n", ""), "model.yaml:1: embedding: missing", "`embedding: 100`"),
        (TOP.replace("lstm", "lsmt"), "model.yaml:4: cell: 'lsmt' is not one of", "did you mean lstm?"),
        (TOP.replace("hidden", "hidden_size"), "model.yaml:5: hidden_size: no such field", "write `hidden: 16`"),
        (TOP + "input: 8\n", "model.yaml:6: input: the input is vectors, or tokens", "take input or embedding out"),
        (TOP + "projection: 16\n", "model.yaml:6: projection: a projection narrows", "use one below 16"),
        (TOP.replace("lstm", "gru") + "projection: 4\n", "model.yaml:6: projection: only an LSTM", "cell: lstm"),
        (TOP.replace("lstm", "gru") + "peephole: true\n", "model.yaml:6: peephole: only an LSTM", "cell: lstm"),
        (TOP + "head: tied\n", "model.yaml:6: head: a tied head", "use `head: lm`"),
        (TOP + "head: classifier\n", "model.yaml:6: head: how many classes?", "classes: 2"),
        (TOP + "biases: three\n", "model.yaml:6: biases: 'three' is not one of one, two, keras, none", "choose from"),
        (TOP + "bidirectional: 2\n", "model.yaml:6: bidirectional: expected true, false or first", ""),
        (TOP + "residual: 1\n", "model.yaml:6: residual: layer 1 cannot add", "make the widths equal"),
        (TOP + "residual: 3\n", "model.yaml:6: residual: residuals from layer 3", "name a layer there is"),
        (TOP + "attention: dot\n", "model.yaml:6: attention: attention joins", "`encoder:` and `decoder:`"),
        (TOP.replace("16", "[4, 5]") + "layers: 3\n", "model.yaml:5: hidden: 2 widths for 3 layers", "one for each"),
        (TOP.replace("vocab: 100\nembedding: 8", "input: 8"), "model.yaml:2: head.vocab: missing", "`head: none`"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_the_way_out(
    run: Run, write: Write, text: str, where: str, said: str
) -> None:
    """File, line, field, fact, and what to do."""
    answer = run("params", write(text))
    assert answer.code == 2
    assert where in answer.err
    assert said in answer.err


@pytest.mark.parametrize("name", ["LSTM", "lstm", "Lstm"])
def test_cells_by_the_names_people_use(name: str) -> None:
    """An abbreviation has no wrong case."""
    assert total(cell=name) == 4 * ((100 + 128) * 128 + 128)
