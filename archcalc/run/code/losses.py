"""Losses as training libraries write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from archcalc.core.ir import Dim, Module, ModuleGroup, Op, Region, Tensor, axes, walk
from archcalc.run.code.writing import end_of_scope

Written = Callable[[tuple[Op, ...]], list[Op]]
BY_TOKEN = 2  # axes of labels: batch and positions


def lower_losses(root: Module, written: Written) -> None:
    """Every loss over a vocabulary in the model."""
    for section, _ in walk(root):
        if section.region == Region.LOSS:
            section.body[:] = written(section.ops)


def cast_by_model(root: Module) -> None:
    """The model itself returns fp32 logits: its head casts them, and not the loss.

    Source: torchtune, TransformerDecoder.forward; torchtitan until October 2024, Transformer.forward."""
    for head in (module for module in root.children if module.group == ModuleGroup.HEAD):
        for section in (module for module, _ in walk(root) if module.region == Region.LOSS):
            casts = [op for op in section.ops if not op.traits.loss_of_logits]
            section.body[:] = [item for item in section.body if item not in casts]
            head.body.extend(casts)


def _shifted(ops: tuple[Op, ...]) -> list[Op]:
    """Labels are padded at their end, and all but the first copied; logits, in 16 bits and in fp32, are held.

    Source: transformers, ForCausalLMLoss."""
    *casts, loss = ops
    _, targets = loss.inputs
    if len(targets.dims) != BY_TOKEN:  # a label for the whole: ForSequenceClassificationLoss
        return _of_logits(ops)
    batch, seq = targets.dims
    labels = Tensor(targets.axes, "index")
    padded = Tensor(axes(batch, Dim.of("padded", int(seq.size) + 1)), "index")
    shift = "copy" if int(batch.size) > 1 else "slice"  # all but the first label of one sequence need no copy
    lines = [Op("ids", (), labels), *casts, Op("pad", (labels,), padded), Op(shift, (padded,), targets)]
    held = [tensor for op in (*casts, loss) for tensor in op.inputs[:1]]
    return [*lines, *log_likelihood(loss), *end_of_scope(*held, padded)]


def _shifted_logits(ops: tuple[Op, ...]) -> list[Op]:
    """Of fp32 logits all but the last are copied, and of labels all but the first; all of them are held.

    Source: transformers until 4.48, ForCausalLMLoss (its pull request 35646)."""
    *casts, loss = ops
    logits, targets = loss.inputs
    if len(targets.dims) < 2:
        return _of_logits(ops)
    batch, seq, vocabulary = logits.dims
    shifted = Dim.of("next_tokens", max(1, int(seq.size) - 1))
    seen, labels = logits.seen_as(batch, shifted, vocabulary), Tensor(axes(batch, shifted), "index")
    copied = Tensor(seen.axes, logits.role)
    lines = [Op("ids", (), targets), *casts, Op("slice", (logits,), seen), Op("copy", (seen,), copied)]
    lines.append(Op("constant", (), labels))
    held = [tensor for op in (*casts, loss) for tensor in op.inputs[:1]]
    return [*lines, *log_likelihood(replace(loss, inputs=(copied, labels))), *end_of_scope(*held, copied, labels)]


def log_likelihood(loss: Op) -> list[Op]:
    """Cross-entropy as PyTorch computes it: log_softmax, then nll_loss."""
    logits, targets = loss.inputs
    logarithms = Tensor(logits.axes, logits.role)
    weight = Tensor(axes(), logits.role)
    mean = replace(loss, kind="nll_loss", inputs=(logarithms, targets), output=Tensor(axes(), logits.role))
    return [Op("log_softmax", (logits,), logarithms), replace(mean, beside={"total_weight": weight})]


def _of_logits(ops: tuple[Op, ...]) -> list[Op]:
    """In the number format of the logits, which are held, with labels as they are.

    Source: transformers, BertForMaskedLM.forward."""
    *_, loss = ops
    logits, targets = ops[0].inputs[0], loss.inputs[1]
    computed = log_likelihood(replace(loss, inputs=(logits, targets)))
    return [Op("ids", (), targets), *computed, *end_of_scope(logits)]


WAYS = {"shifted": _shifted, "shifted_logits": _shifted_logits, "of_logits": _of_logits}  # the habit `loss`
