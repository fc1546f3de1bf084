"""The Transformer's forward pass, written once: embeddings, stacks of blocks, head."""

from __future__ import annotations

from dataclasses import dataclass, replace

from archcalc.archs.transformer.block import run_block
from archcalc.archs.transformer.context import Context
from archcalc.archs.transformer.output import Answer, run_head
from archcalc.archs.transformer.parts.part import normed, own_or
from archcalc.archs.transformer.pattern import Group, Items, Line, blocks_of
from archcalc.archs.transformer.resolve import ResolvedStack, Transformer
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import Count
from archcalc.core.ir import Dim, Module, ModuleGroup, Param, Region, Tensor, axes
from archcalc.core.roles import Role
from archcalc.layers.dims import sequence_of, vocab_of
from archcalc.layers.dropout import dropped
from archcalc.layers.embedding import add_types, join_tables, look_up, token_table
from archcalc.layers.linear import linear
from archcalc.layers.loss import cross_entropy
from archcalc.layers.patches import Patches, cut, learned_vectors, project, put_in_front
from archcalc.layers.residuals import keep_weights
from archcalc.layers.streams import joined, spread
from archcalc.layers.windowed import by_windows
from archcalc.spec.node import as_tuple
from archcalc.spec.workload import Workload

SPARE = "spare table (stored, never used)"  # BART stores the shared one even if encoder and decoder do not use it


@dataclass(frozen=True)
class Read:
    """What a stack reads: an input of its own; inside a larger model what other parts hand over: `raw` is an input that
    several may read (ids, an image, frames of audio), `vectors` are positions that stand before those."""

    batch: Dim
    seq: Dim
    raw: Tensor | None = None
    vectors: tuple[Tensor, ...] = ()


def build(model: Transformer, work: Workload) -> Module:
    root, batch = Module("model", style=work.style), Dim.of("batch", work.batch)
    tables: dict[str, Param] = {}
    x: Tensor | None = None
    for stack, (name, length) in zip(model.stacks, work.lengths.items(), strict=True):
        side = {"src_seq": "source_", "tgt_seq": "target_"}.get(name, "")
        asked = work.of_encoder() if stack.name == "encoder" else work
        x = run_stack(root, side, stack, Read(batch, sequence_of(name, length)), tables, Context(asked, memory=x))
        if work.decodes and not asked.decodes:  # the encoder ran before the first token
            root[f"{side}embedding"].calls = root[stack.name].calls = Count(0)
    assert x is not None
    answer = run_end(root, x, model, tables, work)
    for place, logits in answer.logits.items() if work.trains else ():
        cross_entropy(place, logits)
    return root


def run_stack(
    root: Module, side: str, stack: ResolvedStack, read: Read, tables: dict[str, Param], context: Context
) -> Tensor:
    """One stack from its embedding to the norm behind its last block."""
    m = root.child(f"{side}embedding", group=ModuleGroup.EMBEDDING)
    blocks = root.child(stack.name, group=ModuleGroup.BLOCKS)
    x = _embed(m, read, stack, tables, context.work)
    context = replace(context, ids=read.raw or _entered(m), items=stack.items)
    for word, part in stack.parts.items():
        if part.is_embedding:
            place = root.child(f"{side}{word}_embedding", group=ModuleGroup.EMBEDDING)
            context.prepared[word] = part.prepare(place, x, context)
    return run_blocks(blocks, x, context, stack)


def run_blocks(m: Module, x: Tensor, context: Context, stack: ResolvedStack) -> Tensor:
    """Its blocks, and the norm behind the last."""
    context = replace(context, items=stack.items)
    for word, part in stack.parts.items():
        if not part.is_embedding:
            context.prepared[word] = part.prepare(m, x, context)
    if stack.once:
        x = run_block(m.child("once", title="once"), x, context, [stack.parts[word] for word in stack.once])
    if stack.streams:
        x = spread(m, x, stack.streams.number or 1)
    x = _run_items(m, stack.items, x, context, stack)
    if stack.streams:
        x = joined(m["streams"], x)
    if stack.residual_attention:
        keep_weights(m, ("output",), x.dims[-1])
    if own_or(stack.norm.final, stack.norm.place != "post"):
        return dropped(m, normed(m["norm"], x, stack.norm), stack.dropout, context.work, "final")
    return x


def _entered(m: Module) -> Tensor | None:
    """What an embedding reads that nothing in the model made."""
    return next((op.output for op in m.ops if op.traits.enters), None)


def run_end(root: Module, x: Tensor, model: Transformer, tables: dict[str, Param], work: Workload) -> Answer:
    """What stands behind the last block: heads, further tokens, parameters that nothing reads."""
    answer = run_head(root, x, model, tables, work)
    if model.head.mtp:
        from archcalc.archs.transformer.mtp import predict_further

        predict_further(root, x, model, tables, work)
    if model.spare:
        m = root["spare"]
        m.words.title = m.words.term = "spare (stored, never used)"
        for name, sizes in model.spare.items():
            m.param(name, *(Dim.of(f"axis_{axis}", size) for axis, size in enumerate(sizes)), role=Role.SPARE)
    return answer


def _run_items(m: Module, items: Items, x: Tensor, context: Context, stack: ResolvedStack) -> Tensor:
    """Blocks are called `blocks` if all are equal; else by their parts, numbered if the same line occurs twice."""
    names = ["-".join(item.words) if isinstance(item, Line) else "period" for item in items]
    rounds = stack.streams.rounds if stack.streams else 0
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
            out = run_block(child, x, context, [stack.parts[word] for word in item.words], stack.parallel, rounds)
            if stack.residual_attention:
                keep_weights(child, item.words, x.dims[-1])
            if stack.block_scale:
                out = child.record("multiply", out, child.buffer("scale"), name="scaled")
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


def _embed(m: Module, read: Read, stack: ResolvedStack, tables: dict[str, Param], work: Workload) -> Tensor:
    """The input of a stack: token or patch embeddings, or vectors as they come; then positions, a norm, dropout.

    `tables` are the token embeddings so far, for a shared embedding and a tied head."""
    seq = read.seq
    if stack.patches:
        x = _embed_image(m, read, stack, stack.patches)
    elif stack.audio:
        from archcalc.layers.audio import listen

        x = listen(m, read.raw, read.batch, seq, Dim.of("d_model", stack.d_model), stack.audio)
    elif stack.embedding.kind == "vectors":
        x = _embed_vectors(m, read, stack)
    else:
        x = _embed_tokens(m, read, stack, tables)
    for position in stack.positions:
        if position.on_embedding:
            x = position.add_to(m, x, stack.patches)
    if (stack.patches and stack.patches.mask) or (stack.audio and stack.audio.mask):
        learned_vectors(m["mask_token"], 1, x.dims[-1])  # kept for pre-training: nothing is hidden here
    if stack.patches and stack.patches.registers:  # which have no positions
        x = put_in_front(m["registers"], x, stack.patches.registers, seq)
    if stack.windows:
        x = by_windows(m, x)
    projected = stack.tables.project if stack.tables.projects else ""
    if projected == "sum":
        x = _projected(m, x, stack)
    if stack.embedding.norm:
        x = normed(m["norm"], x, stack.norm)
    if projected == "norm":
        x = _projected(m, x, stack)
    return dropped(m, x, stack.dropout, work, "embedding")


def _projected(m: Module, x: Tensor, stack: ResolvedStack) -> Tensor:
    """From the width of the tables to d_model."""
    return linear(m["projection"], x, Dim.of("d_model", stack.d_model), bias=stack.tables.project_bias)


def _embed_vectors(m: Module, read: Read, stack: ResolvedStack) -> Tensor:
    """Positions that come as vectors, those of several parts one behind the other."""
    to = axes(read.batch, read.seq, Dim.of("d_model", stack.d_model))
    if not read.vectors:
        return m.record("input", to=to, name="input", note="vectors as they come")
    if len(read.vectors) == 1:
        return read.vectors[0].seen_as(*to)
    return m.record("concat", *read.vectors, to=to, name="joined", note="one behind the other")


def _embed_tokens(m: Module, read: Read, stack: ResolvedStack, tables: dict[str, Param]) -> Tensor:
    ids = read.raw or m.record("ids", to=axes(read.batch, read.seq), name="ids")
    first = "shared" if stack.embedding.shared else stack.name
    if first not in tables:
        assert stack.vocab
        tables[first] = token_table(m["tokens"], vocab_of(stack.vocab), stack.tables.dim)
        if stack.embedding.spare and "spare" not in tables:
            m["spare"].words.title = m["spare"].words.term = SPARE
            tables["spare"] = token_table(m["spare"], *tables[first].dims)
    tables[stack.name] = tables[first]
    if stack.embedding.bias:
        m.record("show", to=axes(*ids.dims, tables[first].dims[0]), name="one_hot", note="what one-hot · W + b reads")
    x = look_up(m["tokens"], ids, tables[first], bias=bool(stack.embedding.bias))
    if stack.embedding.joined:
        x = join_tables(m, x, stack.embedding.joined)
    if stack.tables.projects and stack.tables.project == "tokens":
        x = _projected(m, x, stack)
    for index, rows in enumerate(rows for rows in as_tuple(stack.embedding.types) if rows):
        x = add_types(m[f"types_{index + 1}" if index else "types"], x, rows)
    if not read.vectors:
        return x
    to = axes(read.batch, read.seq, x.dims[-1])
    return m.record("concat", *read.vectors, x, to=to, name="joined", note="other parts' positions, then the tokens")


def _embed_image(m: Module, read: Read, stack: ResolvedStack, patches: Patches) -> Tensor:
    """Projected patches after the learned tokens."""
    batch, d_model = read.batch, Dim.of("d_model", stack.d_model)
    x = project(m["projection"], cut(m, batch, patches, read.raw), d_model, bias=patches.bias)
    placed = Dim.of("placed", patches.positions) if patches.registers else read.seq
    if patches.tokens:
        m["tokens"].words.title = "class token" if patches.tokens == 1 else f"{patches.tokens} tokens in front"
        return put_in_front(m["tokens"], x, patches.tokens, placed)
    return x.seen_as(batch, placed, d_model)
