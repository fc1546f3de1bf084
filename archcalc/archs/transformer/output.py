"""What stands behind the last block: the head, and what leads to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from archcalc.archs.transformer.parts.part import normed
from archcalc.ir import Dim, Module, Param, Tensor, axes
from archcalc.layers.linear import contract, linear

if TYPE_CHECKING:
    from archcalc.archs.transformer.resolve import ResolvedStack, Transformer


def run_head(root: Module, x: Tensor, model: Transformer, tables: dict[str, Param]) -> Tensor | None:
    head, stack = model.head, model.stacks[-1]
    if stack.tables.projects and stack.tables.project == "tokens":
        out = root.child("projection", group="embedding", title="projection to the tables' width")
        x = linear(out, x, stack.tables.dim, bias=stack.tables.project_bias)
    if head.kind == "none":
        if head.pooler:
            _pooler(root.child("pooler", group="head"), x, model)
        return None
    m = root.child("head", group="head")
    return _classes(m, x, model) if head.kind == "classifier" else _vocabulary(m, x, model, tables)


def _vocabulary(m: Module, x: Tensor, model: Transformer, tables: dict[str, Param]) -> Tensor:
    head, stack = model.head, model.stacks[-1]
    x = _transformed(m["transform"], x, model, stack.tables.dim) if head.transform else x
    assert model.head_vocab
    vocab = Dim.of("vocab", model.head_vocab)
    if head.kind == "lm":
        logits = linear(m, x, vocab, bias=bool(head.bias))
    else:
        logits = contract(m, x, tables[stack.name], out=(vocab,))
        logits = m.record("add", logits, m.param("bias", vocab)) if head.bias else logits
    if head.bias == "twice":
        m["spare_bias"].title = m["spare_bias"].term = "spare bias (kept, read by nothing)"
        m["spare_bias"].param("bias", vocab)
    return logits


def _classes(m: Module, x: Tensor, model: Transformer) -> Tensor:
    head, stack = model.head, model.stacks[-1]
    x = _pooler(m["pooler"], x, model) if head.pooler else _pooled(m, x, head.pool or "each", stack)
    if head.hidden:
        x = m.record("tanh", linear(m["hidden"], x, Dim.of("hidden", head.hidden)))
    x = _transformed(m["transform"], x, model, x.dims[-1]) if head.transform else x
    return linear(m, x, Dim.of("classes", head.classes or 0), bias=bool(head.bias))


def _pooler(m: Module, x: Tensor, model: Transformer) -> Tensor:
    """A layer on the first position, as wide as the model unless its width is said."""
    first = _pooled(m, x, model.head.pool or "class", model.stacks[-1])
    width = first.dims[-1].size if model.head.pooler is True else model.head.pooler
    return m.record("tanh", linear(m, first, Dim.of("pooled", width)))


def _pooled(m: Module, x: Tensor, pool: str, stack: ResolvedStack) -> Tensor:
    """One vector for each sequence: of one position, or the mean; of an image without what stands in front."""
    batch, _, d_model = x.dims
    if pool == "each":
        return x
    if pool == "both":
        both = [_pooled(m, x, one, stack) for one in ("class", "mean")]
        wide = axes(batch, Dim("class_and_mean", 2 * d_model.size))
        return m.record("concat", *both, to=wide, name="pooled", note="side by side")
    if pool != "mean":
        note = "the last position" if pool == "last" else "the class token" if stack.patches else "the first position"
        return m.record("view", x, to=axes(batch, d_model), name="pooled", note=note)
    if stack.patches:
        x = m.record("view", x, to=axes(batch, Dim.of("patches", stack.patches.number), d_model))
    note = f"the mean over {'patches' if stack.patches else 'positions'}"
    return m.record("sum", x, to=axes(batch, d_model), over=(x.dims[1],), name="pooled", note=note)


def _transformed(m: Module, x: Tensor, model: Transformer, width: Dim) -> Tensor:
    """A dense layer, an activation and a norm, as wide as the table that follows."""
    out = width.renamed("hidden")
    hidden = linear(m["dense"], x, out, bias=model.head.transform_bias)
    hidden = m.record("activation", hidden, note="gelu").seen_as(*x.axes[:-1], width)
    return normed(m["norm"], hidden, model.stacks[-1].norm)
