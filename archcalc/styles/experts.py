"""A mixture of experts as transformers computes it: rows sorted by expert, and one product for all experts.

    route → sort → gather → gate and up in one product → activation → down → weigh → sort back → sum

Shapes do not depend on which experts are chosen: there are as many rows as tokens choose experts, whichever these are.
Source: transformers, grouped_mm_experts_forward in integrations/moe.py, which is the default of every class that has
it (get_correct_experts_implementation in modeling_utils.py); MixtralSparseMoeBlock.forward.
"""

from __future__ import annotations

from functools import partial

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Count, Dim, Module, Op, Param, Role, Tensor, axes
from archcalc.core.style import ExpertSizes, Shared
from archcalc.styles.activations import activated
from archcalc.styles.linear import linear
from archcalc.styles.steps import cast_back, widened

PLACES, INT32 = "index", "int32"
ASSUMED = Assumption(
    Topic.CODE,
    "experts: transformers' default, one grouped product (grouped_mm), whose memory does not depend on which experts "
    "are chosen; without a loss that balances them (output_router_logits: false)",
)


def _routed(
    m: Module, x: Tensor, experts: Dim, top: Dim, bias: bool, *, divided: bool, cast: bool, fp32: bool = False
) -> Tensor:
    """Probabilities in fp32; those of chosen experts perhaps divided by their sum, and cast back. `fp32`: the product
    reads fp32 copies of tokens and of the matrix.

    The division is in place, for which autograd copies what was there before. Here the copy is what was chosen, and the
    quotient a tensor of its own: as many bytes at every moment.
    Source: transformers, MixtralTopKRouter.forward; Qwen3MoeTopKRouter.forward and OlmoeTopKRouter.forward."""
    scores = linear(m, x, experts, bias=bias, role=Role.ROUTER, wide=fp32)
    shares = m.record("softmax", widened(m, scores))
    weights = m.record("choose", shares, to=(*x.axes[:-1], (top,)))
    if divided:
        weights = m.record("divide", weights, m.record("sum", weights, to=x.axes[:-1], over=(top,)))
    return cast_back(m, weights, x) if cast else weights


divided = partial(_routed, divided=True, cast=False)  # Mixtral
wide = partial(_routed, divided=False, cast=False, fp32=True)  # DeepSeek-V3
wide_divided = partial(_routed, divided=True, cast=False, fp32=True)
cast = partial(_routed, divided=False, cast=True)
cast_divided = partial(_routed, divided=True, cast=True)


def of_all(m: Module, x: Tensor, experts: Dim, top: Dim, bias: bool) -> Tensor:
    """A weight for every expert, 0 for those that were not chosen. Source: transformers, Llama4Router.forward."""
    scores = linear(m, x, experts, bias=bias, role=Role.ROUTER)
    return cast_back(m, m.record("sigmoid", widened(m, scores)), x)


def every(m: Module, x: Tensor, weights: Tensor, sizes: ExpertSizes, shared: Shared) -> tuple[Tensor, Tensor | None]:
    """Every expert computes all tokens, each of them times its weight. What those compute that were not chosen is no
    FLOP of the model. Source: transformers, Llama4TextMoe.forward and Llama4TextExperts.forward."""
    inner, *tokens, (width,) = m["experts"], *x.axes
    copies = inner.record("repeat", x, to=((sizes.experts,), *x.axes))
    routed = inner.record("multiply", copies, weights.seen_as((sizes.experts,), *tokens), name="routed")
    hidden = _gated(inner, routed, partial(_batched, inner, sizes=sizes), sizes)
    answers = _batched(inner, "down", hidden, width, Role.EXPERT_DOWN, sizes)
    beside = shared()
    return inner.record("sum", answers, to=x.axes, over=(sizes.experts,)), beside


def _batched(m: Module, name: str, x: Tensor, out: Dim, role: Role, sizes: ExpertSizes) -> Tensor:
    """A product for each expert, of as many rows as there are tokens."""
    m, (into,) = m[name], x.axes[-1]
    weight = expert_weight(m, into, out, role, sizes)
    return m.record("contract", x, weight, to=(*x.axes[:-1], (out,)), over=(into,), select=(sizes.experts,))


def grouped(m: Module, x: Tensor, weights: Tensor, sizes: ExpertSizes, shared: Shared) -> tuple[Tensor, Tensor | None]:
    """What the chosen experts compute, and then what the shared one does."""
    m.words.memory_notes.append(ASSUMED)
    m, rows, (width,) = m["experts"], weights.axes, x.axes[-1]
    order, tokens = (m.record("constant", to=rows, role=PLACES) for _ in range(2))
    routed = m.record("gather", x, tokens, to=(*rows, (width,)), name="routed")
    sorted_weights = m.record("gather", weights, order)
    offsets = m.record("constant", to=axes(sizes.experts), role=INT32)
    product = partial(_product, m, sizes=sizes, offsets=offsets, order=order)
    if sizes.gated:
        hidden = _gated(m, routed, product, sizes)
    else:
        hidden = activated(m, product("in", routed, sizes.inner, Role.EXPERT_UP), sizes.act)
    answers = product("down" if sizes.gated else "out", hidden, width, Role.EXPERT_DOWN)
    weighed = m.record("multiply", answers, sorted_weights, role=sorted_weights.role)
    placed = m.record("gather", weighed, m.record("constant", to=rows, role=PLACES))
    added = m.record("sum", placed, to=x.axes, over=(sizes.top,))
    return cast_back(m, added, answers), shared()


def _gated(m: Module, routed: Tensor, product: partial[Tensor], sizes: ExpertSizes) -> Tensor:
    """Gate and up are one matrix, and views of what it makes."""
    both = Dim.of("gate_up", 2 * int(sizes.inner.size))
    m["gate_up"].words.stands_for = ("gate", "up")
    made = product("gate_up", routed, both, Role.EXPERT_GATE_UP)
    gate, up = (Tensor((*made.axes[:-1], (sizes.inner,)), made.role) for _ in range(2))
    m.add(Op("split", (made,), gate, beside={"up": up}))
    if m.style.expert_gate:
        return m.style.expert_gate(m, gate, up)
    return m.record("multiply", activated(m, gate, sizes.act), up)


def clamped_gate(m: Module, gate: Tensor, up: Tensor) -> Tensor:
    """(up + 1) · gate · sigmoid(α · gate), of both clamped. Source: transformers, GptOssExperts._apply_gate."""
    gate, up = m.record("clamp", gate), m.record("clamp", up)
    share = m.record("sigmoid", m.record("scale", gate))
    return m.record("multiply", m.record("add", up), m.record("multiply", gate, share))


def _product(
    m: Module, name: str, x: Tensor, out: Dim, role: Role, sizes: ExpertSizes, offsets: Tensor, order: Tensor
) -> Tensor:
    """One product for all experts; rows of the bias are gathered, and added in place (`_grouped_linear`)."""
    m, (into,) = m[name], x.axes[-1]
    weight = expert_weight(m, into, out, role, sizes)
    made = m.record("grouped", x, weight, offsets, to=(*x.axes[:-1], (out,)), over=(into,), select=(sizes.experts,))
    if not sizes.bias:
        return made
    rows = m.record("gather", expert_bias(m, out, sizes), order, to=made.axes)
    return m.add(Op("seen", (made, rows), Tensor(made.axes, made.role)))


def expert_linear(m: Module, x: Tensor, out: Dim, role: Role, sizes: ExpertSizes) -> Tensor:
    """A linear layer per expert: a product with the weights of the selected experts."""
    (into,) = x.axes[-1]
    weight = expert_weight(m, into, out, role, sizes)
    y = m.record("contract", x, weight, to=(*x.axes[:-1], (out,)), over=(into,), select=(sizes.experts,))
    return m.record("add", y, expert_bias(m, out, sizes)) if sizes.bias else y


def expert_bias(m: Module, out: Dim, sizes: ExpertSizes) -> Param:
    return m.param("bias", sizes.experts, out, active=Count(int(sizes.top.size)) * out.size, role=Role.BIAS)


def expert_weight(m: Module, into: Dim, out: Dim, role: Role, sizes: ExpertSizes) -> Param:
    """Matrices of all experts, of which a token meets `top`."""
    met = Count(int(sizes.top.size)) * into.size * out.size
    elements = sizes.experts.size * into.size * out.size
    return m.param("weight", sizes.experts, out, into, elements=elements, active=met, role=role)
