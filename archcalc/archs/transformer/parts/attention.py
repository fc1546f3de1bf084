"""The parts `attention` and `cross` (cross-attention to the encoder): resolves their fields."""

from __future__ import annotations

from archcalc.archs.transformer import positions
from archcalc.archs.transformer.nodes import Position
from archcalc.archs.transformer.parts import mla
from archcalc.archs.transformer.parts.attention_fields import Attention
from archcalc.archs.transformer.parts.attention_part import AttentionPart
from archcalc.archs.transformer.parts.part import Part, Surroundings, own_or
from archcalc.core.derived import Derived
from archcalc.core.errors import InputError
from archcalc.layers.attention_mask import Sight
from archcalc.layers.qk_norm import QKNorm
from archcalc.layers.routed_heads import RoutedHeads

__all__ = ["Attention", "resolve"]

_GATES = {True: "query", False: "", "own": "own", "head": "head"}


def resolve(word: str, slot: str, node: Attention, around: Surroundings) -> Part:
    cross = slot == "cross"
    node.check_kind(node.kind, *around.places(word))
    if node.kind == "mla":
        return mla.resolve(word, slot, node, around)
    _check_goes_with(node, word, around, cross=cross)
    _check_memory(node, word, around, cross=cross)
    if cross and not (around.has_memory or node.memory):
        hint = "add `encoder: 6`, or leave cross out; `cross: {memory: 512}` attends to another model's output"
        raise InputError("cross-attention needs an encoder", hint, fields=around.places("pattern"))
    scope, places = around.scope, around.places(word, "position")
    heads = around.needed(node.heads or scope.heads, "heads", "the number of attention heads, such as `heads: 8`")
    head_dim = node.head_dim or scope.head_dim or _head_dim(word, heads, around)
    _check_gate(node, head_dim, word, around)
    used = _positions(node, word, around, cross=cross)
    segments = next((position for position in used if position.kind == "transformer-xl"), None)
    rope = next((position for position in used if position.kind == "rope"), None)
    kv_heads = _kv_heads(word, heads, node.kv_heads or scope.kv_heads or Derived(heads), around)
    for position in used:
        if position.kind == "disentangled":
            _check_disentangled(position, node, heads, kv_heads, word, around)
        if position.kind == "shaw" and node.experts:
            hint = "leave experts out, or use `position: relative`"
            raise InputError("attention of experts has no Shaw positions", hint, fields=around.places(word, "experts"))
        if position.kind == "transformer-xl":
            _check_segments(node, word, around)
    out_norm = around.norm(node.norm).kind if node.out_norm else ""
    return AttentionPart(
        name=word,
        norm=around.norm(node.norm),
        dropout=scope.dropout,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        bias=_biased(own_or(node.bias, scope.bias)),
        positions=used,
        rotated=positions.rotated_width(rope, head_dim, [*places, *around.places(word, "head_dim")]) if rope else 0,
        feature=node.feature or "softmax",
        cross=cross,
        sight=Sight(around.causal and not cross, node.window, node.chunk, (segments and segments.memory) or 0),
        weights_dropout=own_or(node.dropout, scope.dropout),
        qk_norm=_qk_norm(node, around),
        sinks=node.sinks,
        gate=_GATES[node.gate],
        v_dim=node.v_dim,
        out_norm=out_norm,
        softcap=node.softcap is not None,
        memory=node.memory,
        global_qkv=node.global_qkv,
        routed=_routed(node, word, heads, kv_heads, around),
        softmax=scope.softmax,
        patches=around.patches,
    )


def _routed(node: Attention, word: str, heads: int, kv_heads: int, around: Surroundings) -> RoutedHeads | None:
    """Each selected query expert has as many heads as there are KV heads."""
    if node.experts is None:
        return None
    top = around.needed(node.top, "top", "how many experts a token is routed to, such as `top: 2`", word)
    if top > node.experts:
        fact = f"a token cannot be routed to {top} of {node.experts} experts"
        raise InputError(fact, f"use {node.experts} or fewer", fields=around.places(word, "top"))
    if heads != top * kv_heads:
        fact = f"{top} experts of {kv_heads} heads are {top * kv_heads} heads, not {heads}"
        raise InputError(fact, f"write `heads: {top * kv_heads}`", fields=around.places(word, "heads"))
    if "q" in _biased(own_or(node.bias, around.scope.bias)):
        raise InputError("experts' queries have no bias", "write `bias: [o]`", fields=around.places(word, "bias"))
    return RoutedHeads(node.experts, top)


def _check_memory(node: Attention, word: str, around: Surroundings, *, cross: bool) -> None:
    if node.memory and (around.has_memory or not cross):
        fact = "cross-attention reads the encoder" if cross else "self-attention reads no memory"
        raise InputError(fact, "leave memory out", fields=around.places(word, "memory"))


def _check_goes_with(node: Attention, word: str, around: Surroundings, *, cross: bool) -> None:
    """Refuse what this attention cannot have, rather than ignore it."""
    unlike = [name for name in ("gate", "out_norm", "v_dim", "global_qkv") if getattr(node, name)]
    if node.experts and (cross or unlike):
        fact = f"attention of experts has no {unlike[0]}" if unlike else "cross-attention has no experts"
        raise InputError(fact, "leave experts out", fields=around.places(word, "experts"))
    if node.top and not node.experts:
        raise InputError(
            "top is set, but experts is not", "add `experts: 8`, or take top out", fields=around.places(word, "top")
        )
    narrow = [name for name in ("window", "chunk") if getattr(node, name)]
    if cross and narrow:
        fact = f"cross-attention has no {narrow[0]}: source and target are two sequences"
        raise InputError(fact, "leave it out; self-attention keeps its own", fields=around.places(word, narrow[0]))
    if len(narrow) == 2:
        raise InputError(
            "attention.window and attention.chunk exclude each other",
            "keep one of them",
            fields=around.places(word, "chunk"),
        )
    kernel = node.feature not in (None, "softmax")
    bends = ("qk_norm", "sinks", "gate", "softcap", "out_norm", "dropout", "global_qkv", "experts")
    others = [*narrow, *(name for name in bends if getattr(node, name))]
    if kernel and others:
        fact = f"{node.feature} attention has no {others[0]}"
        hint = "softmax attention has: leave feature out"
        raise InputError(fact, hint, fields=around.places(word, others[0]))


def _check_gate(node: Attention, head_dim: int, word: str, around: Surroundings) -> None:
    """A gate from the query projection has the width of queries, but is applied to values."""
    if node.gate is True and node.v_dim not in (None, head_dim):
        fact = f"a gate from the query projection has head_dim {head_dim}, but values have v_dim {node.v_dim}"
        raise InputError(fact, "use `gate: own` or `gate: head`", fields=around.places(word, "gate"))


def _check_disentangled(
    position: Position, node: Attention, heads: int, kv_heads: int, word: str, around: Surroundings
) -> None:
    """Relative positions may reuse the query and key projections, which must then give one vector per head."""
    if kv_heads != heads:
        fact = f"disentangled positions are projected for {heads} heads of keys, not {kv_heads}"
        raise InputError(fact, "leave kv_heads out", fields=around.places(word, "kv_heads"))
    as_queries = "p2c" in position.terms and "q" not in position.project
    if as_queries and (node.gate is True or node.experts):
        besides = "also produces a gate" if node.gate is True else "belongs to experts"
        fact = f"relative positions reuse the query projection, which here {besides}"
        hint = "give positions their own projection: `project: [q]`"
        raise InputError(fact, hint, fields=around.places(word, "gate" if node.gate is True else "experts"))


def _check_segments(node: Attention, word: str, around: Surroundings) -> None:
    """Transformer-XL looks back from a segment, at all of its memory, with scores that nothing bends."""
    if not around.causal:
        fact = "transformer-xl positions are for causal attention, which looks back at earlier segments"
        hint = "write them under decoder; an encoder takes relative, shaw, rope or alibi"
        raise InputError(fact, hint, fields=around.places(word, "position"))
    for name in ("window", "chunk", "softcap", "experts"):
        if getattr(node, name):
            fact = f"attention with transformer-xl positions has no {name}"
            raise InputError(fact, f"leave {name} out", fields=around.places(word, name))


def _qk_norm(node: Attention, around: Surroundings) -> QKNorm | None:
    """QK norm, with the model's norm options as defaults."""
    own, usual = node.qk_norm, around.norm(node.norm)
    if own is None:
        return None
    kind = own.kind or (usual.kind if usual.kind != "none" else "rms")
    bias, affine = own_or(own.bias, usual.bias), own_or(own.affine, usual.affine)
    return QKNorm(own.over, kind, bias, affine, own.width or ())


def _positions(node: Attention, word: str, around: Surroundings, *, cross: bool) -> tuple[Position, ...]:
    """The position encodings of this attention; kernel attention has no scores to add a bias to."""
    places = around.places(word, "position")
    if cross:
        positions.check_cross(node.position, places[:2])
        return ()
    used = positions.in_attention(around.positions(node.position, word), node.position, places[:2])
    for position in used:
        if position.kind == "disentangled" and around.causal:
            fact = "disentangled positions are for bidirectional attention"
            raise InputError(fact, "use them in an encoder; a decoder takes rope, alibi or relative", fields=places)
        if position.kind in positions.ON_SCORES and node.feature not in (None, "softmax"):
            fact = f"{position.kind} adds to the scores, which {node.feature} attention never computes"
            hint = "use rope, or positions of the embedding: learned, sinusoidal"
            raise InputError(fact, hint, fields=[*places, *around.places(word, "feature")])
    return used


def _kv_heads(word: str, heads: int, kv_heads: int, around: Surroundings) -> int:
    if heads % kv_heads:
        divisors = [str(n) for n in range(1, min(heads, 1024) + 1) if heads % n == 0]
        hint = f"use a divisor of heads: {', '.join(divisors)}"
        fact = f"kv_heads {kv_heads} does not divide heads {heads}"
        raise InputError(fact, hint, fields=around.places(word, "kv_heads"))
    return kv_heads


def _head_dim(word: str, heads: int, around: Surroundings) -> int:
    if around.d_model % heads:
        fact = f"d_model {around.d_model} does not divide into {heads} heads"
        hint = "change heads, or set head_dim, which need not be d_model / heads"
        raise InputError(fact, hint, fields=[*around.places(word, "heads"), *around.places("d_model")])
    return Derived(around.d_model // heads)


def _biased(bias: bool | tuple[str, ...]) -> frozenset[str]:
    return frozenset("qkvo" if bias is True else bias or ())
