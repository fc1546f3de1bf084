"""Multi-token prediction: blocks after the last one that each predict one token further ahead (DeepSeek-V3).

Each reads what the block before it gave and the token that it may know by now, both behind a norm and projected to the
width of the model; then it is a block like the last, with a norm and the head. They are for training: answering, a
model is run without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from archcalc.archs.transformer.block import run_block
from archcalc.archs.transformer.context import Context
from archcalc.archs.transformer.parts.attention_part import AttentionPart
from archcalc.archs.transformer.parts.part import normed
from archcalc.archs.transformer.pattern import BESIDE, lines_of
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import Count
from archcalc.core.errors import InputError, Path
from archcalc.core.ir import Dim, Module, ModuleGroup, Param, Region, Tensor, axes
from archcalc.core.roles import Role
from archcalc.layers.dims import vocab_of
from archcalc.layers.embedding import look_up, token_table
from archcalc.layers.linear import contract, linear
from archcalc.layers.loss import cross_entropy
from archcalc.layers.streams import joined, spread
from archcalc.spec.workload import Workload

if TYPE_CHECKING:
    from archcalc.archs.transformer.head_fields import Head, Mtp
    from archcalc.archs.transformer.resolve import ResolvedStack, Transformer

_AT: list[Path] = [("head", "mtp"), ("head",)]

TRAINING_ALONE = Assumption(
    Topic.ARCHITECTURE, "multi-token prediction runs in training only; its parameters are always counted"
)


def check(head: Head, stack: ResolvedStack) -> None:
    """It needs a decoder of tokens, with embeddings of width d_model."""
    assert head.mtp
    if stack.name != "decoder":
        raise InputError("mtp predicts further tokens, which an encoder does not", "leave mtp out", fields=_AT)
    if any(isinstance(part, AttentionPart) and part.layer.cross for part in stack.parts.values()):
        raise InputError("mtp cannot follow cross-attention", "leave mtp out, or cross", fields=_AT)
    if any(BESIDE in word for word in stack.parts):
        raise InputError("mtp cannot follow parallel parts", "leave mtp out", fields=_AT)
    if any(part.is_bound for part in stack.parts.values()):
        raise InputError("mtp cannot follow blocks that read what others made", "leave mtp out", fields=_AT)
    if stack.tables.projects or head.transform:
        raise InputError("mtp needs embeddings of width d_model", "leave mtp, width or transform out", fields=_AT)
    if head.mtp.blocks is None:
        raise InputError("mtp needs a number of blocks", "write `mtp: 1`", fields=_AT)


def _words(mtp: Mtp, stack: ResolvedStack) -> tuple[str, ...]:
    """What each consists of: the parts of the last block, unless the spec says others."""
    if mtp.line:
        return tuple(mtp.line.split())
    *_, last = lines_of(stack.items)
    return last.words


def predict_further(root: Module, x: Tensor, model: Transformer, tables: dict[str, Param], work: Workload) -> None:
    """Records the multi-token prediction blocks, each passing its output to the next."""
    mtp, stack = model.head.mtp, model.stacks[-1]
    assert mtp and mtp.blocks
    m = root.child(
        "mtp", repeat=Count.named("mtp blocks", mtp.blocks), title="multi-token prediction", group=ModuleGroup.BLOCKS
    )
    m.calls = Count(1 if work.trains else 0)
    m.words.notes.append(TRAINING_ALONE)
    table = token_table(m["tokens"], *tables[stack.name].dims) if mtp.own_tables else tables[stack.name]
    out = _block(m, _joined(m, x, table, stack), stack, work, mtp)
    logits = _logits(m, out, root, model, table)
    m.carries.append((x, out))
    if work.trains:
        cross_entropy(m, logits, m.record("shift", to=logits.axes[:-1]))


def _joined(m: Module, x: Tensor, table: Param, stack: ResolvedStack) -> Tensor:
    batch, seq, d_model = x.dims
    tokens = look_up(m["tokens"], m.record("shift", to=axes(batch, seq)), table)
    if stack.streams:
        return _in_streams(m, x, tokens, stack)
    both = normed(m["hidden_norm"], x, stack.norm), normed(m["token_norm"], tokens, stack.norm)
    pair = m.record("concat", *both, to=axes(batch, seq, Dim("hidden_and_token", 2 * d_model.size)))
    return linear(m["projection"], pair, d_model, bias=False, role=Role.FURTHER_TOKENS)


def _in_streams(m: Module, x: Tensor, tokens: Tensor, stack: ResolvedStack) -> Tensor:
    """Both projected apart, the token's into every stream (vLLM, models/deepseek_v4, DeepSeekV4MultiTokenPredictor)."""
    assert stack.streams
    streams, made = spread(m, x, stack.streams.number or 1), []
    for name, each in (("hidden", streams), ("token", tokens)):
        *places, d_model = each.dims
        wide = Dim(f"{name}_features", d_model.size)
        given = normed(m[f"{name}_norm"], each, stack.norm).seen_as(*places, wide)
        made.append(linear(m[f"{name}_projection"], given, d_model, bias=False, role=Role.FURTHER_TOKENS))
    return m.record("add", *made)


def _block(m: Module, x: Tensor, stack: ResolvedStack, work: Workload, mtp: Mtp) -> Tensor:
    context = Context(work)
    rounds = stack.streams.rounds if stack.streams else 0
    parts = [stack.parts[word] for word in _words(mtp, stack)]
    block = m.child("block")
    block.region = Region.BLOCK
    for part in parts:
        context.prepared[part.name] = part.prepare(m, x, context)
    out = run_block(block, x, context, parts, stack.parallel, rounds)
    out = joined(m["streams"], out) if stack.streams else out
    return normed(m["norm"], out, stack.norm) if mtp.norm else out


def _logits(m: Module, x: Tensor, root: Module, model: Transformer, table: Param) -> Tensor:
    """The logits by the model's head, unless there is a separate one."""
    assert model.head.mtp and model.head_vocab
    vocab, head = vocab_of(model.head_vocab), m.child("head", group=ModuleGroup.HEAD)
    if model.head.kind == "tied":
        return contract(head, x, table, out=(vocab,))
    if model.head.mtp.own_tables:
        return linear(head, x, vocab, bias=False, role=Role.HEAD)
    return contract(head, x, root["head"].params["weight"], out=(vocab,))
