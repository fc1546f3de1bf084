"""Layers of deep and variational autoencoders: fully connected ones, the heads of a code that is drawn, its KL term."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from archcalc.core.ir import Dim, Module, Param, Role, Tensor, axes
from archcalc.layers.linear import linear
from archcalc.styles.activations import activated


@dataclass(frozen=True)
class Coder:
    """Fully connected layers, each with its activation: act(W·x + b)."""

    bias: bool
    act: str

    def run(self, m: Module, x: Tensor, layers: Sequence[Dim | Param]) -> Tensor:
        """One layer for each width, or for each matrix of the encoder."""
        for number, one in enumerate(layers, start=1):
            x = self.layer(m, x, one, number)
        return x

    def layer(self, m: Module, x: Tensor, to: Dim | Param, number: int) -> Tensor:
        """By a matrix of its own; or act(Wᵀ·x + b), an encoder's matrix the other way round, with a bias of its own."""
        one = m[f"layer_{number}"]
        if isinstance(to, Dim):
            return activated(one, linear(one, x, to, bias=self.bias), self.act)
        out, into = to.axes
        y = one.record("contract", x, to, to=axes(x.dims[0], into), over=out)
        if self.bias:
            y = one.record("add", y, one.param("bias", into, role=Role.BIAS))
        return activated(one, y, self.act)

    def heads(self, m: Module, x: Tensor, code: Dim) -> tuple[Tensor, Tensor]:
        """The mean μ and the log-variance log σ² of the code, without activation."""
        mean = linear(m["mean"], x, code, bias=self.bias)
        return mean, linear(m["log_variance"], x, code, bias=self.bias)


def drawn(m: Module, mean: Tensor, log_variance: Tensor) -> Tensor:
    """z = μ + σ·ε with ε from a standard normal: gradients reach μ and σ (the reparametrisation trick)."""
    deviation = m.record("exp", m.record("scale", log_variance), name="deviation", note="σ = exp(½·log σ²)")
    noise = m.record("constant", to=mean.axes, name="noise", note="ε, standard normal")
    return m.record("add", mean, m.record("multiply", deviation, noise), name="z", note="z = μ + σ·ε")


def kullback_leibler(loss: Module, mean: Tensor, log_variance: Tensor) -> Tensor:
    """−½ Σ (1 + log σ² − μ² − σ²), the distance of the code's distribution from a standard normal one."""
    squared, variance = loss.record("square", mean), loss.record("exp", log_variance)
    terms = loss.record("subtract", loss.record("subtract", log_variance, squared), variance)
    return loss.record("sum", terms, to=(), over=mean.dims)
