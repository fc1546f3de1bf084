"""The parts `attention` and `cross` (cross-attention to the encoder): resolves their fields."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from archcalc.archs.transformer import positions
from archcalc.archs.transformer.parts.attention_fields import OWN, Attention, BlockIndex, HeadNormSaid
from archcalc.archs.transformer.parts.attention_part import AttentionPart
from archcalc.archs.transformer.parts.part import Excluded, Part, Surroundings, own_or
from archcalc.archs.transformer.positions import Encodings, Written
from archcalc.archs.transformer.positions.encoding import Places
from archcalc.archs.transformer.positions.transformer_xl import TransformerXL
from archcalc.core.derived import Derived
from archcalc.core.errors import InputError
from archcalc.layers.attention import SOFTMAX, Heads
from archcalc.layers.attention import Attention as SoftmaxAttention
from archcalc.layers.attention_mask import Sight
from archcalc.layers.patches import both_sides

if TYPE_CHECKING:
    from archcalc.layers.indexer import BlockIndexer
    from archcalc.layers.kernel import KernelAttention
    from archcalc.layers.qk_norm import QKNorm
    from archcalc.layers.routed_heads import RoutedHeads

__all__ = ["Attention", "resolve"]

_NARROW = ("window", "windows", "chunk")
_KEYS = ("v_norm", "values", "kv_of")  # what keys and values are, where they are not projected for it alone
_BIASED = {True: "qkvo", False: ""}
_GATES = {True: "query", False: "", "own": "own", "head": "head"}


EXCLUDED = (
    Excluded(
        where="experts",
        fields=("gate", "out_norm", "v_dim", "global_qkv", "block_index"),
        fact="attention of experts has no {field}",
        hint="leave experts out",
        at="experts",
    ),
    Excluded("cross", ("experts",), "cross-attention has no experts", "leave experts out"),
    Excluded("cross", ("block_index",), "cross-attention has no indexer", "leave block_index out"),
    Excluded("no experts", ("top",), "top is set, but experts is not", "add `experts: 8`, or take top out"),
    Excluded(
        where="cross",
        fields=_NARROW,
        fact="cross-attention has no {field}: source and target are two sequences",
        hint="leave it out; self-attention keeps its own",
    ),
    Excluded("window", ("chunk",), "attention.window and attention.chunk exclude each other", "keep one of them"),
    Excluded("windows", ("window", "chunk"), "attention.windows and attention.{field} exclude each other", "keep one"),
    Excluded("no image", ("windows",), "windows are of an image's patches, and this stack has none", "leave it out"),
    Excluded(
        where="tokens",
        fields=("windows",),
        fact="windows are of patches alone, and the image has tokens in front",
        hint="write `tokens: 0` under the embedding, without registers",
    ),
    Excluded(
        where="kernel",
        fields=(
            *_NARROW,
            "qk_norm",
            "sinks",
            "gate",
            "softcap",
            "out_norm",
            "dropout",
            "global_qkv",
            "experts",
            "block_index",
            *_KEYS,
        ),
        fact="{feature} attention has no {field}",
        hint="softmax attention has: leave feature out",
    ),
    Excluded(
        where="cross",
        fields=("values", "kv_of"),
        fact="cross-attention has no {field}: it reads another sequence",
        hint="leave it out; self-attention keeps its own",
    ),
    Excluded(
        where="kv_of",
        fields=("experts",),
        fact="experts beside kv_of",
        hint="leave one of them out",
    ),
    Excluded("values", ("v_dim",), "values that are the keys have no width of their own", "leave v_dim out"),
    Excluded("encoder", ("memory",), "cross-attention reads the encoder", "leave memory out"),
    Excluded("self", ("memory",), "self-attention reads no memory", "leave memory out"),
)


def resolve(word: str, slot: str, node: Attention, around: Surroundings) -> Part:
    node.check_kind(node.kind, *around.places(word))
    if node.kind == "mla":
        from archcalc.archs.transformer.parts import mla

        return mla.resolve(word, slot, node, around)
    if node.kind == "compressed":
        from archcalc.archs.transformer.parts import compressed

        return compressed.resolve(word, slot, node, around)
    cross, at = slot == "cross", partial(around.places, word)
    _check(node, at, around, cross=cross)
    heads, kv_heads, head_dim = _head_sizes(word, node, around)
    bias = own_or(node.bias, around.scope.bias)
    encodings: Encodings = () if cross else positions.resolved(around, node.position, word)
    if cross:
        _check_no_positions(node, at)
    segments = sum(one.memory or 0 for one in encodings if isinstance(one, TransformerXL))
    sizes = Heads(
        heads,
        kv_heads,
        head_dim,
        bias=frozenset(_BIASED.get(bias, bias)),
        v_dim=node.v_dim,
        cross=cross,
        sight=Sight(around.causal and not cross, node.window, node.chunk, segments),
        feature=node.feature or SOFTMAX,
        makes=_makes(node),
    )
    layer = _softmax(word, node, sizes, around) if sizes.feature == SOFTMAX else _by_kernel(sizes, encodings, at)
    for encoding in encodings:
        encoding.check_layer(layer, at)
        if node.windows and encoding.on_scores:
            fact = f"{encoding.kind} adds to the scores of all patches, and windows have none of them"
            raise InputError(fact, "use rope, or learned positions", fields=at("windows"))
    return AttentionPart(
        name=word,
        norm=around.norm,
        dropout=around.scope.dropout,
        layer_scale=around.scope.layer_scale,
        slot=slot,
        layer=layer,
        positions=encodings,
        memory=node.memory,
        global_qkv=node.global_qkv,
        kv_of=_said(node, "kv_of") or "",
        patches=around.patches,
        windows=both_sides(node.windows) if node.windows else None,
    )


def _makes(node: Attention) -> str:
    """Which of q, k and v it projects."""
    if _said(node, "kv_of"):
        return "q"
    return "qk" if node.values == "keys" else "qkv"


def _said(node: Attention, field: str) -> Any:
    """What the spec says of it, if anything."""
    value = getattr(node, field)
    return None if value == OWN else value


def _by_kernel(sizes: Heads, encodings: Encodings, at: Places) -> KernelAttention:
    """Kernel attention has no scores to add a bias to."""
    from archcalc.layers.kernel import KernelAttention

    for encoding in encodings:
        if encoding.on_scores:
            fact = f"{encoding.kind} adds to the scores, which {sizes.feature} attention never computes"
            hint = "use rope, or positions of the embedding: learned, sinusoidal"
            raise InputError(fact, hint, fields=[*at("position"), *at("feature")])
    return KernelAttention(**vars(sizes))


def _softmax(word: str, node: Attention, sizes: Heads, around: Surroundings) -> SoftmaxAttention:
    layer = SoftmaxAttention(
        **vars(sizes),
        weights_dropout=own_or(node.dropout, around.scope.dropout),
        gate=_GATES[node.gate],
        sinks=node.sinks,
        softcap=node.softcap is not None,
        softmax=around.scope.softmax,
    )
    if node.out_norm:
        layer = replace(layer, out_norm=around.norm.kind)
    if node.qk_norm:
        layer = replace(layer, qk_norm=replace(_head_norm(node.qk_norm, around), width=node.qk_norm.width or ()))
    if node.v_norm:
        layer = replace(layer, v_norm=_head_norm(node.v_norm, around))
    if node.block_index:
        layer = replace(layer, indexer=_indexer(word, node.block_index, around))
    if node.experts:
        layer = replace(layer, routed=_routed(word, node.experts, node.top, sizes, around))
    return layer


def _indexer(word: str, index: BlockIndex, around: Surroundings) -> BlockIndexer:
    from archcalc.layers.indexer import BlockIndexer

    return BlockIndexer(
        around.needed(index.heads, "block_index.heads", "the number of its heads, such as `heads: 4`", word),
        around.needed(index.head_dim, "block_index.head_dim", "the width of each, such as `head_dim: 128`", word),
        around.needed(index.top, "block_index.top", "how many blocks it selects, such as `top: 16`", word),
        around.needed(index.block, "block_index.block", "how many keys a block has, such as `block: 128`", word),
    )


def _check(node: Attention, at: Places, around: Surroundings, *, cross: bool) -> None:
    """Refuse what this attention cannot have, and cross-attention without anything to look at."""
    conditions = {
        "cross": cross,
        "self": not cross,
        "encoder": cross and around.has_memory,
        "experts": node.experts,
        "no experts": not node.experts,
        "window": node.window,
        "windows": node.windows,
        "no image": not around.patches,
        "tokens": around.patches and around.patches.tokens + around.patches.registers,
        "kernel": node.feature not in (None, SOFTMAX),
        "kv_of": _said(node, "kv_of"),
        "values": _said(node, "values"),
    }
    for rule in EXCLUDED:
        has = [field for field in rule.fields if _said(node, field)]
        if conditions[rule.where] and has:
            fact = rule.fact.format(field=has[0], feature=node.feature)
            raise InputError(fact, rule.hint, fields=at(rule.at or has[0]))
    if cross and not (around.has_memory or node.memory):
        hint = "add `encoder: 6`, or leave cross out; `cross: {memory: 512}` attends to another model's output"
        raise InputError("cross-attention needs an encoder", hint, fields=around.places("pattern"))


def _check_no_positions(node: Attention, at: Places) -> None:
    own: tuple[Written, ...] = node.position or ()
    for position in own:
        if position.kind != "none":
            fact = f"cross-attention has no {position.kind} positions: source and target are two sequences"
            raise InputError(fact, "leave it out; self-attention keeps its own", fields=at("position")[:2])


def _head_sizes(word: str, node: Attention, around: Surroundings) -> tuple[int, int, int]:
    """Heads, those with keys and values of their own, and how wide they are."""
    scope, d_model = around.scope, around.d_model
    heads = around.needed(node.heads or scope.heads, "heads", "the number of attention heads, such as `heads: 8`")
    head_dim = node.head_dim or scope.head_dim
    if not head_dim and d_model % heads:
        fact = f"d_model {d_model} does not divide into {heads} heads"
        hint = "change heads, or set head_dim, which need not be d_model / heads"
        raise InputError(fact, hint, fields=[*around.places(word, "heads"), *around.places("d_model")])
    head_dim = head_dim or Derived(d_model // heads)
    if node.gate is True and node.v_dim not in (None, head_dim):
        fact = f"a gate from the query projection has head_dim {head_dim}, but values have v_dim {node.v_dim}"
        raise InputError(fact, "use `gate: own` or `gate: head`", fields=around.places(word, "gate"))
    kv_heads = node.kv_heads or scope.kv_heads or Derived(heads)
    if heads % kv_heads:
        divisors = [str(n) for n in range(1, min(heads, 1024) + 1) if heads % n == 0]
        hint = f"use a divisor of heads: {', '.join(divisors)}"
        fact = f"kv_heads {kv_heads} does not divide heads {heads}"
        raise InputError(fact, hint, fields=around.places(word, "kv_heads"))
    return heads, kv_heads, head_dim


def _head_norm(own: HeadNormSaid, around: Surroundings) -> QKNorm:
    """A norm of queries and keys, or of values, with the options of the part's norm as defaults."""
    from archcalc.layers.qk_norm import QKNorm

    usual = around.norm
    kinds = {"none": "rms"}
    kind = own.kind or kinds.get(usual.kind, usual.kind)
    bias, affine = own_or(own.bias, usual.bias), own_or(own.affine, usual.affine)
    return QKNorm(own.over, kind, bias, affine)


def _routed(word: str, experts: int, top: int | None, sizes: Heads, around: Surroundings) -> RoutedHeads:
    """Each selected query expert has as many heads as there are KV heads."""
    top = around.needed(top, "top", "how many experts a token is routed to, such as `top: 2`", word)
    if top > experts:
        fact = f"a token cannot be routed to {top} of {experts} experts"
        raise InputError(fact, f"use {experts} or fewer", fields=around.places(word, "top"))
    heads = top * sizes.kv_heads
    if sizes.heads != heads:
        fact = f"{top} experts of {sizes.kv_heads} heads are {heads} heads, not {sizes.heads}"
        raise InputError(fact, f"write `heads: {heads}`", fields=around.places(word, "heads"))
    if "q" in sizes.bias:
        raise InputError("experts' queries have no bias", "write `bias: [o]`", fields=around.places(word, "bias"))
    from archcalc.layers.routed_heads import RoutedHeads

    return RoutedHeads(experts, top)
