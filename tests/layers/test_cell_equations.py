"""The equations that a recurrent cell declares, computed with: what is printed gives what PyTorch gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

import archcalc
from archcalc.core.equations import Equation, Symbol, System, Term, elementwise, one_minus, plus, product
from archcalc.layers.cell_equations import GRU, OURS
from archcalc.reference.cells import GATES, PEEPING, make_cell

if TYPE_CHECKING:
    from conftest import Run

INPUT, HIDDEN, NARROW = 3, 4, 2
LETTERS = {"update_gate": "u", "forget_gate": "f", "output_gate": "o", "reset_gate": "r"}
FUNCTIONS = {"σ": torch.sigmoid, "tanh": torch.tanh}
Values = dict[str, Any]  # tensors by their symbols


def value(term: Term, known: Values) -> Any:
    """A term of an equation as the number that it stands for."""
    if isinstance(term, Symbol):
        return known[term.text]
    first, *others = (value(part, known) for part in term.parts)
    match term.how:
        case "concatenation":
            return torch.cat([first, *others])
        case "apply":
            return FUNCTIONS[term.function](first)
        case "product":
            return first @ others[0]
        case "elementwise":
            return first * others[0]
        case "sum":
            return sum(others, first)
        case "one_minus":
            return 1 - first


def computed(system: System, known: Values) -> Values:
    """All that the equations compute, one after the other; every shape is the declared one."""
    for equation in system.equations:
        known[equation.left.text] = value(equation.right, known)
        for symbol in equation.symbols:
            assert known[symbol.text].shape == symbol.shape, symbol
    return known


def cell_of(**fields: Any) -> tuple[System, str]:
    """The equations of a layer, and the letter of its state."""
    spec = {"family": "recurrent", "input": INPUT, "hidden": HIDDEN, "head": "none", **fields}
    step = archcalc.load(spec).build()["layer_1"]["cell"]
    system = step.words.equations
    assert system
    return system, system.equations[-1].left.letter


def named(weights: Values, kind: str, letter: str) -> Values:
    """Stacked tensors of PyTorch under the symbols of the equations."""
    symbols = {"weight_ih": "W", "weight_hh": "U", "bias_ih": "b", "bias_hh": "b′"}
    last = "c" if kind == "lstm" else letter
    found: Values = {}
    for name, tensor in weights.items():
        gates = zip(GATES[kind], tensor.chunk(len(GATES[kind])), strict=True)
        found |= {f"{symbols[name]}{LETTERS.get(gate, last)}": part for gate, part in gates}
    return found


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn"])
def test_what_is_printed_is_what_pytorch_computes(kind: str, bias: bool) -> None:
    """`biases: two` and `none` against the cells of torch.nn."""
    torch.manual_seed(0)
    theirs = {"lstm": nn.LSTMCell, "gru": nn.GRUCell, "rnn": nn.RNNCell}[kind](INPUT, HIDDEN, bias=bias).double()
    x, h, c = (torch.randn(width, dtype=torch.double) for width in (INPUT, HIDDEN, HIDDEN))
    expected = theirs(x[None], (h[None], c[None]) if kind == "lstm" else h[None])
    system, letter = cell_of(cell=kind, biases="two" if bias else "none")
    known = {"x⟨t⟩": x, "h⟨t−1⟩": h, "c⟨t−1⟩": c, **named(dict(theirs.named_parameters()), kind, letter)}
    found = computed(system, known)
    state, *cell_state = expected if kind == "lstm" else (expected,)
    torch.testing.assert_close(found["h⟨t⟩"], state[0])
    if cell_state:
        torch.testing.assert_close(found["c⟨t⟩"], cell_state[0][0])


def test_a_projection_is_pytorchs() -> None:
    """Against nn.LSTM with proj_size, over one step."""
    torch.manual_seed(0)
    theirs = nn.LSTM(INPUT, HIDDEN, proj_size=NARROW).double()
    x, h, c = (torch.randn(width, dtype=torch.double) for width in (INPUT, NARROW, HIDDEN))
    expected, _ = theirs(x[None, None], (h[None, None], c[None, None]))
    system, letter = cell_of(cell="lstm", biases="two", projection=NARROW)
    weights = {name.removesuffix("_l0"): tensor for name, tensor in theirs.named_parameters()}
    known = {"x⟨t⟩": x, "h⟨t−1⟩": h, "c⟨t−1⟩": c, "Wp": weights.pop("weight_hr"), **named(weights, "lstm", letter)}
    torch.testing.assert_close(computed(system, known)["h⟨t⟩"], expected[0, 0])


@pytest.mark.parametrize("biases", ["one", "keras"])
@pytest.mark.parametrize(
    ("kind", "fields"),
    [("lstm", {}), ("lstm", {"peephole": True}), ("gru", {}), ("rnn", {}), ("lstm", {"projection": NARROW})],
)
def test_other_conventions_are_the_references(kind: str, biases: str, fields: dict[str, Any]) -> None:
    """On paper with a matrix for each gate, and as Keras has it."""
    torch.manual_seed(0)
    system, letter = cell_of(cell=kind, biases=biases, **fields)
    stack = {"cell": kind, "biases": biases, "peephole": fields.get("peephole", False)}
    layer = {"hidden": HIDDEN, "input": INPUT, "context": 0, "projection": fields.get("projection")}
    theirs = make_cell(stack, layer).double()
    for parameter in theirs.parameters():
        nn.init.normal_(parameter)
    x, h, c = (torch.randn(width, dtype=torch.double) for width in (INPUT, layer["projection"] or HIDDEN, HIDDEN))
    expected = theirs([x[None]], (h[None], c[None]) if kind == "lstm" else (h[None],))
    known = {"x⟨t⟩": x, f"{letter}⟨t−1⟩": h, "c⟨t−1⟩": c, **symbols_of(theirs, kind, biases, letter)}
    torch.testing.assert_close(computed(system, known)[f"{letter}⟨t⟩"], expected[0][0])


def symbols_of(cell: nn.Module, kind: str, biases: str, letter: str) -> Values:
    """The reference's parameters under the symbols of the equations."""
    held: Values = dict(cell.named_parameters())
    last = "c" if kind == "lstm" else letter
    found: Values = {"Wp": held["projection.weight"]} if "projection.weight" in held else {}
    if biases == "keras":
        return found | _of_keras(held, kind, letter) | _peepholes(held)
    for gate in GATES[kind]:
        index, prefix = LETTERS.get(gate, last), "" if kind == "rnn" else f"{gate}."
        found |= {f"W{index}": held[f"{prefix}weight"], f"b{index}": held[f"{prefix}bias"]}
        if f"{prefix}peephole" in held:
            found[f"p{index}"] = held[f"{prefix}peephole"]
    return found


def _of_keras(held: Values, kind: str, letter: str) -> Values:
    """Its matrices lie the other way round."""
    biases = held["bias"] if kind == "gru" else [held["bias"]]
    stacked = {"weight_ih": held["kernel"].T, "weight_hh": held["recurrent_kernel"].T}
    stacked |= dict(zip(("bias_ih", "bias_hh"), biases, strict=False))
    return named(stacked, kind, letter)


def _peepholes(held: Values) -> Values:
    parts = held["peephole.weight"].chunk(len(PEEPING)) if "peephole.weight" in held else ()
    return {f"p{LETTERS[gate]}": part for gate, part in zip(PEEPING, parts, strict=False)}


@pytest.mark.parametrize("convention", GRU, ids=lambda convention: convention.source)
def test_opposite_gates_are_told_apart(convention: Any) -> None:
    """With the gate that the table says, another source's equation gives the state that this one's does."""
    torch.manual_seed(0)
    ours, old, new = (torch.rand(HIDDEN, dtype=torch.double) for _ in range(3))
    read = [share.parts[1] for share in convention.state.right.parts]
    states = {state.time: state.text for state in read}
    gate = value(convention.here, {OURS.text: ours})
    known = {convention.gate.text: gate, states["t−1"]: old, states["t"]: new}
    torch.testing.assert_close(value(convention.state.right, known), ours * old + (1 - ours) * new)


@pytest.mark.parametrize("command", ["params", "shapes"])
def test_explain_prints_the_gates(run: Run, command: str) -> None:
    """As on the sheet: over [a; x], with one bias."""
    out = run(command, "sentiment-lstm", "--set", "biases=one", "--explain").out
    assert "Γu = σ(Wu·[a⟨t−1⟩; x⟨t⟩] + bu)" in out
    assert "a⟨t⟩ = Γo∗tanh(c⟨t⟩)" in out
    libraries = run(command, "sentiment-gru", "--explain").out
    assert "h̃⟨t⟩ = tanh(Wh·x⟨t⟩ + bh + Γr∗(Uh·h⟨t−1⟩ + b′h))" in libraries
    assert "Ng's course           c⟨t⟩ = Γu∗c̃⟨t⟩ + (1−Γu)∗c⟨t−1⟩  Γu    (1−Γu)  before" in libraries
    assert "Γu = σ(" not in run(command, "sentiment-lstm").out


def test_equations_are_data(run: Run) -> None:
    """A tree and the shapes of its symbols, for each layer."""
    answer = run("shapes", "sentiment-lstm", "--set", "biases=none", "--format", "json").json
    first, *_ = answer["equations"]
    assert first["paths"] == ["layer_1.direction.cell"]
    assert first["equations"][0] == {
        "signal": "update_gate",
        "text": "Γu = σ(Wu·x⟨t⟩ + Uu·h⟨t−1⟩)",
        "left": "Γu",
        "right": {"apply": "σ", "to": {"sum": [{"product": ["Wu", "x⟨t⟩"]}, {"product": ["Uu", "h⟨t−1⟩"]}]}},
        "shapes": {"Γu": [128], "Wu": [128, 100], "x⟨t⟩": [100], "Uu": [128, 128], "h⟨t−1⟩": [128]},
    }


def test_what_has_no_equations_says_so(run: Run) -> None:
    assert "no equations: only recurrent layers have them" in run("shapes", "gpt2", "--explain").out
    assert "no equations" not in run("params", "gpt2", "--explain").out


def test_brackets_stand_where_a_term_would_be_read_otherwise() -> None:
    a, b, c = (Symbol(letter) for letter in "abc")
    assert Equation(a, elementwise((b, plus((b, c))))).text == "a = b∗(b + c)"
    assert Equation(a, product((b, elementwise((b, c))))).text == "a = b·(b∗c)"
    assert Equation(a, plus((elementwise((b, c)), one_minus((c,))))).text == "a = b∗c + (1−c)"
