"""Autoencoders: an encoder and a decoder; the recursive one merges two neighbours at a time, up a tree."""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.core.ir import Dim, Module, ModuleGroup, Region, Role, Tensor, axes
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
