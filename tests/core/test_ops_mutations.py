"""Breaking the cost of any single kind of op makes a comparison fail: the tests of `test_ops` would notice."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from support import remembered
from support.op_twins import (
    GOLDEN,
    IN_INFERENCE,
    IN_STEPS,
    REFUSED,
    ROLES,
    TWINS,
    WITHOUT_TWIN,
    Twin,
    X,
    disagreements,
    elementwise_flops,
    gives_out,
    role_of,
)

import archcalc
from archcalc.core.count import Count
from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, Op, Tensor
from archcalc.core.op_kind import NOTHING, Gradient, Kind, none
from archcalc.core.ops import KINDS
from archcalc.core.precision import Policy
from archcalc.verify.check import verify, ways

BROKEN = {"flops", "saves", "backward", "beside", "role", "matrix", "products"}
ELSEWHERE = {  # of which test_kinds, analyze/test_shapes and run/code/test_megatron_layers have examples
    *("reads", "writes", "allocates", "enters"),
    "gives_beside",
    # of libraries' code, which verify/test_peak compares in whole training steps
    *("converts", "part", "reads_logits", "scratch"),
    "of_values",  # and analyze/memory/test_llama_cpp_cache
}
SHARED_SEQUENCE = {"code": "megatron", "tp": 2, "sp": True}
TRAITS: list[tuple[str, str, Any, dict[str, Any]]] = [  # a kind, another value, and where that must change the answer
    ("attention_kernel", "flash", False, {"cp": 2, "attention": "flash"}),
    ("row_statistics", "softmax_fp32", 0, {"compile": "blocks", "attention": "eager", "precision": "bf16"}),
    ("autocast", "contract", "", {"precision": "autocast", "attention": "eager"}),
    ("own_kernel", "contract", False, {"compile": "blocks"}),
    ("view", "view", False, {}),
    ("contraction", "contract", False, {"recompute": "ops", "code": "plain"}),
    ("joins_product", "add", False, {"recompute": "ops", "code": "plain"}),
    ("softmax", "softmax_fp32", "", {"attention": "eager", "precision": "bf16", "code": "plain"}),
    ("reads_rows", "lookup", False, {"tp": 2, "sp": True, "attention": "flash"}),
    ("loss_of_logits", "cross_entropy", "", {"compile": "all"}),
    ("expensive", "flash", False, {"recompute": "ops", "attention": "flash"}),
    ("leaf", "receive", False, {"code": "megatron", "pp": 3}),
    ("gradient", "cross_entropy_in_place", Gradient(), {"code": "megatron"}),
    ("collective", "all_gather", "", SHARED_SEQUENCE),
    ("collective", "buffered_linear", "", SHARED_SEQUENCE),
]
SMALL = {"vocab": 9, "d_model": 8, "heads": 2}
IN_A_MODEL: dict[str, dict[str, Any]] = {
    "order": {**SMALL, "moe": {"experts": 3, "top": 2, "width": 4}, "decoder": {"pattern": ["attention moe"]}},
    "shift": {**SMALL, "ffn": 6, "decoder": 1, "head": {"kind": "lm", "mtp": 1}},
    "zeros": {"family": "recurrent", "cell": "gru", "biases": "two", "vocab": 7, "embedding": 3, "hidden": 4},
    **{kind: {**SMALL, "ffn": 6, "decoder": 1} for kind in ("append", "append_values")},
}
TWINNED = sorted({twin.kind for twin in TWINS})
GOING_BACK = sorted({twin.kind for twin in TWINS if any(map(any, twin.wanted()))})  # of which some input has a gradient


def _more_flops(kind: Kind) -> Kind:
    return kind._replace(flops=lambda op: kind.flops(op) + Count(1))


def _keeps_everything(kind: Kind) -> Kind:
    return kind._replace(saves=lambda op, wants, policy: (*op.inputs, op.output, *op.beside.values()))


def _keeps_nothing(kind: Kind) -> Kind:
    return kind._replace(saves=lambda op, wants, policy: ())


def _is_noticed(kind: str) -> bool:
    beside_pytorch = any(disagreements(twin) for twin in TWINS if twin.kind == kind)
    return beside_pytorch or elementwise_flops() != GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", TWINNED)
def test_a_wrong_cost_is_noticed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any kind, matrix product or not."""
    monkeypatch.setitem(KINDS, kind, _more_flops(KINDS[kind]))
    assert _is_noticed(kind)


@pytest.mark.parametrize("kind", [kind for kind in TWINNED if KINDS[kind].allocates])
def test_keeping_too_much_is_noticed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that an op reads and makes, where its backward pass needs less."""
    monkeypatch.setitem(KINDS, kind, _keeps_everything(KINDS[kind]))
    assert _is_noticed(kind)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not KINDS[kind].allocates])
def test_what_makes_no_tensor_keeps_none(kind: str) -> None:
    assert KINDS[kind].saves is NOTHING


def test_a_tensor_from_nowhere_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An op saves what it reads or makes: anything else would be stored without ever being made."""
    monkeypatch.setitem(KINDS, "gelu", KINDS["gelu"]._replace(saves=lambda op, wants, policy: [Tensor(op.output.axes)]))
    with pytest.raises(ValueError, match="gelu saves a tensor that it neither reads nor makes"):
        _is_noticed("gelu")


@pytest.mark.parametrize("kind", [kind for kind in TWINNED if KINDS[kind].saves is not NOTHING])
def test_forgetting_what_is_kept_is_noticed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every kind that keeps something for its backward pass."""
    monkeypatch.setitem(KINDS, kind, _keeps_nothing(KINDS[kind]))
    assert _is_noticed(kind)


@pytest.mark.parametrize("kind", GOING_BACK)
def test_a_wrong_backward_cost_is_noticed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more FLOP in the backward pass."""
    whole = KINDS[kind]
    costs = whole.backward or (lambda op, wants: whole.flops(op) * Count(sum(map(wants, op.inputs))))
    monkeypatch.setitem(KINDS, kind, whole._replace(backward=lambda op, wants: costs(op, wants) + Count(1)))
    assert _is_noticed(kind)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in TWINNED for name, *_ in KINDS[kind].beside])
def test_a_wrong_tensor_beside_the_output_is_noticed(kind: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Statistics, masks and log-probabilities of another shape."""
    other = {"one": "two"}
    beside = tuple(
        (one, role, other.get(like, "one") if one == name else like) for one, role, like in KINDS[kind].beside
    )
    monkeypatch.setitem(KINDS, kind, KINDS[kind]._replace(beside=beside))
    assert _is_noticed(kind)


@pytest.mark.parametrize("kind", TWINNED)
def test_a_product_taken_for_something_else_is_noticed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """FlopCounterMode counts matrix products, and nothing else."""
    monkeypatch.setitem(KINDS, kind, KINDS[kind]._replace(matrix=not KINDS[kind].matrix))
    assert _is_noticed(kind)


@pytest.mark.parametrize("kind", [kind for kind in TWINNED if not KINDS[kind].matrix])
def test_a_wrong_product_in_the_backward_pass_is_noticed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an op that is no matrix product going forward."""
    products = KINDS[kind].products or (lambda op, wants: Count(0))
    monkeypatch.setitem(KINDS, kind, KINDS[kind]._replace(products=lambda op, wants: products(op, wants) + Count(1)))
    assert _is_noticed(kind)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in TWINNED for name, *_ in KINDS[kind].beside])
def test_a_wrong_role_beside_the_output_is_noticed(kind: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A statistic is wider than an activation, a mask narrower."""
    beside = tuple(
        (one, ("index" if role == "act" else "act") if one == name else role, like)
        for one, role, like in KINDS[kind].beside
    )
    monkeypatch.setitem(KINDS, kind, KINDS[kind]._replace(beside=beside))
    assert _is_noticed(kind)


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)
def test_a_wrong_role_of_the_output_is_noticed(twin: Twin, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the type of what PyTorch gives out."""
    wrong = "act" if KINDS[twin.kind].role in ROLES else "index"
    monkeypatch.setitem(KINDS, twin.kind, KINDS[twin.kind]._replace(role=wrong))
    assert gives_out(twin) != role_of(twin)


@pytest.mark.parametrize("kind", IN_A_MODEL)
def test_a_wrong_role_is_noticed_in_a_model(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what goes into no op alone: places, tokens further on, zeros to start from, and what is cached."""
    monkeypatch.setitem(KINDS, kind, KINDS[kind]._replace(role="act" if KINDS[kind].role != "act" else "index"))
    model = archcalc.load(IN_A_MODEL[kind])
    assert not verify(model, model.workload(batch=1, seq=3), way=ways(model)[0]).ok


def test_every_field_is_broken() -> None:
    """All that a kind says, but its description."""
    assert set(Kind._fields) == {"about"} | BROKEN | ELSEWHERE | {trait for trait, *_ in TRAITS}


@pytest.mark.parametrize("kind", sorted(WITHOUT_TWIN - IN_INFERENCE - IN_STEPS - REFUSED))
def test_what_has_no_twin_costs_nothing(kind: str) -> None:
    """Neither FLOPs nor memory: there is NOTHING to compare."""
    whole = KINDS[kind]
    assert (whole.flops, whole.saves, whole.backward, whole.beside, whole.matrix) == (none, NOTHING, None, (), False)


@pytest.mark.parametrize("kind", sorted(REFUSED))
def test_what_training_keeps_is_refused_or_nothing(kind: str) -> None:
    """Where a gradient is wanted there is no number; without one, none is needed."""
    whole, op = KINDS[kind], recorded(kind)
    with pytest.raises(InputError):
        whole.saves(op, lambda tensor: True, Policy())
    assert tuple(whole.saves(op, lambda tensor: False, Policy())) == ()
    assert (whole.backward, whole.beside, whole.matrix, whole.products) == (None, (), False, None)


def test_forward_flops_of_what_training_refuses() -> None:
    """A sum and a division for each number, by rows and by columns, in each of 5 rounds; or no number at all."""
    rows, columns, rounds = 2 * 3, 4, 5
    assert int(KINDS["sinkhorn"].flops(recorded("sinkhorn", over=(Dim.of("rounds", rounds),)))) == (
        rounds * 2 * (rows * columns + rows * columns)
    )
    with pytest.raises(InputError, match="does not know this activation"):
        KINDS["unknown"].flops(recorded("unknown"))


def recorded(kind: str, over: tuple[Dim, ...] = ()) -> Op:
    module = Module("model")
    module.record(kind, Tensor(X), to=X, over=over)
    return module.ops[-1]


@pytest.mark.parametrize(("trait", "kind", "other", "options"), TRAITS)
def test_a_wrong_trait_changes_the_answer_it_is_for(
    trait: str, kind: str, other: Any, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is read by an analysis that other tests compare with PyTorch."""
    before = _memory(options)
    monkeypatch.setitem(KINDS, kind, KINDS[kind]._replace(**{trait: other}))
    assert before != _memory(options)


def _memory(options: dict[str, Any]) -> Any:
    """The timeline, or why there is none, of a model that is traced anew."""
    remembered.forget()
    small = ["decoder=3", "vocab=100", "d_model=64", "heads=4", "ffn.width=128", "dropout=0", "softmax=fp32"]
    model = archcalc.load("gpt2", set=small)
    try:
        report = model.memory(mode="train", **{"precision": "mixed"} | options, batch=2, seq=64)
        return [instant.bytes for instant in report.instants], report.rows[0].parts, report.assumptions
    except InputError as refused:
        return str(refused)
