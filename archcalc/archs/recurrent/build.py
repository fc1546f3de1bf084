"""The forward pass of a recurrent net: embeddings, layers, head, and attention from decoder to encoder."""

from __future__ import annotations

from archcalc.archs.recurrent.layers import (
    Outcome,
    Start,
    at_position,
    biases_note,
    cell_of,
    initial,
    keep,
    last_states,
    run_layers,
    state_letter,
    title,
)
from archcalc.archs.recurrent.resolve import Recurrent, ResolvedAttention
from archcalc.archs.recurrent.spec import Head
from archcalc.archs.recurrent.stack import ALONE, ResolvedStack
from archcalc.core.assumptions import Topic, all_on
from archcalc.core.count import Count, total
from archcalc.core.equations import NOW, Symbol
from archcalc.core.ir import Dim, Module, ModuleGroup, Param, Region, Tensor, axes
from archcalc.core.roles import Role
from archcalc.layers.cell_equations import output_equations
from archcalc.layers.dims import sequence_of, vocab_of
from archcalc.layers.dropout import dropped
from archcalc.layers.embedding import look_up, token_table
from archcalc.layers.linear import contract, linear, width_of
from archcalc.layers.loss import cross_entropy
from archcalc.layers.pooling import AttentionPool, pooled
from archcalc.layers.recurrent import State
from archcalc.layers.recurrent_attention import Memory, Score, describe
from archcalc.spec.workload import Workload

_ORDERS = {
    "before": "attention before the step: h⟨t−1⟩ → α → c → h⟨t⟩",
    "after": "attention after the step: h⟨t⟩ → α → c → h̃⟨t⟩",
    "between": "attention between the layers: the first one's h⟨t⟩ → α → c → those above",
}
_ONE_HOT = "one-hot inputs are multiplied like any vectors; reading a column of the matrix instead would take no FLOPs"


def build(model: Recurrent, work: Workload) -> Module:
    """Builds the module tree that all numbers come from."""
    root = Module("model", style=work.style)
    say_conventions(root, model)
    batch = Dim.of("batch", work.batch)
    tables: dict[str, Param] = {}
    made: Outcome | None = None
    for stack, (name, length) in zip(model.stacks, work.lengths.items(), strict=True):
        made = _run_stack(root, stack, batch, sequence_of(name, length), model, tables, made, work)
    assert made
    logits, _ = run_head(root, made, model, tables)
    if logits and work.trains:
        cross_entropy(root, logits)
    return root


def say_conventions(m: Module, model: Recurrent) -> None:
    """Conventions in which textbooks and libraries differ."""
    biases = [biases_note(stack) for stack in model.stacks]
    orders = [_ORDERS[model.attention.when]] if model.attention else []
    inputs = [_ONE_HOT] if any(stack.one_hot for stack in model.stacks) else []
    m.words.notes += all_on(Topic.ARCHITECTURE, [*dict.fromkeys(biases), *orders, *inputs])


def _run_stack(
    root: Module,
    stack: ResolvedStack,
    batch: Dim,
    seq: Dim,
    model: Recurrent,
    tables: dict[str, Param],
    encoded: Outcome | None,
    work: Workload,
) -> Outcome:
    """One stack after its embedding. In a decode step the encoder has already run."""
    first, asked = len(root.body), work.of_encoder() if stack.name == "encoder" or model.pools else work
    x = embedded(root, stack, batch, seq, tables)
    m = root if stack.name == ALONE else root.child(stack.name, group=ModuleGroup.BLOCKS)
    if encoded and model.attention:
        start = encoded if model.handed_over else None
        made = run_attending(m, x, encoded.outputs, stack, model.attention, asked, start)
    else:
        made = run_layers(m, x, stack, asked, start=encoded)
    if work.decodes and stack.name == "encoder":
        for item in root.body[first:]:
            if isinstance(item, Module):
                item.calls = Count(0)
    return made


def embedded(
    root: Module, stack: ResolvedStack, batch: Dim, seq: Dim, tables: dict[str, Param], read: Tensor | None = None
) -> Tensor:
    """What enters the first layer: tokens through a table, or vectors. `read` is what other parts of a model hand over,
    ids or vectors."""
    side = {"encoder": "source", "decoder": "target"}.get(stack.name, "")
    if stack.one_hot:
        prefix, note = f"{side}_".lstrip("_"), "1 in the token's place, 0 elsewhere"
        ids = read or root.record("ids", to=axes(batch, seq), name=f"{prefix}ids")
        wide = axes(batch, seq, Dim.of("vocab", stack.input))
        return root.record("one_hot", ids, to=wide, name=f"{prefix}one_hot", note=note)
    if stack.embedding is None or stack.vocab is None:
        width = Dim.of("input", stack.input)
        to = axes(batch, seq, width)
        return read or root.record("input", to=to, name=side or "input", note="vectors as they come")
    m = root.child(f"{side}_embedding".lstrip("_"), group=ModuleGroup.EMBEDDING)
    ids = read or m.record("ids", to=axes(batch, seq), name="ids")
    first = "shared" if stack.shared else stack.name
    if first not in tables:
        tables[first] = token_table(m["tokens"], vocab_of(stack.vocab), Dim.of("embedding", stack.embedding))
    tables[stack.name] = tables[first]
    return look_up(m["tokens"], ids, tables[first], bias=stack.one_hot_bias)


def run_head(root: Module, made: Outcome, model: Recurrent, tables: dict[str, Param]) -> tuple[Tensor | None, Tensor]:
    """z = W_y·h + b_y: at every position over the vocabulary, or once for the whole sequence over the classes; and what
    comes out: these scores, else what was pooled, else the states."""
    head, stack = model.head, model.stacks[-1]
    if head.kind == "none" and not head.pool:
        return None, made.outputs
    m = root.child("head", group=ModuleGroup.HEAD)
    m.words.about = "" if head.kind == "none" else "z: logits; ŷ = softmax(z)"
    if head.pool:
        x = _read(m, made, head)
        scores = None if head.kind == "none" else _classes(m, x, head, stack)
        return scores, scores or x
    scores = _vocabulary(m, made, model, tables)
    return scores, scores


def _classes(m: Module, x: Tensor, head: Head, stack: ResolvedStack) -> Tensor:
    read = _state(x, stack)
    if any(pool.kind != "each" for pool in head.pool):
        read = Symbol("pooled", shape=read.shape)
    m.words.equations = output_equations(read, head.classes or 0, bias=head.bias)
    return linear(m, x, Dim.of("classes", head.classes or 0), bias=head.bias, role=Role.CLASSIFIER)


def _vocabulary(m: Module, made: Outcome, model: Recurrent, tables: dict[str, Param]) -> Tensor:
    head, stack, vocab = model.head, model.stacks[-1], vocab_of(model.head_vocab)
    m.words.equations = output_equations(_state(made.outputs, stack), int(vocab.size), bias=head.bias)
    if head.kind == "lm":
        return linear(m, made.outputs, vocab, bias=head.bias, role=Role.HEAD)
    table = tables[stack.name]
    batch, seq = made.outputs.dims[:2]
    logits = contract(m, made.outputs.seen_as(batch, seq, table.dims[-1]), table, out=(vocab,))
    return m.record("add", logits, m.param("bias", vocab, role=Role.BIAS)) if head.bias else logits


def _read(m: Module, made: Outcome, head: Head) -> Tensor:
    """What a classifier reads: one vector for the sequence, or one for every position."""
    every: list[Tensor] = []
    for pool in head.pool:
        if pool.kind in ("each", "last"):
            every.append(made.outputs if pool.kind == "each" else made.last(m))
        else:
            every.append(pooled(m, made.outputs, pool.kind, AttentionPool(pool.heads, pool.width, pool.bias)))
    if len(every) == 1:
        return every[0]
    width = Dim("+".join(pool.kind for pool in head.pool), total(width_of(one.axes[-1]) for one in every))
    return m.record("concat", *every, to=axes(every[0].dims[0], width), name="pooled", note="side by side")


def _state(outputs: Tensor, stack: ResolvedStack) -> Symbol:
    """The state at one position, of both directions if there are two."""
    return Symbol(state_letter(stack), time=NOW, shape=(int(width_of(outputs.axes[-1])),))


def run_attending(
    m: Module,
    x: Tensor,
    read: Tensor,
    stack: ResolvedStack,
    attention: ResolvedAttention,
    work: Workload,
    start: Start = None,
) -> Outcome:
    """A stack with attention to the states `read`, over a whole sequence; from zeros, or from other states.

    One step has all layers and the attention, and is called for every token:

        before    h⟨t−1⟩ → α → c, then the first layer reads x and c
        between   the first layer's h⟨t⟩ → α → c, then the layers above read h and c
        after     the layers, then h⟨t⟩ → α → c and h̃⟨t⟩ = tanh(W_c·[c; h⟨t⟩]); if fed, the next step reads x and h̃

    A step cannot begin before the last one ended, so its layers run together, not one after the other over a sequence.
    """
    batch, seq = x.dims[:2]
    states = read.seen_as(*read.dims[:2], Dim("key", width_of(read.axes[-1])))
    score = Score(attention.score, attention.width, bias=attention.bias, normed=attention.normed)
    memory = score.over(m, states)
    if work.decodes and memory.keys is not memory.states:
        m["keys"].calls = Count(0)  # kept from the first token on
    layers = stack.each_layer
    cells = [(one, cell_of(stack, one.layer)) for one in layers]
    before = [initial(m, start, one, cell, batch) for one, cell in cells]
    fed = m.record("zeros", to=axes(batch, Dim.of("fed", attention.query))) if attention.feed else None
    step = m.child("step")
    step.calls, step.region = seq.size, Region.STEP
    out, after = _step(step, at_position(step, x, seq), stack, before, memory, attention, fed, work)
    for into, later in zip(before, after, strict=True):
        for tensor, next_one in zip(into, later, strict=True):
            step.carries.append((tensor, next_one))
    if fed:
        step.carries.append((fed, out))
    if memory.keys is not memory.states:
        describe(m, (m, step["attention"]))
    outputs = m.record("concat", out, to=axes(batch, seq, out.dims[-1]), name="outputs")
    ended = last_states(m, list(zip(layers, after, strict=True)), batch)
    if work.keeps_cache:
        keep(m, ended)
        memory.keep(m)
        if fed:
            m.record("append", out)
    return Outcome(outputs, out, ended)


def _step(
    m: Module,
    x: Tensor,
    stack: ResolvedStack,
    before: list[State],
    memory: Memory,
    attention: ResolvedAttention,
    fed: Tensor | None,
    work: Workload,
) -> tuple[Tensor, list[State]]:
    """The output, and the state of every layer."""
    beside = memory.attend(m["attention"], before[-1][0]) if attention.when == "before" else fed
    out, after = x, []
    for one, state in zip(stack.each_layer, before, strict=True):
        reads = dropped(m, out, stack.dropout, work, "between")
        inputs = (reads, beside) if one.layer.context and beside else (reads,)
        child = m.child(f"layer_{one.first}", title=title(one, stack))
        after.append(cell_of(stack, one.layer).step(child, inputs, state))
        h = after[-1][0]
        out = m.record("add", h, out.seen_as(*h.dims), note="residual") if one.layer.residual else h
        if attention.when == "between" and one.first == 1:
            beside = memory.attend(m["attention"], out)
    if attention.when == "after":
        combine, context = m["combine"], memory.attend(m["attention"], out)
        batch, width = out.dims
        both = Dim("context+hidden", context.dims[-1].size + width.size)
        joined = combine.record("concat", context, out, to=axes(batch, both), name="joined", note="[c; h⟨t⟩]")
        wide = linear(combine, joined, width, bias=attention.bias)
        out = combine.record("tanh", wide, name="h_tilde", note="h̃⟨t⟩ = tanh(W_c·[c; h⟨t⟩])")
    return out, after
