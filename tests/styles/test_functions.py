"""What each function of a style keeps for the backward pass, in bytes: b sequences of s positions, d numbers each."""

from __future__ import annotations

from typing import Any

import pytest

from archcalc.core.ir import Dim, Module, Param, Tensor, axes
from archcalc.core.precision import Policy
from archcalc.core.roles import Role
from archcalc.core.style import PLAIN, ExpertSizes, Gpus, Projection, Style
from archcalc.core.tree import ops_in
from archcalc.styles import (
    activations,
    adapters,
    attention,
    ends,
    exchange,
    experts,
    linear,
    norms,
    rotary,
)

B, S, D, H, KV, W, V = 2, 8, 64, 4, 2, 16, 96
BATCH, SEQ, WIDTH = Dim.of("batch", B), Dim.of("seq", S), Dim.of("d_model", D)
HEADS, GROUPS, PAST, EACH = Dim.of("heads", H), Dim.of("kv_heads", KV), Dim.of("kv_seq", S), Dim.of("head_dim", W)
X = B * S * D  # elements of a hidden state
ROWS = B * S
SCORES = B * H * S * S


def module(**fields: Any) -> Module:
    return Module("layer", style=PLAIN._replace(narrow=True, **fields))


def hidden() -> Tensor:
    return Tensor(axes(BATCH, SEQ, WIDTH))


def heads(number: Dim, places: Dim = SEQ) -> Tensor:
    whole = Tensor(axes(BATCH, places, (number, EACH)))
    return whole.seen_as(BATCH, number, places, EACH)


def saved(m: Module, precision: str = "bf16") -> int:
    """Bytes of distinct storages that ops keep; parameters are kept anyway."""
    policy, found = Policy(precision), {}
    for op in ops_in(m):
        for tensor in op.traits.saves(op, _wants, policy):
            storage = tensor.storage
            if not isinstance(storage, Param):
                found[storage] = int(storage.size) * policy.bytes_of(storage.role)
    return sum(found.values())


def _wants(tensor: Tensor) -> bool:
    return tensor.role in ("act", "stat", "param") and not tensor.stops


@pytest.mark.parametrize(
    ("function", "kept"),
    [
        (norms.fused, 2 * X + 4 * ROWS),
        (norms.upcast, 4 * X + 4 * ROWS + 2 * X),  # the fp32 copy, the inverse root, what the weight multiplies
        (norms.upcast_product, 4 * X + 4 * ROWS + 4 * X),
        (norms.upcast_statistics, 4 * X + 2 * X + 4 * ROWS + 2 * X),
        (norms.in_16_bits, 2 * X + 2 * ROWS + 2 * X),
        (norms.upcast_weight, 4 * X + 4 * ROWS + 4 * X + 4 * D),
    ],
)
def test_an_rms_norm(function: Any, kept: int) -> None:
    m = module()
    assert function(m, hidden(), m.param("weight", WIDTH, role=Role.NORM)).role == "act"
    assert saved(m) == kept


def test_layer_norms() -> None:
    m, other = module(), module()
    norms.layer_norm_in_fp32(m, hidden(), m.param("weight", WIDTH))
    assert saved(m) == 4 * X + 2 * 4 * ROWS
    norms.layer_norm_in_steps(other, hidden(), other.param("weight", WIDTH))
    assert saved(other) == 4 * X + 4 * X + 4 * ROWS + 4 * X + 4 * D  # two differences, root, product, fp32 weight


@pytest.mark.parametrize(
    ("function", "made", "role"),
    [
        (rotary.rotate_half, 0, "act"),
        (rotary.in_fp32, 1, "stat"),
        (rotary.as_complex, 1, "stat"),
        (rotary.as_pairs, 1, "stat"),
        (rotary.in_halves, 0, "act"),
        (rotary.joined, 0, "act"),
    ],
)
def test_a_rotary_embedding_saves_its_tables_alone(function: Any, made: int, role: str) -> None:
    """Whatever it computes in: of numbers that nothing is learned in, only the tables are kept."""
    m, tables = module(), [Tensor(axes(SEQ, Dim.of("rotated", W))).detached() for _ in range(2)]
    x = heads(HEADS)
    found = function(m, x, *tables)
    assert (found.shape, found.role) == (x.shape, "act")
    assert saved(m) <= 2 * 2 * S * W
    assert sum(op.kind == "cast" and op.output.role == role for op in m.ops) == made


def test_a_part_of_each_head_is_rotated_and_joined_with_the_rest() -> None:
    m, tables = module(), [Tensor(axes(SEQ, Dim.of("rotated", W // 2))) for _ in range(2)]
    rotary.rotate_half(m, heads(HEADS), *tables)
    assert (m.ops[-1].kind, m.ops[-1].output.shape) == ("concat", (B, H, S, W))


@pytest.mark.parametrize(
    ("function", "kept"),
    [
        (activations.gelu_new, 4 * 2 * X),  # x for its cube, tanh, and both factors
        (activations.gelu_python, 3 * 2 * X),
        (activations.quick_gelu, 2 * 2 * X),
        (activations.relu_squared, 2 * X),
    ],
)
def test_an_activation_in_python(function: Any, kept: int) -> None:
    m = module()
    function(m, hidden(), ())
    assert saved(m) == kept


@pytest.mark.parametrize(
    ("function", "kept"),
    [
        (ends.fp32, 4 * ROWS * V + 4 + 8 * ROWS),  # log-probabilities, the number of labels, labels
        (ends.in_steps, 4 * ROWS * V + 4 + 8 * ROWS),
        (ends.of_logits, 2 * ROWS * V + 2 + 8 * ROWS),
        (ends.in_place, 2 * ROWS * V + 8 * ROWS),
        (ends.in_place_fp32, 4 * ROWS * V + 8 * ROWS),
        (ends.shifted_logits, 4 * B * (S - 1) * V + 4 + 8 * B * (S - 1)),
        (ends.shifted_narrow, 2 * B * (S - 1) * V + 2 + 8 * B * (S - 1)),
    ],
)
def test_a_loss(function: Any, kept: int) -> None:
    m = module()
    function(m["loss"], Tensor(axes(BATCH, SEQ, Dim.of("vocab", V))), Tensor(axes(BATCH, SEQ), "index"))
    assert saved(m) == kept


def test_logits() -> None:
    m = module()
    made = ends.capped(m, Tensor(axes(BATCH, SEQ, Dim.of("vocab", V))))
    assert (saved(m), made.role) == (2 * ROWS * V, "act")
    assert ends.returned_in_fp32(m, made).role == "stat"


def test_eager_attention_casts_its_softmax_and_copies_what_lies_by_position() -> None:
    """Scores in fp32 for softmax, weights back in 16 bits; queries, keys, values and answers are copied."""
    m = module()
    shape, q, k, v = axes(BATCH, HEADS, SEQ, PAST), heads(HEADS), heads(HEADS, PAST), heads(HEADS, PAST)
    scores = attention.scores(m, q, k, to=shape, over=(EACH,))
    weights = attention.softmax(m, scores, "softmax_fp32")
    found = attention.weighed(m, weights, v, to=q.axes, over=(PAST,))
    attention.by_position(m, found)
    assert saved(m) == 3 * 2 * X + 4 * SCORES + 2 * SCORES
    assert [op.kind for op in m.ops].count("copy") == 3 and m.ops[-1].kind == "reorder"


def test_scores_in_fp32() -> None:
    m = module()
    to = axes(BATCH, HEADS, SEQ, PAST)
    scores = attention.scores_in_fp32(m, heads(HEADS), heads(HEADS, PAST), to=to, over=(EACH,))
    assert (scores.role, attention.softmax(m, scores, "softmax").role) == ("stat", "act")


def test_a_window_is_a_mask_that_each_layer_makes_for_every_sequence() -> None:
    """Keys and values are repeated for every head beside it; a window wider than the sequence needs none."""
    tensors, mask = (heads(HEADS), heads(GROUPS, PAST), heads(GROUPS, PAST)), Tensor(axes(SEQ, PAST), "mask")
    for sees, kinds in ((S // 2, ["repeat", "repeat", "constant", "efficient"]), (S + 1, ["flash"])):
        m = module()
        attention.kernel(m, *tensors, kind="flash", to=tensors[0].axes, mask=mask, sees=sees)
        assert [op.kind for op in m.ops] == kinds


@pytest.mark.parametrize(
    ("function", "kinds"),
    [
        (attention.copied_heads, ["repeat", "repeat", "flash"]),
        (attention.copied_answer, ["flash", "copy"]),
        (attention.copied_heads_and_answer, ["repeat", "repeat", "flash", "copy"]),
    ],
)
def test_copies_around_a_kernel(function: Any, kinds: list[str]) -> None:
    m = module()
    tensors = heads(HEADS), heads(GROUPS, PAST), heads(GROUPS, PAST)
    function(m, *tensors, kind="flash", to=tensors[0].axes)
    assert [op.kind for op in m.ops] == kinds


def test_a_kernel_adds_a_bias_for_each_head() -> None:
    m = module()
    bias = Tensor(axes(SEQ, PAST, HEADS)).seen_as(HEADS, SEQ, PAST)
    attention.biased(m, (heads(HEADS), heads(HEADS, PAST), heads(HEADS, PAST)), bias, True, heads(HEADS).axes)
    kinds = [op.kind for op in m.ops]
    assert kinds == ["constant", "where", "copy", "argument", "expand", "efficient"]


def projections(bias: bool = False) -> tuple[Projection, ...]:
    sizes = {"q": (HEADS, Role.ATTENTION_Q), "k": (GROUPS, Role.ATTENTION_K), "v": (GROUPS, Role.ATTENTION_V)}
    return tuple(Projection(name, (number, EACH), bias, role) for name, (number, role) in sizes.items())


@pytest.mark.parametrize(
    ("function", "modules"),
    [(linear.split_qkv, ["qkv"]), (linear.copied_qkv, ["q", "k", "v"]), (linear.merged, ["q", "k", "v"])],
)
def test_queries_keys_and_values_of_one_product(function: Any, modules: list[str]) -> None:
    m = module(bias_in_kernel=True)
    found = function(m, hidden(), projections(bias=True))
    assert [one.shape for one in found] == [(B, S, H * W), (B, S, KV * W), (B, S, KV * W)]
    assert [child.name for child in m.children] == modules
    params = [param for child in m.children for param in child.params.values()]
    assert sum(int(param.elements) for param in params) == (H + 2 * KV) * W * (D + 1)
    assert sum(op.traits.matrix for op in ops_in(m)) == 1


def test_gate_and_up_in_one_kernel() -> None:
    m, inner = module(), Dim.of("ffn", 128)
    pair = Projection("gate", (inner,), False, Role.FFN_GATE), Projection("up", (inner,), False, Role.FFN_UP)
    linear.fused_gates(m, hidden(), "silu", *pair)
    assert saved(m) == 2 * X + 2 * 2 * ROWS * 128
    other = module()
    linear.split_gates(other, hidden(), "silu", *pair)
    assert saved(other) == 2 * X + 2 * 2 * ROWS * 128 + 2 * ROWS * 128  # and what silu gives


SIZES = ExpertSizes(
    Dim.of("experts", 4, copies=True, dealt=True), Dim.of("top", 2), Dim.of("ffn", 32), "silu", gated=True, bias=False
)


def test_experts_in_one_grouped_product() -> None:
    """Gate and up are one matrix; rows of tokens, what it makes, what silu and the gate give, and answers are kept."""
    m = module()
    weights = Tensor(axes(BATCH, SEQ, SIZES.top), "stat")
    found, shared = experts.grouped(m, hidden(), weights, SIZES, lambda: None)
    assert (found.role, shared, [child.name for child in m["experts"].children]) == ("act", None, ["gate_up", "down"])
    rows, places = ROWS * 2, 8 * ROWS * 2
    kept = 2 * rows * (D + 64 + 32 + 32 + D) + 4 * rows + 3 * places + 4 * 4
    assert saved(m) == kept


def test_a_router_in_fp32() -> None:
    """fp32 copies of tokens and of its matrix, probabilities, what was chosen, and the quotient's factors."""
    m = module()
    weights = experts.wide_divided(m, hidden(), Dim.of("experts", 4), SIZES.top, False)
    assert weights.role == "stat"
    cast = module()
    assert experts.cast(cast, hidden(), Dim.of("experts", 4), SIZES.top, False).role == "act"
    assert saved(cast) == 2 * X + 4 * ROWS * 4 + 8 * ROWS * 2


@pytest.mark.parametrize(("gpus", "travels"), [(Gpus(), 0), (Gpus(ep=2), 2)])
def test_tokens_travel_to_their_experts(gpus: Gpus, travels: int) -> None:
    m = module(gpus=gpus)
    exchange.exchange(m, hidden(), Tensor(axes(BATCH, SEQ, SIZES.top)), SIZES, lambda: None)
    assert sum(op.kind == "all_to_all" for op in m.ops) == travels


def adapted(style: Style) -> tuple[Module, Module]:
    from archcalc.run.lora import Lora

    root = Module("model", style=style)
    linear.linear(root["q"], hidden(), Dim.of("out", 32), bias=False, role=Role.ATTENTION_Q)
    Lora(4, ("q",))(root)
    return root, root["q"]


def test_adapters() -> None:
    """peft's are in fp32 beside 16-bit weights, on an fp32 copy of their input, and their sum is cast back; litgpt's
    have dropout in front."""
    base = PLAIN._replace(narrow=True, bias_in_kernel=True)
    root, layer = adapted(base._replace(adapter=adapters.peft_in_fp32))
    beside = ["cast", "contract", "contract", "scale"]
    assert [op.kind for op in ops_in(layer)] == ["contract", *beside, "add", "cast_back"]
    assert saved(root) == 2 * X + 4 * X + 4 * ROWS * 4
    root, layer = adapted(base._replace(adapter=adapters.dropped))
    assert [op.kind for op in ops_in(layer)] == ["contract", "dropout", "contract", "contract", "scale", "add"]
    assert saved(root) == 2 * X + X + 2 * X + 2 * ROWS * 4
