"""Autoencoders: an encoder and a decoder.

The recursive one merges two neighbours at a time, up a tree; deep and variational ones have fully connected layers, the
latter also the heads of a code that is drawn, and its KL term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from archcalc.core.ir import Dim, Module, ModuleGroup, Param, Region, Role, Tensor, axes
from archcalc.layers.linear import linear
from archcalc.spec.workload import Workload
from archcalc.styles.activations import activated


def linear_autoencoder(m: Module, x: Tensor, hidden: Dim, *, bias: bool) -> Tensor:
    """x̂ = W2·W1·x, with a code of `hidden` numbers."""
    m["encoder"].words.about, m["decoder"].words.about = "the code", "the reconstruction"
    code = linear(m["encoder"], x, hidden, bias=bias)
    return linear(m["decoder"], code, x.axes[-1], bias=bias)


@dataclass(frozen=True)
class Merge:
    """One merge of two neighbours: p = tanh(W1·[left; right] + b1), rebuilt by W2 and classified by W3.

    The parent takes the place of the two, so the same merge goes up the tree until one vector is left.
    """

    hidden: int
    classes: int | None
    bias: bool

    def run(self, m: Module, words: Tensor, work: Workload) -> Tensor:
        batch, seq, width = words.dims
        one, pair = axes(batch, width), axes(batch, Dim.of(f"2·{width.name}", 2 * int(width.size)))
        left = m.record("view", words, to=one, select=(seq,), name="left", note="a word, or an earlier parent")
        right = m.record("view", words, to=one, select=(seq,), name="right", note="its neighbour")
        children = m.record("concat", left, right, to=pair, name="children", note="[left; right]")
        code = linear(m["parent"], children, Dim.of("hidden", self.hidden), bias=self.bias)
        parent = activated(m["parent"], code, "tanh")
        b1, b2 = (" + b1", " + b2") if self.bias else ("", "")
        m["parent"].words.about, m["reconstruction"].words.about = f"p = tanh(W1·[left; right]{b1})", f"W2·p{b2}"
        m.carries.append((left, parent))
        rebuilt = linear(m["reconstruction"], parent, children.axes[-1], bias=self.bias)
        logits = None
        if self.classes:
            classifier = m.child("classifier", group=ModuleGroup.HEAD)
            classifier.words.about = "W3·p + b3" if self.bias else "W3·p"
            classes = Dim.of("classes", self.classes)
            logits = linear(classifier, parent, classes, bias=self.bias, role=Role.CLASSIFIER)
        if work.trains:  # the loss of every merge: reconstruction error and classification error
            loss = m.section(Region.LOSS)
            loss.record("squared_error", rebuilt, children, to=())
            if logits:
                loss.record("cross_entropy", logits, Tensor(logits.axes[:-1], "index"), to=())
        return parent


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
