"""A recurrent decoder with attention: one step has all layers and the attention, and is called for every token.

    before    h⟨t−1⟩ → α → c, then the first layer reads x and c
    between   the first layer's h⟨t⟩ → α → c, then the layers above read h and c
    after     the layers, then h⟨t⟩ → α → c and h̃⟨t⟩ = tanh(W_c·[c; h⟨t⟩]); if fed, the next step reads x and h̃

A step cannot begin before the last one ended, so its layers run together, not one after the other over a sequence.
"""

from __future__ import annotations

from archcalc.archs.recurrent.layers import Outcome, at_position, cell_of, handed_over, keep, last_states, title
from archcalc.archs.recurrent.resolve import ResolvedAttention
from archcalc.archs.recurrent.stack import ResolvedStack
from archcalc.core.count import Count
from archcalc.core.ir import Dim, Module, Region, Tensor, axes
from archcalc.layers.dropout import dropped
from archcalc.layers.linear import linear, width_of
from archcalc.layers.recurrent import State
from archcalc.layers.recurrent_attention import Memory, Score, describe
from archcalc.spec.workload import Workload


def run_decoder(
    m: Module,
    x: Tensor,
    encoded: Outcome,
    stack: ResolvedStack,
    attention: ResolvedAttention,
    work: Workload,
    *,
    from_zeros: bool,
) -> Outcome:
    """Over a whole sequence of tokens; from zeros, or from the encoder's last states."""
    batch, seq = x.dims[:2]
    memory = _memory(m, encoded, attention)
    if work.decodes and memory.keys is not memory.states:
        m["keys"].calls = Count(0)  # kept from the first token on
    layers = stack.each_layer
    cells = [(one, cell_of(stack, one.layer)) for one in layers]
    before = [cell.zeros(m, batch) if from_zeros else handed_over(m, encoded, one, cell) for one, cell in cells]
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


def _memory(m: Module, encoded: Outcome, attention: ResolvedAttention) -> Memory:
    batch, seq = encoded.outputs.dims[:2]
    states = encoded.outputs.seen_as(batch, seq, Dim("key", width_of(encoded.outputs.axes[-1])))
    return Score(attention.score, attention.width, bias=attention.bias, normed=attention.normed).over(m, states)


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
