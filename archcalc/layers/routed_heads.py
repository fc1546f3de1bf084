"""Experts for queries (JetMoE's mixture of attention heads, arXiv:2404.07413): each token's queries come from some of
many projections, and what they look up is projected back by the same experts. Keys and values are everybody's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from archcalc.core.ir import Axis, Dim, Module, Role, Tensor
from archcalc.core.splits import Piece, Split
from archcalc.layers.ffn import Ffn
from archcalc.layers.moe import Mixture, in_order
from archcalc.styles.experts import expert_linear


@dataclass(frozen=True)
class RoutedHeads:
    experts: int
    top: int

    def made_small(self, original: RoutedHeads) -> RoutedHeads:
        """In a small model a token is routed to the same number of experts, or to all."""
        return replace(self, top=min(original.top, self.experts))

    def queries(self, m: Module, x: Tensor, out: Axis) -> tuple[Tensor, Tensor]:
        """All heads of the experts that a token is routed to, concatenated; and the weights of these experts."""
        mixture, width = self._mixture, self._width(out)
        weights, m, top = mixture.route(m["router"], x), m["experts"], mixture.sizes.top
        by_expert = in_order(m, x, x.dims[-1], top, name="routed")
        made = expert_linear(m["q"], by_expert, width, Role.EXPERT_Q, mixture.sizes)
        return in_order(m, made, width, top).seen_as(*x.dims[:2], out), weights

    def answers(self, m: Module, looked_up: Tensor, weights: Tensor, d_model: Dim, *, bias: bool) -> Tensor:
        """The output projection of the selected experts, weighted and summed."""
        m, (batch, seq, out) = m["experts_out"], looked_up.axes
        sizes, width = self._mixture.sizes, self._width(out)
        apart = looked_up.seen_as(*batch, *seq, sizes.top, width)
        by_expert = in_order(m, apart, width, sizes.top)
        answers = expert_linear(m["out"], by_expert, d_model, Role.EXPERT_OUT, sizes)
        weighed = m.record("multiply", in_order(m, answers, d_model, sizes.top), weights)
        found = m.record("sum", weighed, to=(batch, seq, (d_model,)), over=(sizes.top,))
        return m.record("add", found, m.param("bias", d_model, role=Role.BIAS)) if bias else found

    def _width(self, out: Axis) -> Dim:
        """The width of all heads of one expert together."""
        heads, each = out
        number = heads.size // self.top
        return Dim("expert_heads", number * each.size, split=Split((Piece(number, each.size),)))

    @property
    def _mixture(self) -> Mixture:
        return Mixture(self.experts, self.top, Ffn(0, "identity", gated=False, bias=False, out_bias=False))
