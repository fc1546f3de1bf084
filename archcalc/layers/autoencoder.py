"""Autoencoders: a code, and what it is rebuilt into; for two neighbours at once, up a tree, the recursive one."""

from __future__ import annotations

from archcalc.core.ir import Dim, Module, ModuleGroup, Region, Tensor, axes
from archcalc.layers.linear import linear


def linear_autoencoder(m: Module, x: Tensor, hidden: Dim, *, bias: bool) -> Tensor:
    """x̂ = W2·W1·x: `hidden` numbers stand for the whole input."""
    code = linear(m["encoder"], x, hidden, bias=bias)
    return linear(m["decoder"], code, x.axes[-1], bias=bias)


def merge(m: Module, words: Tensor, hidden: Dim, classes: int | None, *, bias: bool, trains: bool) -> Tensor:
    """One merge of two neighbours: p = tanh(W1·[left; right] + b1), rebuilt by W2 and classified by W3.

    The parent takes the place of the two, so the same merge goes up the tree until one vector is left.
    """
    batch, seq, width = words.dims
    one = axes(batch, width)
    left = m.record("view", words, to=one, select=(seq,), name="left", note="a word, or an earlier parent")
    right = m.record("view", words, to=one, select=(seq,), name="right", note="its neighbour")
    pair = Dim.of(f"2·{width.name}", 2 * int(width.size))
    children = m.record("concat", left, right, to=axes(batch, pair), name="children", note="[left; right]")
    parent = m["parent"].record("activation", linear(m["parent"], children, hidden, bias=bias), note="tanh")
    m.carry(left, parent)
    rebuilt = linear(m["reconstruction"], parent, pair, bias=bias)
    logits = _classified(m, parent, classes, bias=bias) if classes else None
    if trains:
        _losses(m, children, rebuilt, logits)
    return parent


def _classified(m: Module, parent: Tensor, classes: int, *, bias: bool) -> Tensor:
    return linear(m.child("classifier", group=ModuleGroup.HEAD), parent, Dim.of("classes", classes), bias=bias)


def _losses(m: Module, children: Tensor, rebuilt: Tensor, logits: Tensor | None) -> None:
    """Of every merge: how badly the parent remembers its children, and how badly it is classified."""
    loss = m.as_region(Region.LOSS)
    loss.record("squared_error", rebuilt, children, to=())
    if logits:
        loss.record("cross_entropy", logits, Tensor(logits.axes[:-1], "index"), to=())
