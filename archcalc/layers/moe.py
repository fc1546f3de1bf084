"""A mixture of experts: a router sends every token to `top` of the experts, and sums their outputs by weight.

Only what the chosen experts compute is counted: `top` experts for each token, none of them idle and no token dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import product, total
from archcalc.core.ir import Dim, Module, Part, Region, Role, Tensor
from archcalc.core.style import ExpertSizes
from archcalc.layers.dims import ffn_of
from archcalc.layers.ffn import EXPERT, SHARED, Ffn
from archcalc.layers.linear import linear
from archcalc.layers.norm import norm
from archcalc.spec.workload import Workload
from archcalc.styles.activations import activated
from archcalc.styles.experts import expert_linear

IDEAL = Assumption(
    Topic.COST, "experts compute the tokens that chose them: no padding, no dropped token, no idle expert"
)
NONE_IDLE = Assumption(
    Topic.COST, "no token chooses an expert that gives back what it reads: those that do compute less"
)


@dataclass(frozen=True)
class Mixture:
    spec_kind: ClassVar[str] = "moe"
    experts: int
    top: int
    each: Ffn
    router_bias: bool = False
    correction: str = ""  # a number for each expert that steers the choice without gradients: buffer, or parameter
    shared: Ffn | None = None  # an expert that every token visits
    shared_gate: bool = False
    latent: int | None = None  # the width that experts work at, where it is not the model's
    latent_bias: bool = False
    latent_norm: bool = False  # an RMS norm in front of the projection back
    out_bias: bool = False  # on the answer of all experts together
    router_norm: str = ""  # of what the router reads: the residual stream, and not what the experts read
    expert_scale: bool = False  # a learned number for each expert, times its weight
    zero: int = 0  # experts that give back what they read: the router scores them too

    def made_small(self, original: Mixture) -> Mixture:
        """In a small model a token is routed to the same number of experts, or to all."""
        return replace(self, top=min(original.top, self.experts))

    def run(self, m: Module, x: Tensor, work: Workload, residual: Tensor | None = None) -> Tensor:
        m.region, m["experts"].region = Region.MIXTURE, Region.EXPERTS
        m.words.work_notes += [IDEAL, *([NONE_IDLE] if self.zero else [])]
        weights = self.route(m["router"], self._routed_by(m["router"], x, residual))
        (d_model,), inner, beside = x.axes[-1], x, None
        if self.latent:
            latent = Dim.of("latent", self.latent)
            inner = linear(m["latent_in"], x, latent, bias=self.latent_bias, role=Role.LATENT_IN)
        if m.style.experts:
            answer, beside = m.style.experts(m, inner, weights, self.sizes, lambda: self._shared(m, x, work))
        else:
            answer = run_experts(m["experts"], inner, weights, self.sizes)
        if self.latent_norm:
            answer = norm(m["latent_norm"], answer, "rms")
        if self.latent:
            answer = linear(m["latent_out"], answer, d_model, bias=self.latent_bias, role=Role.LATENT_OUT)
        if self.out_bias:
            answer = m.record("add", answer, m.param("bias", d_model, role=Role.BIAS))
        beside = beside or self._shared(m, x, work)
        return m.record("add", answer, beside) if beside else answer

    @property
    def sizes(self) -> ExpertSizes:
        each, experts = self.each, Dim.of("experts", self.experts, copies=True, dealt=True)
        return ExpertSizes(experts, Dim.of("top", self.top), ffn_of(each.width), each.act, each.gated, each.bias)

    def _routed_by(self, m: Module, x: Tensor, residual: Tensor | None) -> Tensor:
        """A router without a norm of its own reads what the experts read."""
        return norm(m["norm"], residual or x, self.router_norm) if self.router_norm else x

    def route(self, m: Module, x: Tensor) -> Tensor:
        """The weight of each chosen expert, for every token."""
        weights = self._weights(m, x)
        if not self.expert_scale:
            return weights
        chosen = next(op.beside["indices"] for op in m.ops if op.kind == "choose")
        experts = Dim.of("experts", self.experts)
        scale = m.record("lookup", chosen, m.param("scale", experts), to=weights.axes, select=(experts,))
        return m.record("multiply", weights, scale)

    def _weights(self, m: Module, x: Tensor) -> Tensor:
        """Of the router's scores alone."""
        *rows, _ = x.axes
        scored = Dim.of("experts", self.experts + self.zero)
        if self.correction == "parameter":
            m.param("correction", scored, trainable=False)
        elif self.correction:
            m.buffer("correction", scored)
        m.takes_adapters = m.style.adapts_router
        if m.style.route:
            return m.style.route(m, x, scored, Dim.of("top", self.top), self.router_bias)
        scores = linear(m, x, scored, bias=self.router_bias, role=Role.ROUTER)
        shares = m.record("softmax", scores, name="probabilities", note=f"of {self.experts} experts")
        chosen, note = (*rows, (Dim.of("top", self.top),)), f"weights of {self.top} of {self.experts} experts"
        return m.record("choose", shares, to=chosen, name="chosen", note=note)

    def _shared(self, m: Module, x: Tensor, work: Workload) -> Tensor | None:
        if not self.shared:
            return None
        answer = self.shared.run(m["shared"], x, work, SHARED)
        if not self.shared_gate:
            return answer
        gate = linear(m["shared_gate"], x, Dim.of("one", 1), bias=False, role=Role.SHARED_SCALE)
        return m.record("multiply", answer, m.record("sigmoid", gate).seen_as(*(axis for axis in x.axes[:-1])))


def run_experts(m: Module, x: Tensor, weights: Tensor, sizes: ExpertSizes) -> Tensor:
    """All experts, with weights stacked along an expert dim; every token uses `top` of them."""
    (d_model,) = x.axes[-1]
    routed = in_order(m, x, d_model, sizes.top, name="routed")
    if sizes.gated:
        gate = activated(m, expert_linear(m["gate"], routed, sizes.inner, EXPERT.gate, sizes), sizes.act)
        hidden = m.record("multiply", gate, expert_linear(m["up"], routed, sizes.inner, EXPERT.up, sizes))
    else:
        hidden = activated(m, expert_linear(m["in"], routed, sizes.inner, EXPERT.up, sizes), sizes.act)
    answers = expert_linear(m["down" if sizes.gated else "out"], hidden, d_model, EXPERT.down, sizes)
    # the expert dim: `experts` in the parameters, `top` per token
    layers = [param.dims[1:] for child in m.children for param in child.params.values()]
    m.words.parts.append(Part("one_expert", total([product([dim.size for dim in reversed(dims)]) for dims in layers])))
    weighed = m.record("multiply", in_order(m, answers, d_model, sizes.top), weights)
    return m.record("sum", weighed, to=x.axes, over=(sizes.top,))


def in_order(m: Module, x: Tensor, width: Dim, top: Dim, name: str = "") -> Tensor:
    """Permutes tokens by expert, or back: a copy, and the row indices."""
    tokens = tuple(axis for axis in x.axes[:-1] if axis != (top,))
    places = m.record("order", to=(*tokens, (top,)))
    return m.record("gather", x, places, to=(*places.axes, (width,)), name=name)
