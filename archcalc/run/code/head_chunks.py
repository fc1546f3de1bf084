"""Logits and loss of a few positions at a time, as litgpt computes them.

Beside adapters the head reads 128 positions after the other, and the loss too; all logits are there at once, since
Lightning turns every chunk into fp32 when the model returns the list of them. Without adapters the head is not
divided: the loss copies all logits but each sequence's last, and reads 128 rows after the other.
Source: litgpt, GPT.forward of lora.py (lm_head_chunk_size) and chunked_cross_entropy; Lightning, HalfPrecision and
BitsandbytesPrecision, convert_output.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Dim, Module, Op, Tensor, axes, walk
from archcalc.core.roles import Role
from archcalc.core.tree import ops_in
from archcalc.run.code.chunks import Chunk, divided, entropy_of, head_and_loss, sequence
from archcalc.run.code.losses import log_likelihood
from archcalc.run.code.writing import WIDE, end_of_scope

LENGTH = 128  # positions or rows of a chunk


def chunk_head(root: Module, *, narrow: bool) -> None:
    """The head and the loss behind it, in place of those that read everything at once."""
    found = head_and_loss(root)
    if found:
        _Chunking(*found, narrow).apply(adapted=_has_adapters(root))


def _has_adapters(root: Module) -> bool:
    return any(param.weight_role is Role.ADAPTER for module, _ in walk(root) for param in module.params.values())


class _Chunking:
    """A head and its loss."""

    def __init__(self, head: Module, loss: Module, narrow: bool) -> None:
        self.head, self.loss, self.narrow = head, loss, narrow
        self.entropy = entropy_of(loss)
        self.ops = list(ops_in(head))

    def apply(self, *, adapted: bool) -> None:
        lines = self._by_chunk() if adapted else [self.ops]
        self.head.body[:] = [op for one in lines for op in one]
        returned = self._in_fp32([one[-1].output for one in lines])
        self.loss.body[:] = [op for one in returned for op in self._loss(one)] if adapted else self._rows(returned[0])

    def _by_chunk(self) -> list[list[Op]]:
        hidden = self.ops[0].inputs[0]
        chunks = [Chunk(size) for size in divided(sequence(hidden), LENGTH)]
        return [[chunk.part(hidden), *map(chunk.copy, self.ops)] for chunk in chunks]

    def _in_fp32(self, logits: list[Tensor]) -> list[Tensor]:
        """What the model returns."""
        if not self.narrow:
            return logits
        wide = [Tensor(one.axes, WIDE) for one in logits]
        self.head.body.extend(Op("cast", (one,), made) for one, made in zip(logits, wide, strict=True))
        self.head.body.extend(end_of_scope(*logits))
        return wide

    def _rows(self, logits: Tensor) -> list[Op]:
        """All positions but the last, as rows, which takes a copy if there are several sequences."""
        batch, seq, vocab = logits.dims
        shifted = logits.seen_as(batch, Dim.of("shifted", int(seq.size) - 1), vocab)
        rows = Tensor(axes(Dim.of("rows", int(batch.size) * (int(seq.size) - 1)), vocab), logits.role)
        first, *others = (Tensor(axes(size, vocab), logits.role) for size in divided(rows.dims[0], LENGTH))
        parts = Op("split", (rows,), first, beside={str(number): one for number, one in enumerate(others)})
        copied = Op("copy" if int(batch.size) > 1 else "seen", (shifted,), rows)
        losses = [op for one in (first, *others) for op in self._loss(one)]
        return [Op("slice", (logits,), shifted), copied, parts, *losses, *end_of_scope(rows)]

    def _loss(self, logits: Tensor) -> list[Op]:
        return log_likelihood(replace(self.entropy, inputs=(logits, Tensor(logits.axes[:-1], "index"))))
