"""A loss in several chunks of the sequence, as libraries write it: what of it the tree itself says.

torchtune's head makes a list of chunks; torchtitan's loss takes chunks out of all logits. Either way the graph keeps
what each chunk's loss has saved until the backward pass, and only casts to fp32 are made one at a time. litgpt reads
128 positions after the other; all logits are there at once, since Lightning turns every chunk into fp32 when the model
returns the list of them. Without adapters its head is not divided: the loss copies all logits but each sequence's
last, and reads 128 rows after the other. Where each chunk's logits are freed before the next, the head reads a copy of
the hidden states (`archcalc.analyze.memory.passes`).
Sources: torchtune, TransformerDecoder.chunked_output and CEWithChunkedOutputLoss, and LinearCrossEntropyLoss, which
keeps the same; torchtitan's pull request 996, chunked_cross_entropy_loss; litgpt, GPT.forward of lora.py
(lm_head_chunk_size) and chunked_cross_entropy; Lightning, HalfPrecision and BitsandbytesPrecision, convert_output.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from archcalc.core.ir import Axes, Dim, Module, Op, Tensor, axes, walk
from archcalc.core.positions import Positions
from archcalc.core.roles import Role
from archcalc.core.tree import ops_in
from archcalc.run.code.heads import head_and_loss
from archcalc.styles.steps import WIDE

LENGTH = 128  # litgpt's positions or rows of a chunk


@dataclass(frozen=True)
class LossInChunks:
    """A change to a traced model, of so many chunks. `by_head`: the head makes each chunk by itself. A compiled loss
    stays one op, which the compiler fuses."""

    number: int
    by_head: bool
    is_compiled: bool

    def __call__(self, root: Module) -> None:
        found = head_and_loss(root)
        if not found:
            return
        head, loss = found
        made, old = list(ops_in(head)), loss.ops
        source = made[0].inputs[0] if self.by_head else made[-1].output
        chunks = _chunks(source, -(-int(_sequence(source).size) // self.number))
        parts = [chunk.part(source) for chunk in chunks]
        if self.by_head:
            pairs = zip(chunks, parts, strict=True)
            head.body[:] = [op for chunk, part in pairs for op in (part, *map(chunk.copy, made))]
            parts = []
        loss.body[:] = parts
        for chunk in chunks:
            *casts, last = map(chunk.copy, old)  # the cast to fp32, if there is one, and cross-entropy
            logits, targets = last.inputs
            loss.body += [*casts, last] if self.is_compiled else [*casts, *_log_likelihood(logits, targets)]


@dataclass(frozen=True)
class HeadInChunks:
    """A change to a traced model: the head and the loss behind it, in place of those that read everything at once."""

    narrow: bool

    def __call__(self, root: Module) -> None:
        found = head_and_loss(root)
        if not found:
            return
        head, loss = found
        params = (param for module, _ in walk(root) for param in module.params.values())
        adapted, lines = any(param.weight_role is Role.ADAPTER for param in params), [list(ops_in(head))]
        if adapted:
            hidden, ops = lines[0][0].inputs[0], lines[0]
            lines = [[chunk.part(hidden), *map(chunk.copy, ops)] for chunk in _chunks(hidden, LENGTH)]
        head.body[:] = [op for line in lines for op in line]
        logits = [line[-1].output for line in lines]
        if self.narrow:  # the model returns a list of chunks, all of which it holds until the last one is cast
            wide, held = [Tensor(one.axes, WIDE) for one in logits], tuple(one.detached() for one in logits[:-1])
            head.body.extend(Op("cast", (one,), made) for one, made in zip(logits[:-1], wide[:-1], strict=True))
            head.body.append(Op("cast", (logits[-1], *held), wide[-1]))
            logits = wide
        rows = [] if adapted else _rows(logits[0])
        chunks = logits if adapted else [rows[-1].output, *rows[-1].beside.values()]
        loss.body[:] = rows
        for one in chunks:
            loss.body += _log_likelihood(one, Tensor(one.axes[:-1], "index"))


def _rows(logits: Tensor) -> list[Op]:
    """All positions but the last, as rows, which takes a copy if there are several sequences; the last op divides."""
    batch, seq, vocab = logits.dims
    shifted = logits.seen_as(batch, Dim.of("shifted", int(seq.size) - 1), vocab)
    rows = Tensor(axes(Dim.of("rows", int(batch.size) * (int(seq.size) - 1)), vocab), logits.role)
    first, *others = (Tensor(axes(size, vocab), logits.role) for size in _divided(rows.dims[0], LENGTH))
    parts = Op("split", (rows,), first, beside={str(number): one for number, one in enumerate(others)})
    copied = Op("copy" if int(batch.size) > 1 else "seen", (shifted,), rows)
    return [Op("slice", (logits,), shifted), copied, parts]


@dataclass(frozen=True)
class CopiedHidden:
    """Chunks of what the head reads are copies, of which each goes back before the next is read; their gradients are
    put together in fp32. Source: torchtitan since April 2026, ChunkedLossWrapper and GradAccumulator."""

    narrow: bool

    def __call__(self, root: Module) -> None:
        found = head_and_loss(root)
        if found:
            hidden = next(ops_in(found[0])).inputs[0]
            seen, copied = Tensor(hidden.axes, WIDE if self.narrow else hidden.role), Tensor(hidden.axes, hidden.role)
            _read_instead(found[0], {hidden: copied}, [Op("seen", (hidden,), seen), Op("copy", (seen,), copied)])


@dataclass(frozen=True)
class PackedHidden:
    """Rows with a label are copied to the front; each chunk of them is multiplied with an fp32 copy of the head.
    Source: TRL of July 2026, _chunked_cross_entropy_loss and _chunk in trl/trainer/sft_trainer.py."""

    narrow: bool

    def __call__(self, root: Module) -> None:
        found = head_and_loss(root)
        if not found:
            return
        product = next(op for op in ops_in(found[0]) if op.traits.contraction)
        hidden, weight, *_ = product.inputs
        rows, packed = Tensor(hidden.axes, hidden.role), Tensor(hidden.axes, hidden.role)
        order, others = Tensor(hidden.axes[:-1], "index"), {hidden: packed}
        lines = [Op("copy", (hidden,), rows), Op("constant", (), order), Op("gather", (rows, order), packed)]
        if self.narrow:
            others[weight] = Tensor(weight.axes, WIDE)
            lines.append(Op("cast", (weight,), others[weight]))
        _read_instead(found[0], others, lines)


def _read_instead(head: Module, others: dict[Tensor, Tensor], lines: list[Op]) -> None:
    """Other tensors in the place of some, for all ops of the head, and before them the lines that make them."""
    for module, _ in walk(head):
        for place, item in enumerate(module.body):
            if isinstance(item, Op):
                module.body[place] = replace(item, inputs=tuple(others.get(one, one) for one in item.inputs))
    head.body[:0] = lines


def _log_likelihood(logits: Tensor, targets: Tensor) -> list[Op]:
    """Cross-entropy as PyTorch computes it: log_softmax, then nll_loss."""
    logarithms, mean = Tensor(logits.axes, logits.role), Tensor(axes(), logits.role)
    weight = {"total_weight": Tensor(axes(), logits.role)}
    return [Op("log_softmax", (logits,), logarithms), Op("nll_loss", (logarithms, targets), mean, beside=weight)]


def _sequence(tensor: Tensor) -> Dim:
    return next(dim for dim in tensor.dims if dim.positions is Positions.SEQUENCE)


def _chunks(tensor: Tensor, length: int) -> list[_Chunk]:
    return [_Chunk(size) for size in _divided(_sequence(tensor), length)]


def _divided(whole: Dim, length: int) -> Iterator[Dim]:
    """Chunks of so many positions; the last one may be shorter."""
    for start in range(0, int(whole.size), length):
        yield Dim.of("chunk", min(length, int(whole.size) - start), positions=whole.positions)


class _Chunk:
    """A few positions of a sequence, and the ops of a layer for them."""

    def __init__(self, size: Dim) -> None:
        self.size = size
        self.tensors: dict[Tensor, Tensor] = {}

    def part(self, whole: Tensor) -> Op:
        """The same positions of a tensor, seen where they are."""
        found = self.tensors[whole] = whole.seen_as(*self._axes(whole))
        return Op("slice", (whole,), found)

    def copy(self, op: Op) -> Op:
        """The op for these positions alone; targets, which no op makes, are divided too."""
        made = {one: Tensor(self._axes(one), one.role) for one in op.inputs if one.role == "index"}
        inputs = tuple(made[one] if one in made else self.tensors.get(one, one) for one in op.inputs)
        output = self.tensors[op.output] = Tensor(self._axes(op.output), op.output.role)
        beside = {name: Tensor(self._axes(one), one.role) for name, one in op.beside.items()}
        return replace(op, inputs=inputs, output=output, beside=beside)

    def _axes(self, tensor: Tensor) -> Axes:
        is_whole = Positions.SEQUENCE
        return tuple(tuple(self.size if dim.positions is is_whole else dim for dim in axis) for axis in tensor.axes)
