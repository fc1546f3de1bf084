"""The Transformer's forward pass, written once: embeddings, stacks of blocks, head."""

from __future__ import annotations

from archcalc.archs.transformer.embed import embed
from archcalc.archs.transformer.parts.part import Context, Part, normed
from archcalc.archs.transformer.pattern import Group, Items, Line
from archcalc.archs.transformer.resolve import ResolvedStack, Transformer
from archcalc.count import Count
from archcalc.ir import Dim, Module, Param, Tensor, axes
from archcalc.layers.linear import contract, linear
from archcalc.workload import Workload


def build(model: Transformer, work: Workload) -> Module:
    root = Module("model")
    batch = Dim.of("batch", work.batch)
    tables: dict[str, Param] = {}
    x, memory = None, None
    for stack, (name, length) in zip(model.stacks, work.lengths.items(), strict=True):
        side = {"src_seq": "source_", "tgt_seq": "target_"}.get(name, "")
        m = root.child(f"{side}embedding", group="embedding")
        embedded = embed(m, batch, Dim.of(name, length), stack, tables)
        x = run_stack(root.child(stack.name, group="blocks"), embedded, memory, stack)
        memory = x
    assert x is not None
    run_head(root, x, model, tables)
    return root


def run_stack(m: Module, x: Tensor, memory: Tensor | None, stack: ResolvedStack) -> Tensor:
    prepared = {word: part.prepare(m, x) for word, part in stack.parts.items()}
    x = _run_items(m, stack.items, x, Context(memory, prepared), stack)
    final = stack.norm.final if stack.norm.final is not None else stack.norm.place != "post"
    x = normed(m["norm"], x, stack.norm) if final else x
    return m.record("dropout", x) if stack.dropout and final else x


def _run_items(m: Module, items: Items, x: Tensor, context: Context, stack: ResolvedStack) -> Tensor:
    for index, item in enumerate(items):
        child = m.child(_item_name(items, index), repeat=Count.named(f"{stack.name} blocks", item.times))
        if isinstance(item, Group):
            child.title, child.term = "period", f"{stack.name} period"
            x = _run_items(child, item.items, x, context, stack)
        else:
            child.title = "block" if len(items) == 1 else f"{' '.join(item.words)} block"
            child.term = f"{stack.name} {child.title}"
            x = run_block(child, x, context, [stack.parts[word] for word in item.words])
    return x


def _item_name(items: Items, index: int) -> str:
    """`blocks` where all are equal; else the parts' names, counted where the same line stands twice."""
    if len(items) == 1:
        return "blocks"
    names = ["-".join(item.words) if isinstance(item, Line) else "period" for item in items]
    earlier = names[:index].count(names[index])
    return f"{names[index]}-{earlier + 1}" if earlier else names[index]


def run_block(m: Module, x: Tensor, context: Context, parts: list[Part]) -> Tensor:
    """x + part(x) for each part, with the norms where the spec places them."""
    for index, part in enumerate(parts):
        earlier = sum(part.name == other.name for other in parts[:index])
        name = f"{part.name}_{earlier + 1}" if earlier else part.name
        branch = normed(m[f"{name}_norm"], x, part.norm) if part.norm.place in ("pre", "sandwich") else x
        branch = part.run(m[name], branch, context)
        branch = m.record("dropout", branch) if part.dropout else branch
        if part.norm.place in ("out", "sandwich"):
            branch = normed(m[f"{name}_norm_out"], branch, part.norm)
        post = part.norm.place == "post"
        x = m.record("add", x, branch, name="" if post else f"{name}_add", note="" if post else "residual")
        if post:
            m[f"{name}_norm"].title = "Add & Norm"
            x = normed(m[f"{name}_norm"], x, part.norm)
    return x


def run_head(root: Module, x: Tensor, model: Transformer, tables: dict[str, Param]) -> None:
    head, stack = model.head, model.stacks[-1]
    if head.kind == "none":
        return
    m = root.child("head", group="head")
    if head.kind == "classifier":
        x = _pooled(m, x, head.pool or "each", stack)
        linear(m, x, Dim.of("classes", head.classes or 0), bias=head.bias)
        return
    x = _transformed(m["transform"], x, stack) if head.transform else x
    assert model.head_vocab
    vocab = Dim.of("vocab", model.head_vocab)
    if head.kind == "lm":
        linear(m, x, vocab, bias=head.bias)
        return
    logits = contract(m, x, tables[stack.name], out=(vocab,))
    if head.bias:
        m.record("add", logits, m.param("bias", vocab))


def _pooled(m: Module, x: Tensor, pool: str, stack: ResolvedStack) -> Tensor:
    """One vector for each sequence: of one position, or the mean, of an image's patches without what stands in front."""
    batch, _, d_model = x.dims
    if pool == "each":
        return x
    if pool != "mean":
        note = "the last position" if pool == "last" else "the class token" if stack.patches else "the first position"
        return m.record("view", x, to=axes(batch, d_model), name="pooled", note=note)
    if stack.patches:
        x = m.record("view", x, to=axes(batch, Dim.of("patches", stack.patches.number), d_model))
    note = f"the mean over {'patches' if stack.patches else 'positions'}"
    return m.record("sum", x, to=axes(batch, d_model), over=(x.dims[1],), name="pooled", note=note)


def _transformed(m: Module, x: Tensor, stack: ResolvedStack) -> Tensor:
    d_model = x.dims[-1]
    hidden = linear(m["dense"], x, d_model.renamed("hidden"))
    hidden = m.record("activation", hidden, note="gelu").seen_as(*x.dims)
    return normed(m["norm"], hidden, stack.norm)
