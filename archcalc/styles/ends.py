"""Both ends of a language model as training libraries write them: embeddings, logits, losses over a vocabulary."""

from __future__ import annotations

from functools import partial

from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.styles.steps import WIDE, widened

BY_TOKEN = 2  # axes of labels: batch and positions


def fp32(m: Module, logits: Tensor, targets: Tensor) -> Tensor:
    """Of an fp32 copy of the logits, as training libraries compute it."""
    wide = m.record("copy", logits, role=WIDE) if m.style.narrow and logits.role != WIDE else logits
    return m.record("cross_entropy", wide, targets, to=())


def _by_log_softmax(m: Module, logits: Tensor, targets: Tensor, *, wide: bool, shifted: bool = False) -> Tensor:
    """Cross-entropy as PyTorch computes it: log_softmax, then nll_loss. With a label for every token `wide` reads an
    fp32 copy of the logits, and `shifted` a copy of all of it but the last; one label for the whole sequence is read in
    the number format of the logits. The whole model gives its loss out, whichever part made it: a hook on its output,
    such as FSDP's, runs before the loss goes back."""
    by_token = len(targets.dims) == BY_TOKEN
    if wide and by_token:
        logits = returned_in_fp32(m, logits)
    if shifted and by_token:
        batch, seq, vocabulary = logits.dims
        following = Dim.of("next_tokens", max(1, int(seq.size) - 1))
        logits = m.record("copy", logits, to=axes(batch, following, vocabulary))
        targets = Tensor(axes(batch, following), "index")
    loss = m.record("nll_loss", m.record("log_softmax", logits), targets, to=())
    return m.ancestry[-1].record("seen", loss)


of_logits = partial(_by_log_softmax, wide=False)  # transformers, BertForMaskedLM.forward
in_steps = partial(_by_log_softmax, wide=True)  # transformers, ForCausalLMLoss and ForSequenceClassificationLoss
shifted_logits = partial(_by_log_softmax, wide=True, shifted=True)  # the same until 4.48 (its pull request 35646)
shifted_narrow = partial(_by_log_softmax, wide=False, shifted=True)  # GPT2LMHeadModel.forward and others until 4.48


def in_place(m: Module, logits: Tensor, targets: Tensor) -> Tensor:
    """Source: Transformer Engine, pytorch/cross_entropy.py, whose kernel writes the gradient over the logits."""
    return m.record("cross_entropy_in_place", logits, targets, to=())


def in_place_fp32(m: Module, logits: Tensor, targets: Tensor) -> Tensor:
    """Source: Megatron-LM, megatron/core/tensor_parallel/cross_entropy.py: an fp32 copy of the logits becomes the
    probabilities, and these the gradient."""
    return m.record("cross_entropy_in_place", widened(m, logits), targets, to=())


def asked(m: Module, rows: Tensor) -> Tensor:
    """In front of recomputed blocks embeddings always want a gradient, also those of a frozen table, so that one goes
    through every block. Source: transformers, gradient_checkpointing_enable, which calls enable_input_require_grads."""
    return m.record("asked", rows) if m.style.is_recomputed else rows


def capped(m: Module, logits: Tensor) -> Tensor:
    """cap · tanh(logits / cap). Source: transformers, Gemma2ForCausalLM.forward."""
    return m.record("scale", m.record("tanh", m.record("scale", logits)))


def returned_in_fp32(m: Module, logits: Tensor) -> Tensor:
    """By the model itself. Source: torchtune, TransformerDecoder.forward; torchtitan until October 2024,
    Transformer.forward."""
    return m.record("copy", logits, role=WIDE) if m.style.narrow else logits
