"""The feed-forward layer: out(act(in(x))), or gated, out(act(gate(x)) ∗ in(x))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.core.ir import Dim, Module, Tensor
from archcalc.layers.activation import activated
from archcalc.layers.dims import ffn_of
from archcalc.layers.linear import linear
from archcalc.layers.norm import norm
from archcalc.spec.workload import Workload


@dataclass(frozen=True)
class Ffn:
    """A feed-forward layer: of a block, as an expert, or beside the experts."""

    spec_kind: ClassVar[str] = "ffn"
    width: int
    act: str
    gated: bool
    bias: bool  # of the projections in
    out_bias: bool
    inner_norm: str = "none"  # in front of the projection out

    def run(self, m: Module, x: Tensor, work: Workload) -> Tensor:
        hidden = self._gated(m, x) if self.gated else self._plain(m, x)
        hidden = norm(m["inner_norm"], hidden, self.inner_norm)
        return linear(m["down" if self.gated else "out"], hidden, x.axes[-1], bias=self.out_bias)

    def _gated(self, m: Module, x: Tensor) -> Tensor:
        gate = activated(m, linear(m["gate"], x, self._inner, bias=self.bias), self.act)
        return m.record("multiply", gate, linear(m["up"], x, self._inner, bias=self.bias))

    def _plain(self, m: Module, x: Tensor) -> Tensor:
        return activated(m, linear(m["in"], x, self._inner, bias=self.bias), self.act)

    @property
    def _inner(self) -> Dim:
        return ffn_of(self.width)
