"""The part `attention`, and `cross`, which looks at the encoder."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from archcalc.archs.transformer import positions
from archcalc.archs.transformer.nodes import Norm, Position, Positions
from archcalc.archs.transformer.parts import mla
from archcalc.archs.transformer.parts.part import Context, Part, Surroundings
from archcalc.errors import InputError
from archcalc.ir import Dim, Module, Tensor
from archcalc.layers.attention import Rotation, ScoreBias, attention, looked_at
from archcalc.layers.disentangled import disentangled, distance_table
from archcalc.layers.embedding import relative_bias
from archcalc.layers.kernel import FEATURES, kernel_attention
from archcalc.layers.qk_norm import QKNorm
from archcalc.layers.sight import Sight
from archcalc.spec import Node, Size, merged, mistake


def _bias(value: Any) -> Any:
    letters = ("q", "k", "v", "o")
    if isinstance(value, bool):
        return value
    if isinstance(value, list | tuple) and value and all(item in letters for item in value):
        return tuple(value)
    raise mistake("expected true, false or a list of q, k, v, o")


_LETTERS = {"type": "array", "items": {"enum": ["q", "k", "v", "o"]}}
AttentionBias = Annotated[Any, BeforeValidator(_bias), WithJsonSchema({"anyOf": [{"type": "boolean"}, _LETTERS]})]


Feature = Literal[*FEATURES]  # type: ignore[valid-type]


class QKNormSaid(Node):
    """Norms on queries and keys; what is not said of them is as in the other norms."""

    main: ClassVar[str] = "over"
    over: Literal["head", "heads", "all"] = "head"
    kind: Literal["layer", "rms"] | None = None
    bias: bool | None = None
    affine: bool | None = None


_EVERY_KIND = frozenset({"heads", "bias", "position", "norm"})


class Attention(Node):
    main: ClassVar[str] = "heads"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "attention": _EVERY_KIND
        | {"kv_heads", "head_dim", "feature", "qk_norm", "window", "chunk", "sinks", "gate", "softcap", "memory"},
        "mla": _EVERY_KIND | {"q_rank", "kv_rank", "nope_dim", "rope_dim", "v_dim"},
    }
    kind: Literal["attention", "mla"] = "attention"
    heads: Size | None = None
    kv_heads: Size | None = None
    head_dim: Size | None = None
    bias: AttentionBias | None = None
    position: Positions | None = None
    feature: Feature | None = None
    qk_norm: QKNormSaid | None = None
    window: Size | None = None  # positions that are looked at, the own one included
    chunk: Size | None = None  # only positions of the same chunk are looked at
    sinks: bool = False  # a learned score for each head that no position has
    gate: bool = False  # on what was looked up, from a query projection of twice the width
    softcap: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None  # cap · tanh(scores / cap)
    q_rank: Size | None = None  # mla: width that queries are squeezed to; unsaid: not squeezed
    kv_rank: Size | None = None  # mla: width that keys and values are squeezed to, and cached at
    nope_dim: Size | None = None  # mla: width of a head's queries and keys without position
    rope_dim: Size | None = None  # mla: width that is rotated, and added to those
    v_dim: Size | None = None  # mla: width of a head's values
    memory: Size | None = None  # cross: the width of what it reads, where the spec has no encoder
    norm: Norm | None = None


@dataclass(frozen=True)
class AttentionPart(Part):
    heads: int
    kv_heads: int
    head_dim: int
    bias: frozenset[str]  # of q k v o
    positions: tuple[Position, ...]
    rotated: int  # width of each head that RoPE turns
    feature: str
    cross: bool
    sight: Sight
    qk_norm: QKNorm | None = None
    sinks: bool = False
    gate: bool = False
    softcap: bool = False
    memory: int | None = None

    @property
    def causal(self) -> bool:
        return self.sight.causal

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        memory = self._memory(x, context) if self.cross else x
        if self.feature != "softmax":
            return self._run_kernel(m, x, memory, context)
        return attention(
            m,
            x,
            memory,
            context.work,
            heads=self.heads,
            kv_heads=self.kv_heads,
            head_dim=self.head_dim,
            bias=self.bias,
            rotation=self._rotation(x, context),
            mask=self._mask(x, context),
            score_bias=self._score_bias(x, context),
            dropout=self.dropout,
            sight=self.sight,
            qk_norm=self.qk_norm,
            sinks=self.sinks,
            gate=self.gate,
            softcap=self.softcap,
        )

    def _memory(self, x: Tensor, context: Context) -> Tensor:
        """The encoder's output; without an encoder what somebody else gives, taken to be as long as the sequence."""
        if context.memory is not None:
            return context.memory
        batch, seq, d_model = x.dims
        assert self.memory
        length = Dim.of("memory_seq", context.work.context if context.work.decodes else seq.size)
        width = d_model if self.memory == d_model.size else Dim.of("memory", self.memory)
        return context.constant(f"memory of {self.memory}", "act", batch, length, width)

    def _run_kernel(self, m: Module, x: Tensor, memory: Tensor, context: Context) -> Tensor:
        return kernel_attention(
            m,
            x,
            memory,
            context.work,
            feature=self.feature,
            heads=self.heads,
            kv_heads=self.kv_heads,
            head_dim=self.head_dim,
            bias=self.bias,
            rotation=self._rotation(x, context),
            causal=self.causal,
        )

    def position(self, kind: str) -> Position | None:
        return next((position for position in self.positions if position.kind == kind), None)

    def prepare(self, stack: Module, x: Tensor, context: Context) -> Tensor | None:
        """T5 keeps one relative table for the whole stack, DeBERTa one vector for every distance."""
        if disentangled := self.position("disentangled"):
            assert disentangled.buckets
            return distance_table(stack["position"], x.dims[-1], disentangled.buckets, normed=disentangled.norm)
        relative = self._relative("stack")
        return self._relative_bias(stack, x, context, relative) if relative else None

    def _relative(self, per: str) -> Position | None:
        found = (position for position in self.positions if position.kind == "relative" and position.per == per)
        return next(found, None)

    def _mask(self, x: Tensor, context: Context) -> Tensor | None:
        """A later position must not be seen; a single token at the end sees all."""
        hides = self.sight.hides and not context.work.decodes
        return context.constant(f"mask of {self.sight}", "mask", x.dims[1], looked_at(x, x)) if hides else None

    def _rotation(self, x: Tensor, context: Context) -> Rotation | None:
        """Cosines and sines, one row for each position."""
        rope = self.position("rope")
        if not rope:
            return None
        width = Dim.of("rotated", self.rotated)
        names = [f"{name} {rope.theta} {self.rotated}" for name in ("cosines", "sines")]
        cosines, sines = (context.constant(name, "act", x.dims[1], width) for name in names)
        return cosines, sines

    def _score_bias(self, x: Tensor, context: Context) -> ScoreBias | None:
        """What position encodings add to the scores: nothing learned for ALiBi, a table for relative positions."""
        if self.position("alibi"):
            return lambda m, q, k: self._alibi(m, x, context)
        if (said := self.position("disentangled")) and said.terms:
            return lambda m, q, k: self._disentangled(m, q, k, context)
        if not self.position("relative"):
            return None
        return lambda m, q, k: self._relative_biases(m, x, context)

    def _relative_biases(self, m: Module, x: Tensor, context: Context) -> Tensor:
        """The stack's table, the block's own, or the sum of both."""
        prepared, own = context.prepared.get(self.name), self._relative("block")
        if own is None:
            assert prepared
            return prepared
        bias = self._relative_bias(m, x, context, own)
        return m.record("add", bias, prepared) if prepared else bias

    def _disentangled(self, m: Module, q: Tensor, k: Tensor, context: Context) -> Tensor:
        table, said = context.prepared[self.name], self.position("disentangled")
        assert table and said
        distances = context.constant("distances", "index", q.dims[2], k.dims[2])
        return disentangled(m, q, k, table, distances, terms=said.terms, project=said.project)

    def _alibi(self, m: Module, x: Tensor, context: Context) -> Tensor:
        """Computed from the distance, with a fixed slope for each head: nothing is learned."""
        shape = Dim.of("heads", self.heads, copies=True), x.dims[1], looked_at(x, x, context.work, self.sight)
        m.show("alibi", *shape, note="−slope × distance, added to the scores")
        return context.constant(f"alibi of {self.heads} heads", "act", *shape)

    def _relative_bias(self, m: Module, x: Tensor, context: Context, relative: Position) -> Tensor:
        assert relative.buckets
        m["position"].title = m["position"].term = "relative positions"
        past = looked_at(x, x, context.work, self.sight)
        distances = context.constant(f"distances in {relative.buckets} buckets", "index", x.dims[1], past)
        return relative_bias(m["position"], self.heads, relative.buckets, distances)


def resolve(word: str, slot: str, said: Attention, around: Surroundings) -> Part:
    cross = slot == "cross"
    said.check_kind(said.kind, *around.places(word))
    if said.kind == "mla":
        return mla.resolve(word, slot, said, around)
    _check_goes_with(said, word, around, cross=cross)
    _check_memory(said, word, around, cross=cross)
    if cross and not (around.has_memory or said.memory):
        hint = "add `encoder: 6`, or leave cross out; `cross: {memory: 512}` reads what another model gives"
        raise InputError("cross-attention needs an encoder", hint, fields=around.places("pattern"))
    scope, places = around.scope, around.places(word, "position")
    heads = around.needed(said.heads or scope.heads, "heads", "the number of attention heads, such as `heads: 8`")
    head_dim = said.head_dim or scope.head_dim or _head_dim(word, heads, around)
    used = _positions(said, word, around, cross=cross)
    rope = next((position for position in used if position.kind == "rope"), None)
    kv_heads = _kv_heads(word, heads, said.kv_heads or scope.kv_heads or heads, around)
    if kv_heads != heads and any(position.kind == "disentangled" for position in used):
        fact = f"disentangled positions are projected for {heads} heads of keys, not {kv_heads}"
        raise InputError(fact, "leave kv_heads out", fields=around.places(word, "kv_heads"))
    return AttentionPart(
        name=word,
        norm=around.norm(said.norm),
        dropout=scope.dropout,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        bias=_biased(said.bias if said.bias is not None else scope.bias),
        positions=used,
        rotated=positions.rotated_width(rope, head_dim, [*places, *around.places(word, "head_dim")]) if rope else 0,
        feature=said.feature or "softmax",
        cross=cross,
        sight=Sight(around.causal and not cross, said.window, said.chunk),
        qk_norm=_qk_norm(said, around),
        sinks=said.sinks,
        gate=said.gate,
        softcap=said.softcap is not None,
        memory=said.memory,
    )


def _check_memory(said: Attention, word: str, around: Surroundings, *, cross: bool) -> None:
    if said.memory and (around.has_memory or not cross):
        fact = "cross-attention reads the encoder" if cross else "self-attention reads no memory"
        raise InputError(fact, "leave memory out", fields=around.places(word, "memory"))


def _check_goes_with(said: Attention, word: str, around: Surroundings, *, cross: bool) -> None:
    """Refuse what this attention cannot have, rather than ignore it."""
    narrow = [name for name in ("window", "chunk") if getattr(said, name)]
    if cross and narrow:
        fact = f"cross-attention has no {narrow[0]}: source and target are two sequences"
        raise InputError(fact, "leave it out; self-attention keeps its own", fields=around.places(word, narrow[0]))
    if len(narrow) == 2:
        raise InputError("a window and a chunk", "keep one of them", fields=around.places(word, "chunk"))
    kernel = said.feature not in (None, "softmax")
    others = [*narrow, *(name for name in ("qk_norm", "sinks", "gate", "softcap") if getattr(said, name))]
    if kernel and others:
        fact = f"{said.feature} attention has no {others[0]}"
        hint = "softmax attention has: leave feature out"
        raise InputError(fact, hint, fields=around.places(word, others[0]))


def _qk_norm(said: Attention, around: Surroundings) -> QKNorm | None:
    """Like the model's norms in all that it does not say itself."""
    own, usual = said.qk_norm, around.norm(said.norm)
    if own is None:
        return None
    kind = own.kind or (usual.kind if usual.kind != "none" else "rms")
    bias = own.bias if own.bias is not None else usual.bias
    return QKNorm(own.over, kind, bias, own.affine if own.affine is not None else usual.affine)


def as_cross(attention: Attention | None, cross: Attention) -> Attention:
    """Where biases stand holds for both attentions of a block, unless cross-attention says otherwise."""
    if attention is None:
        return cross
    shared = {"bias"} & attention.model_fields_set
    base = {name: getattr(attention, name) for name in shared if attention.kind == "attention"}
    return merged(Attention.model_construct(_fields_set=set(base), **base), cross)


def _positions(said: Attention, word: str, around: Surroundings, *, cross: bool) -> tuple[Position, ...]:
    """Those that act in this attention; kernel attention has no scores that a bias could be added to."""
    places = around.places(word, "position")
    if cross:
        positions.check_cross(said.position, places[:2])
        return ()
    used = positions.in_attention(around.positions(said.position, word), said.position, places[:2])
    for position in used:
        if position.kind == "disentangled" and around.causal:
            fact = "disentangled positions look both ways"
            raise InputError(fact, "use them in an encoder; rope, alibi and relative look back", fields=places)
        if position.kind in ("alibi", "relative", "disentangled") and said.feature not in (None, "softmax"):
            fact = f"{position.kind} adds to the scores, which {said.feature} attention never computes"
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
        hint = "change heads, or give head_dim, which is free of both"
        raise InputError(fact, hint, fields=[*around.places(word, "heads"), *around.places("d_model")])
    return around.d_model // heads


def _biased(bias: bool | tuple[str, ...]) -> frozenset[str]:
    return frozenset("qkvo" if bias is True else bias or ())
