"""A loss in several chunks of the sequence whose logits all stay: only casts to fp32 are made one at a time.

torchtune's head makes a list of chunks; torchtitan's loss takes chunks out of all logits. Either way the graph keeps
what each chunk's loss has saved until the backward pass.
Source: torchtune, TransformerDecoder.chunked_output and CEWithChunkedOutputLoss; LinearCrossEntropyLoss keeps the same.
torchtitan's pull request 996, chunked_cross_entropy_loss.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Module, Op, Tensor, walk
from archcalc.core.tree import ops_in
from archcalc.run.code.chunks import Chunk, divided, entropy_of, head_and_loss, sequence
from archcalc.run.code.losses import log_likelihood
from archcalc.run.code.writing import WIDE, end_of_scope


def chunk_loss(root: Module, number: int, *, by_head: bool, is_compiled: bool) -> None:
    """`by_head`: the head makes each chunk by itself. A compiled loss stays one op, which the compiler fuses."""
    found = head_and_loss(root)
    if found:
        head, loss = found
        _divide(head, loss, number, by_head=by_head, is_compiled=is_compiled)


def copy_hidden(root: Module, *, narrow: bool) -> None:
    """Chunks of what the head reads are copies, of which each goes back before the next is read; their gradients are
    put together in fp32. Source: torchtitan since April 2026, ChunkedLossWrapper and GradAccumulator."""
    found = head_and_loss(root)
    if not found:
        return
    head, _ = found
    hidden = next(ops_in(head)).inputs[0]
    seen, copied = Tensor(hidden.axes, WIDE if narrow else hidden.role), Tensor(hidden.axes, hidden.role)
    for module, _ in walk(head):
        module.body[:] = [_reading(item, hidden, copied) for item in module.body]
    head.body[:0] = [Op("seen", (hidden,), seen), Op("copy", (seen,), copied)]


def pack_hidden(root: Module, *, narrow: bool) -> None:
    """Rows with a label are copied to the front; each chunk of them is multiplied with an fp32 copy of the head.
    Source: TRL of July 2026, _chunked_cross_entropy_loss and _chunk in trl/trainer/sft_trainer.py."""
    found = head_and_loss(root)
    if not found:
        return
    head, _ = found
    product = next(op for op in ops_in(head) if op.traits.contraction)
    hidden, weight, *_ = product.inputs
    rows, packed, wide = Tensor(hidden.axes, hidden.role), Tensor(hidden.axes, hidden.role), Tensor(weight.axes, WIDE)
    for module, _ in walk(head):
        module.body[:] = [_reading(item, hidden, packed) for item in module.body]
        if narrow:
            module.body[:] = [_reading(item, weight, wide) for item in module.body]
    order = Tensor(hidden.axes[:-1], "index")
    lines = [Op("copy", (hidden,), rows), Op("constant", (), order), Op("gather", (rows, order), packed)]
    head.body[:0] = [*lines, *([Op("cast", (weight,), wide)] if narrow else [])]


def _reading(item: Op | Module, old: Tensor, new: Tensor) -> Op | Module:
    if isinstance(item, Module):
        return item
    return replace(item, inputs=tuple(new if one is old else one for one in item.inputs))


def _divide(head: Module, loss: Module, number: int, *, by_head: bool, is_compiled: bool) -> None:
    made = list(ops_in(head))
    source = made[0].inputs[0] if by_head else made[-1].output
    length = -(-int(sequence(source).size) // number)
    chunks = [Chunk(size) for size in divided(sequence(source), length)]
    parts = [chunk.part(source) for chunk in chunks]
    if by_head:
        head.body[:] = [op for chunk, part in zip(chunks, parts, strict=True) for op in (part, *map(chunk.copy, made))]
        parts = []
    losses = [op for chunk in chunks for op in _loss(chunk, loss, is_compiled=is_compiled)]
    loss.body[:] = [*parts, *losses, *end_of_scope(*(chunk.tensors[made[-1].output] for chunk in chunks))]


def _loss(chunk: Chunk, loss: Module, *, is_compiled: bool) -> list[Op]:
    """The cast to fp32, if there is one, and cross-entropy."""
    entropy = entropy_of(loss)
    casts = [chunk.copy(op) for op in loss.ops if op is not entropy]
    last = chunk.copy(entropy)
    return [*casts, last] if is_compiled else [*casts, *log_likelihood(last)]
