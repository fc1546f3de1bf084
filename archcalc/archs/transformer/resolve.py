"""From the spec as written to a model with every value filled in, or the reason why it cannot be one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from archcalc.archs.transformer import pattern
from archcalc.archs.transformer.spec import SCOPE_FIELDS, SLOTS, Attention, Embedding, Ffn, Head, Norm, Position, Spec, Stack
from archcalc.errors import InputError, Path, did_you_mean
from archcalc.spec import Node, merged

T = TypeVar("T")


@dataclass(frozen=True)
class AttentionPart:
    name: str
    heads: int
    kv_heads: int
    head_dim: int
    bias: frozenset[str]  # of q k v o
    positions: tuple[Position, ...]
    norm: Norm
    dropout: float
    cross: bool
    causal: bool


@dataclass(frozen=True)
class FfnPart:
    name: str
    width: int
    act: str
    gated: bool
    bias: bool
    norm: Norm
    dropout: float


BlockPart = AttentionPart | FfnPart


@dataclass(frozen=True)
class ResolvedStack:
    name: str
    vocab: int
    d_model: int
    embedding: Embedding
    positions: tuple[Position, ...]
    norm: Norm
    dropout: float
    items: pattern.Items
    parts: dict[str, BlockPart]  # by the words of the pattern

    def position(self, kind: str) -> Position | None:
        return next((position for position in self.positions if position.kind == kind), None)


@dataclass(frozen=True)
class Transformer:
    encoder: ResolvedStack | None
    decoder: ResolvedStack | None
    head: Head
    head_vocab: int

    @property
    def stacks(self) -> tuple[ResolvedStack, ...]:
        return tuple(stack for stack in (self.encoder, self.decoder) if stack)

    @property
    def lengths(self) -> dict[str, int | None]:
        """The sequence lengths a user chooses, each with the longest that the position tables allow."""
        names = ("src_seq", "tgt_seq") if len(self.stacks) == 2 else ("seq",)
        return {name: _longest(stack) for name, stack in zip(names, self.stacks, strict=True)}


def resolve(spec: Spec) -> Transformer:
    if not (spec.encoder or spec.decoder):
        raise InputError("neither encoder nor decoder is given", "say how many blocks: `decoder: 12`, `encoder: 12` or both")
    encoder = _stack(spec, "encoder") if spec.encoder else None
    decoder = _stack(spec, "decoder") if spec.decoder else None
    _check_all_used(spec, [stack for stack in (encoder, decoder) if stack])
    last = decoder or encoder
    assert last
    head = _head(spec.head, last)
    if encoder and decoder and (encoder.embedding.shared or decoder.embedding.shared):
        _check_shared(encoder, decoder)
    return Transformer(encoder, decoder, head, spec.head.vocab or last.vocab)


def _longest(stack: ResolvedStack) -> int | None:
    """Only a learned table ends; other positions go on, their `length` being the length the model was trained for."""
    learned = stack.position("learned")
    return learned.length if learned else None


def _stack(spec: Spec, name: str) -> ResolvedStack:
    said = {field: getattr(spec, field) for field in SCOPE_FIELDS if field in spec.model_fields_set}
    scope = merged(Stack.model_construct(_fields_set=set(said), **said), getattr(spec, name))
    find = _Finder(name)
    d_model = find.needed(scope.d_model, "d_model", "the width of the model, such as `d_model: 512`")
    items = _items(scope, spec, name)
    reader = _PartReader(scope, find, d_model, cross=bool(spec.encoder and spec.decoder), causal=name == "decoder")
    parts = {word: reader.part(word) for word in sorted(pattern.words_of(items))}
    scope.norm.check_kind(scope.norm.kind, ("norm",))
    return ResolvedStack(
        name=name,
        vocab=find.needed(scope.vocab, "vocab", "the number of tokens, such as `vocab: 32000`"),
        d_model=d_model,
        embedding=scope.embedding,
        positions=_positions(scope.position, find),
        norm=scope.norm,
        dropout=scope.dropout,
        items=items,
        parts=parts,
    )


def _items(scope: Stack, spec: Spec, name: str) -> pattern.Items:
    usual = "attention cross ffn" if name == "decoder" and spec.encoder else "attention ffn"
    items = pattern.parse(scope.pattern if scope.pattern is not None else [usual])
    if scope.blocks is None and scope.pattern is None:
        raise InputError("how many blocks?", f"write `{name}: 12`", fields=[(name,)])
    return pattern.cycled(items, scope.blocks or pattern.blocks_of(items))


class _Finder:
    """Where a value of a stack may stand: in the stack, or above it."""

    def __init__(self, stack: str) -> None:
        self.stack = stack

    def places(self, *path: str) -> list[Path]:
        shorter = [path[i:] for i in range(len(path))]
        return [place for tail in shorter for place in ((self.stack, *tail), tail)]

    def needed(self, value: T | None, field: str, meaning: str, *above: str) -> T:
        if value is None:
            raise InputError(f"{field} is missing", f"give {meaning}", fields=[(*above, field), (self.stack,)])
        return value


class _PartReader:
    """Fills in the parts of one stack's blocks from what the part, its slot and the scope say."""

    def __init__(self, scope: Stack, find: _Finder, d_model: int, *, cross: bool, causal: bool) -> None:
        self.scope, self.find, self.d_model, self.has_memory, self.causal = scope, find, d_model, cross, causal

    def part(self, word: str) -> BlockPart:
        slot, node = self._said(word, ())
        if isinstance(node, Ffn):
            return self._ffn(word, node)
        assert isinstance(node, Attention)
        if slot == "cross" and not self.has_memory:
            raise InputError("cross-attention needs an encoder", "add `encoder: 6`, or leave cross out", fields=self.find.places("pattern"))
        return self._attention(word, node, cross=slot == "cross")

    def _said(self, word: str, seen: tuple[str, ...]) -> tuple[str, Node]:
        """The slot a word names and what is said of it; a variant is another part and what it says differently."""
        if word in self.scope.variants:
            return self._variant(word, seen)
        if word not in SLOTS:
            known = [*SLOTS, *self.scope.variants]
            raise InputError(f"no part called {word}", did_you_mean(word, known), fields=self.find.places("pattern"))
        return word, getattr(self.scope, word)

    def _variant(self, word: str, seen: tuple[str, ...]) -> tuple[str, Node]:
        places = self.find.places("variants", word)
        said = dict(self.scope.variants[word])
        like = said.pop("like", None)
        if word in SLOTS:
            raise InputError(f"{word} is the name of a part", "give the variant a name of its own", fields=places)
        if not isinstance(like, str):
            raise InputError("which part is it like?", "write `like: attention` and what differs", fields=places)
        if word in seen:
            raise InputError(f"a circle: {' is like '.join((*seen, word))}", "let one be like a part", fields=places)
        slot, base = self._said(like, (*seen, word))
        return slot, merged(base, _read_variant(type(base), said, places[:2]))

    def _attention(self, word: str, said: Attention, *, cross: bool) -> AttentionPart:
        heads = self.find.needed(said.heads or self.scope.heads, "heads", "the number of attention heads, such as `heads: 8`")
        kv_heads = said.kv_heads or self.scope.kv_heads or heads
        if heads % kv_heads:
            hint = f"use a divisor of heads: {', '.join(map(str, _divisors(heads)))}"
            raise InputError(f"kv_heads {kv_heads} does not divide heads {heads}", hint, fields=self.find.places(word, "kv_heads"))
        positions = said.position if said.position is not None else self.scope.position
        return AttentionPart(
            name=word,
            heads=heads,
            kv_heads=kv_heads,
            head_dim=said.head_dim or self.scope.head_dim or self._head_dim(word, heads),
            bias=_biased(said.bias if said.bias is not None else self.scope.bias),
            positions=() if cross else _positions(positions, self.find),
            norm=merged(self.scope.norm, said.norm or Norm()),
            dropout=self.scope.dropout,
            cross=cross,
            causal=self.causal and not cross,
        )

    def _head_dim(self, word: str, heads: int) -> int:
        if self.d_model % heads:
            fact = f"d_model {self.d_model} does not divide into {heads} heads"
            hint = "change heads, or give head_dim, which is free of both"
            raise InputError(fact, hint, fields=[*self.find.places(word, "heads"), *self.find.places("d_model")])
        return self.d_model // heads

    def _ffn(self, word: str, said: Ffn) -> FfnPart:
        bias = said.bias if said.bias is not None else self.scope.bias
        width = self.find.needed(said.width, "width", "the inner width, such as `ffn: 2048`", word)
        norm = merged(self.scope.norm, said.norm or Norm())
        return FfnPart(word, width, said.act, said.gated, bias, norm, self.scope.dropout)


def _read_variant(part: type[Node], said: dict[str, Any], places: list[Path]) -> Node:
    from pydantic import ValidationError

    from archcalc.spec import mistake_in

    try:
        return part.model_validate(said)
    except ValidationError as error:
        mistake = mistake_in(error, part)
        mistake.fields = tuple((*place, *mistake.fields[0]) for place in places)
        raise mistake from None


def _biased(bias: bool | tuple[str, ...]) -> frozenset[str]:
    return frozenset("qkvo" if bias is True else bias or ())


def _divisors(number: int) -> list[int]:
    return [n for n in range(1, min(number, 1024) + 1) if number % n == 0]


def _positions(positions: tuple[Position, ...], find: _Finder) -> tuple[Position, ...]:
    for position in positions:
        position.check_kind(position.kind, ("position",))
        places = find.places("position")
        if position.kind == "learned" and position.length is None:
            raise InputError("learned positions need a length", "write `position: {kind: learned, length: 1024}`", fields=places)
        if position.kind == "relative" and position.buckets is None:
            raise InputError("relative positions need buckets", "write `position: {kind: relative, buckets: 32}`", fields=places)
    return tuple(position for position in positions if position.kind != "none")


def _head(head: Head, stack: ResolvedStack) -> Head:
    head.check_kind(head.kind, ("head",))
    if head.kind == "tied" and head.vocab not in (None, stack.vocab):
        fact = f"a tied head has the embedding's {stack.vocab} rows, not {head.vocab}"
        raise InputError(fact, "leave head.vocab out, or use `head: lm`, which is not tied", fields=[("head", "vocab"), ("head",)])
    if head.kind == "classifier" and head.classes is None:
        raise InputError("how many classes?", "write `head: {kind: classifier, classes: 2}`", fields=[("head",)])
    return head


def _check_shared(encoder: ResolvedStack, decoder: ResolvedStack) -> None:
    for field in ("vocab", "d_model"):
        mine, other = getattr(encoder, field), getattr(decoder, field)
        if mine != other:
            fact = f"a shared embedding needs one {field}, but the encoder has {mine} and the decoder {other}"
            raise InputError(fact, "make them equal, or drop embedding.shared", fields=[("embedding", "shared"), ("decoder", field)])


def _check_all_used(spec: Spec, stacks: list[ResolvedStack]) -> None:
    """What is written and used by no block is a mistake, not a remark."""
    used = {word for stack in stacks for word in stack.parts}
    scopes: list[tuple[Path, Any]] = [((), spec), (("encoder",), spec.encoder), (("decoder",), spec.decoder)]
    for path, scope in scopes:
        variants = scope.variants if scope else {}
        like = {str(said.get("like")) for word, said in variants.items() if word in used}
        said = {slot for slot in SLOTS if scope and slot in scope.model_fields_set} | set(variants)
        for word in sorted(said - used - like):
            hint = "name it in a pattern, or take it out"
            raise InputError(f"no block has a part called {word}", hint, fields=[(*path, "variants", word), (*path, word)])
