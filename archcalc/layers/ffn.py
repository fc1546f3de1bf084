"""The feed-forward layer: out(act(in(x))), or gated, out(act(gate(x)) ∗ in(x))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from archcalc.core.ir import Module, Role, Tensor
from archcalc.core.style import Projection
from archcalc.layers.dims import ffn_of
from archcalc.layers.dropout import dropped
from archcalc.layers.linear import linear
from archcalc.layers.norm import norm
from archcalc.spec.workload import Workload
from archcalc.styles.activations import LEARNED, activated


class FfnRoles(NamedTuple):
    """The matrices of a feed-forward layer; the gate matrix exists only if it is gated."""

    gate: Role
    up: Role
    down: Role


DENSE = FfnRoles(Role.FFN_GATE, Role.FFN_UP, Role.FFN_DOWN)
EXPERT = FfnRoles(Role.EXPERT_GATE, Role.EXPERT_UP, Role.EXPERT_DOWN)
SHARED = FfnRoles(Role.SHARED_GATE, Role.SHARED_UP, Role.SHARED_DOWN)


@dataclass(frozen=True)
class Ffn:
    """A feed-forward layer: in a dense block, as an expert, or as a shared expert."""

    spec_kind: ClassVar[str] = "ffn"
    width: int
    act: str
    gated: bool
    bias: bool  # of the projections in
    out_bias: bool
    inner_norm: str = "none"  # in front of the projection out

    def run(self, m: Module, x: Tensor, work: Workload, roles: FfnRoles = DENSE) -> Tensor:
        inner, first = ffn_of(self.width), f"first layer, then {self.act}"
        if not self.gated:
            m["in"].words.about = first
            hidden = activated(m, linear(m["in"], x, inner, bias=self.bias, role=roles.up), self.act)
        elif m.style.gated and self.act not in LEARNED:
            gate = Projection("gate", (inner,), self.bias, roles.gate)
            hidden = m.style.gated(m, x, self.act, gate, Projection("up", (inner,), self.bias, roles.up))
        else:
            m["gate"].words.about, m["up"].words.about = first, "first layer, times the gate"
            opened = activated(m, linear(m["gate"], x, inner, bias=self.bias, role=roles.gate), self.act)
            hidden = m.record("multiply", opened, linear(m["up"], x, inner, bias=self.bias, role=roles.up))
        hidden = norm(m["inner_norm"], hidden, self.inner_norm)
        hidden = dropped(m, hidden, 0, work, "inside")
        last = m["down" if self.gated else "out"]
        last.words.about = "second layer"
        return linear(last, hidden, x.axes[-1], bias=self.out_bias, role=roles.down)
