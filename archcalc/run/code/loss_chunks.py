"""A loss in several chunks of the sequence, as libraries write it: what of it the tree itself says.

torchtune's head makes a list of chunks; torchtitan's loss takes chunks out of all logits. Either way the graph keeps
what each chunk's loss has saved until the backward pass, and only casts to fp32 are made one at a time. Where each
chunk's logits are freed before the next, the head reads a copy of the hidden states (`archcalc.analyze.memory.passes`).
Source: torchtune, TransformerDecoder.chunked_output and CEWithChunkedOutputLoss; LinearCrossEntropyLoss keeps the same.
torchtitan's pull request 996, chunked_cross_entropy_loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from archcalc.core.ir import Module, Op, Tensor, walk
from archcalc.core.tree import ops_in
from archcalc.run.code.chunks import Chunk, divided, head_and_loss, log_likelihood, sequence
from archcalc.run.code.library import PLAIN
from archcalc.run.resolved import Run
from archcalc.run.style import is_narrow
from archcalc.spec.traces import Change
from archcalc.styles.steps import WIDE


def loss_in_chunks(run: Run) -> Iterator[Change]:
    """The change that the code's way of it makes to a traced model, if any."""
    way = run.code.habits.loss_chunks
    if run.loss_chunks == 1 or run.code.name == PLAIN:
        return
    if way == "backward":
        yield CopiedHidden(is_narrow(run))
    if way == "packed":
        yield PackedHidden(is_narrow(run))
    if way in ("list", "views"):
        yield LossInChunks(run.loss_chunks, by_head=way == "list", is_compiled=run.compile == "all")


@dataclass(frozen=True)
class CopiedHidden:
    """Chunks of what the head reads are copies, of which each goes back before the next is read; their gradients are
    put together in fp32. Source: torchtitan since April 2026, ChunkedLossWrapper and GradAccumulator."""

    narrow: bool

    def __call__(self, root: Module) -> None:
        found = head_and_loss(root)
        if not found:
            return
        head, _ = found
        hidden = next(ops_in(head)).inputs[0]
        seen, copied = Tensor(hidden.axes, WIDE if self.narrow else hidden.role), Tensor(hidden.axes, hidden.role)
        _read_instead(head, {hidden: copied})
        head.body[:0] = [Op("seen", (hidden,), seen), Op("copy", (seen,), copied)]


@dataclass(frozen=True)
class PackedHidden:
    """Rows with a label are copied to the front; each chunk of them is multiplied with an fp32 copy of the head.
    Source: TRL of July 2026, _chunked_cross_entropy_loss and _chunk in trl/trainer/sft_trainer.py."""

    narrow: bool

    def __call__(self, root: Module) -> None:
        found = head_and_loss(root)
        if not found:
            return
        head, _ = found
        product = next(op for op in ops_in(head) if op.traits.contraction)
        hidden, weight, *_ = product.inputs
        rows, packed = Tensor(hidden.axes, hidden.role), Tensor(hidden.axes, hidden.role)
        wide = Tensor(weight.axes, WIDE)
        _read_instead(head, {hidden: packed, weight: wide} if self.narrow else {hidden: packed})
        order = Tensor(hidden.axes[:-1], "index")
        lines = [Op("copy", (hidden,), rows), Op("constant", (), order), Op("gather", (rows, order), packed)]
        head.body[:0] = [*lines, *([Op("cast", (weight,), wide)] if self.narrow else [])]


def _read_instead(head: Module, others: dict[Tensor, Tensor]) -> None:
    """Other tensors in the place of some, for all ops of the head."""
    for module, _ in walk(head):
        for place, item in enumerate(module.body):
            if isinstance(item, Op):
                module.body[place] = replace(item, inputs=tuple(others.get(one, one) for one in item.inputs))


@dataclass(frozen=True)
class LossInChunks:
    """`by_head`: the head makes each chunk by itself. A compiled loss stays one op, which the compiler fuses."""

    number: int
    by_head: bool
    is_compiled: bool

    def __call__(self, root: Module) -> None:
        found = head_and_loss(root)
        if found:
            self._divide(*found)

    def _divide(self, head: Module, loss: Module) -> None:
        made = list(ops_in(head))
        source = made[0].inputs[0] if self.by_head else made[-1].output
        length = -(-int(sequence(source).size) // self.number)
        chunks = [Chunk(size) for size in divided(sequence(source), length)]
        parts = [chunk.part(source) for chunk in chunks]
        if self.by_head:
            pairs = zip(chunks, parts, strict=True)
            head.body[:] = [op for chunk, part in pairs for op in (part, *map(chunk.copy, made))]
            parts = []
        loss.body[:] = [*parts, *(op for chunk in chunks for op in self._loss(chunk, loss.ops))]

    def _loss(self, chunk: Chunk, ops: tuple[Op, ...]) -> list[Op]:
        """The cast to fp32, if there is one, and cross-entropy."""
        *casts, last = (chunk.copy(op) for op in ops)
        logits, targets = last.inputs
        return [*casts, last] if self.is_compiled else [*casts, *log_likelihood(logits, targets)]
