"""What a Transformer takes for fields that its spec leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from archcalc.archs.transformer.parts import SLOTS
from archcalc.archs.transformer.parts.attention_part import AttentionPart
from archcalc.archs.transformer.pattern import USUAL, blocks_of
from archcalc.spec.defaults import Default

if TYPE_CHECKING:
    from archcalc.archs.transformer.parts.part import Part
    from archcalc.archs.transformer.resolve import Transformer
    from archcalc.archs.transformer.spec import Spec


def defaults(spec: Spec, model: Transformer) -> Iterator[Default]:
    parts = [part for stack in model.stacks for part in stack.parts.values()]
    slots = {part.slot for part in parts} - {""}  # parts side by side are none, and stand there by themselves too
    if slots & {"attention", "lightning"}:
        yield from _of_attention(model, parts)
    yield Default(("norm", "kind"), "layer", "layer norms")
    yield Default(("norm", "place"), "pre", "pre-norm")
    nodes = [getattr(spec, slot) for slot in slots & {"attention", "ffn"}]
    all_said = bool(nodes) and all(node is not None and "bias" in node.model_fields_set for node in nodes)
    if slots & {"attention", "cross", "ffn"} and not all_said:  # by every part with linear layers itself
        yield Default(("bias",), True, "biases in attention and FFN")
    if "ffn" in slots:
        yield Default(("ffn", "act"), "gelu", "gelu")
    if "moe" in slots:
        yield Default(("moe", "act"), "silu", "silu in the experts")
        yield Default(("moe", "gated"), True, "gated experts")
    yield from _of_head(model)
    yield from _unsaid(model, slots)


def _unsaid(model: Transformer, slots: set[str]) -> Iterator[Default]:
    """What is taken without a word: it follows from other fields, or changes nothing that people would miss."""
    yield Default(("precision",), "fp32")
    for stack in model.stacks:
        yield Default((stack.name, "blocks"), blocks_of(stack.items))
        reads_encoder = stack.name == "decoder" and model.encoder is not None
        yield Default((stack.name, "pattern"), [USUAL[reads_encoder]])
    finals = {stack.norm.place != "post" for stack in model.stacks}
    if len(finals) == 1:
        yield Default(("norm", "final"), finals.pop())
    for slot in sorted(slots):
        yield Default((slot,), SLOTS[slot].node())


def _of_attention(model: Transformer, parts: list[Part]) -> Iterator[Default]:
    readers = [part for part in parts if isinstance(part, AttentionPart)]
    encoded = any(part.positions for part in readers) or any(stack.positions for stack in model.stacks)
    if not encoded:
        yield Default(("position",), "none", "no position encoding")
    for field in ("kv_heads", "head_dim"):
        sizes = {getattr(part.layer, field) for part in readers}
        if len(sizes) == 1:  # where they differ, no single value could be written for all
            yield Default((field,), sizes.pop())


def _of_head(model: Transformer) -> Iterator[Default]:
    head = model.head
    if head.kind == "lm":
        yield Default(("head", "kind"), "lm", f"untied head {_with(head.bias)} bias")
    if head.kind in ("lm", "tied"):
        yield Default(("head", "bias"), head.bias)
    if head.kind == "classifier":
        yield Default(("head", "bias"), head.bias, f"classifier {_with(head.bias)} bias")
    if head.kind == "classifier" and head.pool in _READ:
        yield Default(("head", "pool"), head.pool, _READ[head.pool])


# What is classified where the spec does not say; any other pool is written.
_READ = {"each": "every position classified", "class": "the class token classified", "mean": "the mean classified"}


def _with(bias: bool | str | None) -> str:
    return "with" if bias else "without"
