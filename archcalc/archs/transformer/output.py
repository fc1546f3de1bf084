"""The output head after the last block: pooling, transform, logits, and an optional second head."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from archcalc.archs.transformer.context import Context
from archcalc.archs.transformer.parts.attention_part import AttentionPart
from archcalc.archs.transformer.parts.part import LayerPart, normed
from archcalc.archs.transformer.pattern import blocks_of
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, ModuleGroup, Param, Tensor, axes
from archcalc.core.roles import Role
from archcalc.layers.attention import Attention
from archcalc.layers.attention_core import INPUT
from archcalc.layers.attention_mask import EVERYTHING
from archcalc.layers.dims import vocab_of
from archcalc.layers.ffn import Ffn
from archcalc.layers.linear import contract, linear
from archcalc.styles.activations import activated

if TYPE_CHECKING:
    from archcalc.archs.transformer.head_fields import OneHead
    from archcalc.archs.transformer.resolve import ResolvedStack, Transformer
    from archcalc.spec.workload import Workload

UNASKED = Assumption(
    Topic.ARCHITECTURE,
    "the pooler's output is not used: no loss trains it, so it counts as frozen",
)

_READ = {  # the position that is pooled, of a text and of an image
    ("class", False): "the first position",
    ("class", True): "the class token",
    ("last", False): "the last position",
    ("last", True): "the last position",
    ("second", True): "the second token",
}


class Answer(NamedTuple):
    """The logits of each head by the place of their loss; and what comes out: those of the first head, else a pooled
    vector, else the last hidden states."""

    logits: dict[Module, Tensor]
    output: Tensor


def run_head(root: Module, x: Tensor, model: Transformer, tables: dict[str, Param], work: Workload) -> Answer:
    head, stack = model.head, model.stacks[-1]
    if stack.tables.projects and stack.tables.project == "tokens":
        out = root.child("projection", group=ModuleGroup.EMBEDDING, title="projection to the embedding width")
        x = linear(out, x, stack.tables.dim, bias=stack.tables.project_bias)
    if head.kind == "none":
        return Answer({}, _without_logits(root, x, head, stack, work))
    if head.pool == "probe":
        x = _probed(root, x, stack, work)
    if head.beside and head.beside.kind == "none":
        unasked = root.child("pooler", group=ModuleGroup.HEAD)
        unasked.words.notes.append(UNASKED)  # nothing is saved for backward, and it gets no gradient
        _pooler(unasked, x.detached(), head.beside, stack, trainable=False)
    m = root.child("head", group=ModuleGroup.HEAD)
    m.words.about = "logits"
    logits = _classes(m, x, head, stack) if head.kind == "classifier" else _vocabulary(m, x, model, tables)
    if head.beside is None or head.beside.kind == "none":
        return Answer({root: logits}, logits)
    second = root.child("second_head", group=ModuleGroup.HEAD)
    return Answer({root: logits, second: _classes(second, x, head.beside, stack)}, logits)


def _without_logits(root: Module, x: Tensor, head: OneHead, stack: ResolvedStack, work: Workload) -> Tensor:
    """What a model without a head gives: a vector where it pools, else its hidden states."""
    if head.pool == "probe":
        return _probed(root, x, stack, work)
    if head.pooler:
        return _pooler(root.child("pooler", group=ModuleGroup.HEAD), x, head, stack)
    if not head.pool:
        return x
    pooled = _pooled(root, x, head.pool, stack)
    if head.norm:
        pooled = normed(root.child("pooler", group=ModuleGroup.HEAD)["norm"], pooled, stack.norm)
    return pooled


def _vocabulary(m: Module, x: Tensor, model: Transformer, tables: dict[str, Param]) -> Tensor:
    head, stack = model.head, model.stacks[-1]
    if head.norm:
        x = normed(m["norm"], x, stack.norm)
    if head.transform:
        x = _transformed(m["transform"], x, head, stack, stack.tables.dim)
    assert model.head_vocab
    vocab = vocab_of(model.head_vocab)
    if head.kind == "lm":
        logits = linear(m, x, vocab, bias=bool(head.bias), role=Role.HEAD)
    else:
        logits = contract(m, x, tables[stack.name], out=(vocab,))
        if head.bias:
            logits = m.record("add", logits, m.param("bias", vocab, role=Role.BIAS))
    logits = m.style.logits(m, logits)
    if head.bias == "twice":
        m["spare_bias"].words.title = m["spare_bias"].words.term = "spare bias (stored, never used)"
        m["spare_bias"].param("bias", vocab, role=Role.SPARE)
    return logits


def _classes(m: Module, x: Tensor, head: OneHead, stack: ResolvedStack) -> Tensor:
    if head.layers == "weighted":
        mixed, layers = m["layers"], Dim.of("layers", blocks_of(stack.items) + 1)
        note = "of every block, and the embedding"
        every = mixed.record("concat", x, to=axes(layers, *x.dims), name="layers", note=note)
        weights = mixed.record("softmax", mixed.param("weight", layers))
        x = mixed.record("sum", mixed.record("multiply", every, weights), to=x.axes, over=(layers,))
    if head.project:
        x = linear(m["project"], x, Dim.of("projected", head.project))
    x = _pooler(m["pooler"], x, head, stack) if head.pooler else _pooled(m, x, head.pool or "each", stack)
    if head.norm:
        x = normed(m["norm"], x, stack.norm)
    if head.hidden:
        x = activated(m, linear(m["hidden"], x, Dim.of("hidden", head.hidden)), head.act)
    if head.transform:
        x = _transformed(m["transform"], x, head, stack, x.dims[-1])
    classes = Dim.of("classes", head.classes or 0)
    return linear(m, x, classes, bias=bool(head.bias), role=Role.CLASSIFIER)


def _pooler(m: Module, x: Tensor, head: OneHead, stack: ResolvedStack, *, trainable: bool = True) -> Tensor:
    """A dense layer on the first position, of width d_model by default."""
    first = _pooled(m, x, head.pool or "class", stack)
    width = first.dims[-1].size if head.pooler is True else head.pooler
    return m.record("tanh", linear(m, first, Dim.of("pooled", width), trainable=trainable))


def _pooled(m: Module, x: Tensor, pool: str, stack: ResolvedStack) -> Tensor:
    """One vector per sequence: one position, or the mean; for an image the mean of the patches only."""
    if pool in ("each", "probe"):  # a probe has pooled already
        return x
    batch, _, d_model = x.dims
    if pool == "both":
        both = [_pooled(m, x, one, stack) for one in ("class", "mean")]
        wide = axes(batch, Dim("class_and_mean", 2 * d_model.size))
        return m.record("concat", *both, to=wide, name="pooled", note="side by side")
    if pool not in ("mean", "patches"):
        return m.record("view", x, to=axes(batch, d_model), name="pooled", note=_READ[pool, bool(stack.patches)])
    if stack.patches:
        apart = "copy" if pool == "patches" else "view"  # a linear layer reads rows that lie side by side
        x = m.record(apart, x, to=axes(batch, Dim.of("patches", stack.patches.number), d_model))
    if pool == "patches":
        return x
    note = f"the mean over {'patches' if stack.patches else 'positions'}"
    return m.record("sum", x, to=axes(batch, d_model), over=(x.dims[1],), name="pooled", note=note)


def _transformed(m: Module, x: Tensor, head: OneHead, stack: ResolvedStack, width: Dim) -> Tensor:
    """A dense layer, an activation and a norm: of that width, that of what follows, unless it has its own."""
    if head.transform is not True:
        width = Dim.of("transformed", head.transform)
    out = Dim.of("hidden", width.size)
    hidden = linear(m["dense"], x, out, bias=head.transform_bias)
    hidden = activated(m, hidden, "gelu").seen_as(*x.axes[:-1], width)
    return normed(m["norm"], hidden, stack.norm)


def _probed(root: Module, x: Tensor, stack: ResolvedStack, work: Workload) -> Tensor:
    """Attention pooling (SigLIP): a learned query attends to every position, then goes through an FFN.

    One vector per sequence; attention and FFN are built like those of the blocks, with separate weights."""
    m = root.child("pooler", group=ModuleGroup.HEAD)
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
