"""A mixture of experts: a router sends every token to `top` of the experts, and sums their outputs by weight.

Only what the chosen experts compute is counted: `top` experts for each token, none of them idle and no token dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import Count, product, total
from archcalc.core.ir import Dim, Module, Part, Region, Tensor
from archcalc.core.roles import Role
from archcalc.core.style import ExpertSizes
from archcalc.layers.activation import activated
from archcalc.layers.dims import ffn_of
from archcalc.layers.ffn import EXPERT, SHARED, Ffn
from archcalc.layers.linear import linear
from archcalc.spec.workload import Workload

IDEAL = Assumption(
    Topic.COST, "experts compute the tokens that chose them: no padding, no dropped token, no idle expert"
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
    out_bias: bool = False  # on the answer of all experts together

    def made_small(self, original: Mixture) -> Mixture:
        """In a small model a token is routed to the same number of experts, or to all."""
        return replace(self, top=min(original.top, self.experts))

    def run(self, m: Module, x: Tensor, work: Workload) -> Tensor:
        m.region, m["experts"].region = Region.MIXTURE, Region.EXPERTS
        m.words.work_notes.append(IDEAL)
        weights = self.route(m["router"], x)
        inner = self._to_latent(m["latent_in"], x, self.latent) if self.latent else x
        (d_model,) = x.axes[-1]
        beside: Tensor | None = None
        if m.style.experts:
            answer, beside = m.style.experts(m, inner, weights, self._sizes, lambda: self._of_shared(m, x, work))
        else:
            answer = Experts(m["experts"], self).run(inner, weights)
        if self.latent:
            answer = linear(m["latent_out"], answer, d_model, bias=self.latent_bias, role=Role.LATENT_OUT)
        if self.out_bias:
            answer = m.record("add", answer, m.param("bias", d_model, role=Role.BIAS))
        beside = beside or self._of_shared(m, x, work)
        return m.record("add", answer, beside) if beside else answer

    @property
    def _sizes(self) -> ExpertSizes:
        each, experts = self.each, Dim.of("experts", self.experts, copies=True, dealt=True)
        return ExpertSizes(experts, Dim.of("top", self.top), ffn_of(each.width), each.act, each.gated, each.bias)

    def _of_shared(self, m: Module, x: Tensor, work: Workload) -> Tensor | None:
        return self._shared(m, x, self.shared, work) if self.shared else None

    def _to_latent(self, m: Module, x: Tensor, width: int) -> Tensor:
        return linear(m, x, Dim.of("latent", width), bias=self.latent_bias, role=Role.LATENT_IN)

    def route(self, m: Module, x: Tensor) -> Tensor:
        """The weight of each chosen expert, for every token."""
        *rows, _ = x.axes
        if self.correction == "parameter":
            m.param("correction", Dim.of("experts", self.experts), trainable=False)
        elif self.correction:
            m.buffer("correction", Dim.of("experts", self.experts))
        m.takes_adapters = m.style.adapts_router
        if m.style.route:
            return m.style.route(m, x, Dim.of("experts", self.experts), Dim.of("top", self.top), self.router_bias)
        scores = linear(m, x, Dim.of("experts", self.experts), bias=self.router_bias, role=Role.ROUTER)
        shares = m.record("softmax", scores, name="probabilities", note=f"of {self.experts} experts")
        chosen, note = (*rows, (Dim.of("top", self.top),)), f"weights of {self.top} of {self.experts} experts"
        return m.record("choose", shares, to=chosen, name="chosen", note=note)

    def _shared(self, m: Module, x: Tensor, shared: Ffn, work: Workload) -> Tensor:
        answer = shared.run(m["shared"], x, work, SHARED)
        if not self.shared_gate:
            return answer
        gate = linear(m["shared_gate"], x, Dim.of("one", 1), bias=False, role=Role.SHARED_SCALE)
        return m.record("multiply", answer, m.record("sigmoid", gate).seen_as(*(axis for axis in x.axes[:-1])))


@dataclass(frozen=True)
class Experts:
    """All experts, with weights stacked along an expert dim; every token uses `top` of them."""

    m: Module
    mixture: Mixture

    def run(self, x: Tensor, weights: Tensor) -> Tensor:
        each, inner, (d_model,) = self.mixture.each, ffn_of(self.mixture.each.width), x.axes[-1]
        routed = self.in_order(x, d_model, name="routed")
        if each.gated:
            gate = activated(self.m, self.linear("gate", routed, inner, EXPERT.gate), each.act)
            hidden = self.m.record("multiply", gate, self.linear("up", routed, inner, EXPERT.up))
        else:
            hidden = activated(self.m, self.linear("in", routed, inner, EXPERT.up), each.act)
        answers = self.linear("down" if each.gated else "out", hidden, d_model, EXPERT.down)
        self._describe()
        weighed = self.m.record("multiply", self.in_order(answers, d_model), weights)
        return self.m.record("sum", weighed, to=x.axes, over=(self._top,))

    def in_order(self, x: Tensor, width: Dim, name: str = "") -> Tensor:
        """Permutes tokens by expert, or back: a copy, and the row indices."""
        tokens = tuple(axis for axis in x.axes[:-1] if axis != (self._top,))
        places = self.m.record("order", to=(*tokens, (self._top,)))
        return self.m.record("gather", x, places, to=(*places.axes, (width,)), name=name)

    def _describe(self) -> None:
        """The expert dim: `experts` in the parameters, `top` per token."""
        layers = [param.dims[1:] for child in self.m.children for param in child.params.values()]
        one = total([product([dim.size for dim in reversed(dims)]) for dims in layers])
        self.m.words.parts.append(Part("one_expert", one))

    @property
    def _experts(self) -> Dim:
        return Dim.of("experts", self.mixture.experts, copies=True, dealt=True)

    @property
    def _top(self) -> Dim:
        return Dim.of("top", self.mixture.top)

    def linear(self, name: str, x: Tensor, out: Dim, role: Role) -> Tensor:
        """A linear layer per expert: a product with the weights of the selected experts."""
        m, expert, into = self.m[name], self._experts, x.dims[-1]
        met = Count(self.mixture.top) * into.size * out.size
        elements = expert.size * into.size * out.size
        weight = m.param("weight", expert, out, into, elements=elements, active=met, role=role)
        y = m.record("contract", x, weight, to=(*x.axes[:-1], (out,)), over=(into,), select=(expert,))
        if not self.mixture.each.bias:
            return y
        bias = m.param("bias", expert, out, active=Count(self.mixture.top) * out.size, role=Role.BIAS)
        return m.record("add", y, bias)
