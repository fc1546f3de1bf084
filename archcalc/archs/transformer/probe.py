"""Attention pooling (SigLIP): a learned query attends to every position, then goes through an FFN."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from archcalc.archs.transformer.parts.attention_part import AttentionPart
from archcalc.archs.transformer.parts.part import Context, LayerPart, normed
from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.core.roles import Role
from archcalc.layers.attention import Attention
from archcalc.layers.attention_core import INPUT
from archcalc.layers.attention_mask import EVERYTHING
from archcalc.layers.ffn import Ffn

if TYPE_CHECKING:
    from archcalc.archs.transformer.resolve import ResolvedStack
    from archcalc.spec.workload import Workload


def probed(m: Module, x: Tensor, stack: ResolvedStack, work: Workload) -> Tensor:
    """One vector per sequence; attention and FFN are built like those of the blocks, with separate weights."""
    part, layer, ffn = parts_of(stack)
    batch, _, d_model = x.dims
    one, work = Dim.of("one", 1), work.of_encoder()  # what it looks at is not kept for a next token
    probe = m["probe"].param("weight", one, d_model, role=Role.VECTORS)
    vector = m["probe"].record("repeat", probe, to=axes(batch, one, d_model))
    plain = replace(layer, cross=True, sight=EVERYTHING, softmax=INPUT)  # as nn.MultiheadAttention is
    looked = replace(part, layer=plain, positions=()).run(m["attention"], vector, Context(work, x))
    wide = ffn.run(m["ffn"], normed(m["norm"], looked, stack.norm), Context(work))
    return m.record("view", m.record("add", looked, wide), to=axes(batch, d_model), name="pooled")


def parts_of(stack: ResolvedStack) -> tuple[AttentionPart, Attention, LayerPart]:
    """The first softmax attention of the stack, its layer, and the first FFN; refuses a stack without."""
    attentions = [part for part in stack.parts.values() if isinstance(part, AttentionPart)]
    looks = [(part, part.layer) for part in attentions if isinstance(part.layer, Attention)]
    wide = [part for part in stack.parts.values() if isinstance(part, LayerPart) and isinstance(part.layer, Ffn)]
    if not looks or not wide:
        hint = "use another pool: class, mean or last"
        raise InputError(
            "pool: probe is built like a block, which needs attention and an FFN",
            hint,
            fields=[("head", "pool"), ("head",)],
        )
    return *looks[0], wide[0]
