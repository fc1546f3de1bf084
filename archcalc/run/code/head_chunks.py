"""Logits and loss of a few positions at a time, as litgpt computes them.

Beside adapters the head reads 128 positions after the other, and the loss too; all logits are there at once, since
Lightning turns every chunk into fp32 when the model returns the list of them. Without adapters the head is not
divided: the loss copies all logits but each sequence's last, and reads 128 rows after the other.
Source: litgpt, GPT.forward of lora.py (lm_head_chunk_size) and chunked_cross_entropy; Lightning, HalfPrecision and
BitsandbytesPrecision, convert_output.
"""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.core.ir import Dim, Module, Op, Tensor, axes, walk
from archcalc.core.roles import Role
from archcalc.core.tree import ops_in
from archcalc.run.code.chunks import Chunk, divided, head_and_loss, log_likelihood, sequence
from archcalc.styles.steps import WIDE

LENGTH = 128  # positions or rows of a chunk


@dataclass(frozen=True)
class HeadInChunks:
    """A change to a traced model: the head and the loss behind it, in place of those that read everything at once."""

    narrow: bool

    def __call__(self, root: Module) -> None:
        found = head_and_loss(root)
        if not found:
            return
        head, loss = found
        ops, adapted = list(ops_in(head)), _has_adapters(root)
        lines = _by_chunk(ops) if adapted else [ops]
        head.body[:] = [op for one in lines for op in one]
        returned = self._in_fp32(head, [one[-1].output for one in lines])
        loss.body[:] = [op for one in returned for op in _loss(one)] if adapted else _rows(returned[0])

    def _in_fp32(self, head: Module, logits: list[Tensor]) -> list[Tensor]:
        """What the model returns: a list of chunks, all of which it holds until the last one is cast."""
        if not self.narrow:
            return logits
        *others, last = logits
        held = tuple(one.detached() for one in others)
        wide = [Tensor(one.axes, WIDE) for one in logits]
        head.body.extend(Op("cast", (one,), made) for one, made in zip(others, wide, strict=False))
        head.body.append(Op("cast", (last, *held), wide[-1]))
        return wide


def _has_adapters(root: Module) -> bool:
    return any(param.weight_role is Role.ADAPTER for module, _ in walk(root) for param in module.params.values())


def _by_chunk(ops: list[Op]) -> list[list[Op]]:
    hidden = ops[0].inputs[0]
    chunks = [Chunk(size) for size in divided(sequence(hidden), LENGTH)]
    return [[chunk.part(hidden), *map(chunk.copy, ops)] for chunk in chunks]


def _rows(logits: Tensor) -> list[Op]:
    """All positions but the last, as rows, which takes a copy if there are several sequences."""
    batch, seq, vocab = logits.dims
    shifted = logits.seen_as(batch, Dim.of("shifted", int(seq.size) - 1), vocab)
    rows = Tensor(axes(Dim.of("rows", int(batch.size) * (int(seq.size) - 1)), vocab), logits.role)
    first, *others = (Tensor(axes(size, vocab), logits.role) for size in divided(rows.dims[0], LENGTH))
    parts = Op("split", (rows,), first, beside={str(number): one for number, one in enumerate(others)})
    copied = Op("copy" if int(batch.size) > 1 else "seen", (shifted,), rows)
    return [Op("slice", (logits,), shifted), copied, parts, *(op for one in (first, *others) for op in _loss(one))]


def _loss(logits: Tensor) -> list[Op]:
    return log_likelihood(logits, Tensor(logits.axes[:-1], "index"))
