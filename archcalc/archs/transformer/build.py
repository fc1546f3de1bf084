"""The Transformer's forward pass, written once: embeddings, stacks of blocks, head."""

from __future__ import annotations

from archcalc.archs.transformer.block import run_block
from archcalc.archs.transformer.embed import embed
from archcalc.archs.transformer.output import run_head
from archcalc.archs.transformer.parts.attention_part import AttentionPart
from archcalc.archs.transformer.parts.part import Context, normed, own_or
from archcalc.archs.transformer.pattern import Group, Items, Line, blocks_of
from archcalc.archs.transformer.resolve import ResolvedStack, Transformer
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import Count
from archcalc.core.ir import Dim, Module, ModuleGroup, Param, Region, Tensor
from archcalc.core.roles import Role
from archcalc.layers.dims import sequence_of
from archcalc.layers.dropout import dropped
from archcalc.layers.loss import cross_entropy
from archcalc.spec.workload import Workload


def build(model: Transformer, work: Workload) -> Module:
    root, batch = Module("model", style=work.style), Dim.of("batch", work.batch)
    tables: dict[str, Param] = {}
    x: Tensor | None = None
    for stack, (name, length) in zip(model.stacks, work.lengths.items(), strict=True):
        side = {"src_seq": "source_", "tgt_seq": "target_"}.get(name, "")
        m = root.child(f"{side}embedding", group=ModuleGroup.EMBEDDING)
        blocks = root.child(stack.name, group=ModuleGroup.BLOCKS)
        asked = work.of_encoder() if stack.name == "encoder" else work
        if work.decodes and not asked.decodes:
            m.calls = blocks.calls = Count(0)  # the encoder ran before the first token
        context = Context(asked, memory=x)
        x = embed(m, batch, sequence_of(name, length), stack, tables, asked)
        for word, part in stack.parts.items():
            if isinstance(part, AttentionPart):
                context.prepared[word] = part.prepare(blocks, x, context)
        if stack.once:
            x = run_block(blocks.child("once", title="once"), x, context, [stack.parts[word] for word in stack.once])
        x = _run_items(blocks, stack.items, x, context, stack)
        if own_or(stack.norm.final, stack.norm.place != "post"):
            x = dropped(blocks, normed(blocks["norm"], x, stack.norm), stack.dropout, asked, "final")
    assert x is not None
    _end(root, x, model, tables, work)
    return root


def _end(root: Module, x: Tensor, model: Transformer, tables: dict[str, Param], work: Workload) -> None:
    """What stands behind the last block: heads, further tokens, parameters that nothing reads, the losses."""
    answers = run_head(root, x, model, tables, work)
    if model.head.mtp:
        from archcalc.archs.transformer.mtp import predict_further

        predict_further(root, x, model, tables, work)
    if model.spare:
        m = root["spare"]
        m.words.title = m.words.term = "spare (stored, never used)"
        for name, sizes in model.spare.items():
            m.param(name, *(Dim.of(f"axis_{axis}", size) for axis, size in enumerate(sizes)), role=Role.SPARE)
    for place, logits in answers.items() if work.trains else ():
        cross_entropy(place, logits)


def _run_items(m: Module, items: Items, x: Tensor, context: Context, stack: ResolvedStack) -> Tensor:
    """Blocks are called `blocks` if all are equal; else by their parts, numbered if the same line occurs twice."""
    names = ["-".join(item.words) if isinstance(item, Line) else "period" for item in items]
    for index, item in enumerate(items):
        earlier = names[:index].count(names[index])
        name = f"{names[index]}-{earlier + 1}" if earlier else names[index]
        child = m.child("blocks" if len(items) == 1 else name, repeat=Count.named(f"{stack.name} blocks", item.times))
        if isinstance(item, Group):
            child.words.title, child.words.term = "period", f"{stack.name} period"
            out = _run_items(child, item.items, x, context, stack)
        else:
            child.words.title = "block" if len(items) == 1 else f"{' '.join(item.words)} block"
            child.words.term = f"{stack.name} {child.words.title}"
            child.region = Region.BLOCK
            if item.calls != 1:
                child.calls = Count.named("calls", item.calls)
            if stack.distinct and not m.words.notes:
                m.words.notes.append(_sharing(stack, stack.distinct))
            out = run_block(child, x, context, [stack.parts[word] for word in item.words], stack.parallel)
        child.carries.append((x, out))
        if child.calls:  # blocks that are kept and never called hand nothing on
            x = out
    return x


def _sharing(stack: ResolvedStack, distinct: int) -> Assumption:
    """Blocks that use the same weights are one copy, called several times."""
    blocks = blocks_of(stack.items)
    several = f"{distinct} {'set' if distinct == 1 else 'sets'} of weights for {blocks} blocks"
    spare = f", {distinct - blocks} of them stored but never used" if distinct > blocks else ""
    return Assumption(Topic.ARCHITECTURE, f"{stack.name}: {several}{spare}", distinct)
