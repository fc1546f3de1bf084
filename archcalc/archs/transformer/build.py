"""The Transformer's forward pass, written once: embeddings, stacks of blocks, head."""

from __future__ import annotations

from archcalc.archs.transformer.block import run_block
from archcalc.archs.transformer.embed import embed
from archcalc.archs.transformer.parts.part import Context, normed
from archcalc.archs.transformer.pattern import Group, Items, Line
from archcalc.archs.transformer.resolve import ResolvedStack, Transformer
from archcalc.count import Count
from archcalc.ir import Dim, Module, Param, Tensor, axes
from archcalc.layers.dropout import dropped
from archcalc.layers.linear import contract, linear
from archcalc.layers.loss import cross_entropy
from archcalc.workload import Workload


def build(model: Transformer, work: Workload) -> Module:
    root = Module("model")
    batch = Dim.of("batch", work.batch)
    tables: dict[str, Param] = {}
    x, memory = None, None
    for stack, (name, length) in zip(model.stacks, work.lengths.items(), strict=True):
        side = {"src_seq": "source_", "tgt_seq": "target_"}.get(name, "")
        m = root.child(f"{side}embedding", group="embedding")
        blocks = root.child(stack.name, group="blocks")
        asked = work.of_encoder() if stack.name == "encoder" else work
        if work.decodes and not asked.decodes:
            m.calls = blocks.calls = Count(0)  # the encoder ran before the first token
        embedded = embed(m, batch, Dim.of(name, length), stack, tables, asked)
        x = run_stack(blocks, embedded, memory, stack, asked)
        memory = x
    assert x is not None
    logits = run_head(root, x, model, tables)
    if logits and work.trains:
        cross_entropy(root, logits)
    return root


def run_stack(m: Module, x: Tensor, memory: Tensor | None, stack: ResolvedStack, work: Workload) -> Tensor:
    context = Context(memory, work=work)
    context.prepared.update({word: part.prepare(m, x, context) for word, part in stack.parts.items()})
    x = _run_items(m, stack.items, x, context, stack)
    final = stack.norm.final if stack.norm.final is not None else stack.norm.place != "post"
    x = normed(m["norm"], x, stack.norm) if final else x
    return dropped(m, x, stack.dropout, work) if final else x


def _run_items(m: Module, items: Items, x: Tensor, context: Context, stack: ResolvedStack) -> Tensor:
    for index, item in enumerate(items):
        child = m.child(_item_name(items, index), repeat=Count.named(f"{stack.name} blocks", item.times))
        if isinstance(item, Group):
            child.title, child.term = "period", f"{stack.name} period"
            out = _run_items(child, item.items, x, context, stack)
        else:
            child.title = "block" if len(items) == 1 else f"{' '.join(item.words)} block"
            child.term = f"{stack.name} {child.title}"
            child.unit = "block"
            out = run_block(child, x, context, [stack.parts[word] for word in item.words], stack.parallel)
        child.carry(x, out)
        x = out
    return x


def _item_name(items: Items, index: int) -> str:
    """`blocks` where all are equal; else the parts' names, counted where the same line stands twice."""
    if len(items) == 1:
        return "blocks"
    names = ["-".join(item.words) if isinstance(item, Line) else "period" for item in items]
    earlier = names[:index].count(names[index])
    return f"{names[index]}-{earlier + 1}" if earlier else names[index]


def run_head(root: Module, x: Tensor, model: Transformer, tables: dict[str, Param]) -> Tensor | None:
    head, stack = model.head, model.stacks[-1]
    if head.kind == "none":
        return None
    m = root.child("head", group="head")
    if head.kind == "classifier":
        x = _pooled(m, x, head.pool or "each", stack)
        return linear(m, x, Dim.of("classes", head.classes or 0), bias=head.bias)
    x = _transformed(m["transform"], x, stack) if head.transform else x
    assert model.head_vocab
    vocab = Dim.of("vocab", model.head_vocab)
    if head.kind == "lm":
        return linear(m, x, vocab, bias=head.bias)
    logits = contract(m, x, tables[stack.name], out=(vocab,))
    return m.record("add", logits, m.param("bias", vocab)) if head.bias else logits


def _pooled(m: Module, x: Tensor, pool: str, stack: ResolvedStack) -> Tensor:
    """One vector for each sequence: one position's, or the mean, of an image without what stands in front."""
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
