"""From the spec as written to a model with every value filled in, or the reason why it cannot be one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from archcalc.archs.transformer import pattern
from archcalc.archs.transformer.nodes import Norm, Position
from archcalc.archs.transformer.parts import SLOTS
from archcalc.archs.transformer.parts.part import Part, Surroundings
from archcalc.archs.transformer.spec import SCOPE_FIELDS, Embedding, Head, Spec, Stack
from archcalc.errors import InputError, Path, did_you_mean
from archcalc.spec import Node, merged, mistake_in
from archcalc.workload import Longest


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
    parts: dict[str, Part]  # by the words of the pattern

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
    def kind(self) -> str:
        return "-".join(stack.name for stack in self.stacks)

    @property
    def lengths(self) -> dict[str, Longest]:
        """The sequence lengths a user chooses, each with the longest that the positions allow."""
        names = ("src_seq", "tgt_seq") if len(self.stacks) == 2 else ("seq",)
        return {name: _longest(stack) for name, stack in zip(names, self.stacks, strict=True)}


def _longest(stack: ResolvedStack) -> Longest:
    """A table ends; other positions go on, their `length` being what the model was trained for."""
    tables = [stack.position("learned"), stack.position("sinusoidal")]
    table = next((table for table in tables if table and table.length), None)
    trained = next((position.length for position in stack.positions if position.length), None)
    return Longest(table.length, hard=True) if table else Longest(trained)


def resolve(spec: Spec) -> Transformer:
    if not (spec.encoder or spec.decoder):
        hint = "say how many blocks: `decoder: 12`, `encoder: 12` or both"
        raise InputError("neither encoder nor decoder is given", hint)
    encoder = _stack(spec, "encoder") if spec.encoder else None
    decoder = _stack(spec, "decoder") if spec.decoder else None
    stacks = [stack for stack in (encoder, decoder) if stack]
    _check_all_used(spec, stacks)
    if encoder and decoder and (encoder.embedding.shared or decoder.embedding.shared):
        _check_shared(encoder, decoder)
    return Transformer(encoder, decoder, _head(spec.head, stacks[-1]), spec.head.vocab or stacks[-1].vocab)


def _stack(spec: Spec, name: str) -> ResolvedStack:
    said = {field: getattr(spec, field) for field in SCOPE_FIELDS if field in spec.model_fields_set}
    scope = merged(Stack.model_construct(_fields_set=set(said), **said), getattr(spec, name))
    around = Surroundings(
        scope=scope,
        stack=name,
        d_model=scope.d_model or 0,
        has_memory=bool(spec.encoder and spec.decoder),
        causal=name == "decoder",
    )
    around.needed(scope.d_model, "d_model", "the width of the model, such as `d_model: 512`")
    scope.norm.check_kind(scope.norm.kind, ("norm",))
    items = _items(scope, spec, name)
    return ResolvedStack(
        name=name,
        vocab=around.needed(scope.vocab, "vocab", "the number of tokens, such as `vocab: 32000`"),
        d_model=around.d_model,
        embedding=scope.embedding,
        positions=around.positions(None),
        norm=scope.norm,
        dropout=scope.dropout,
        items=items,
        parts={word: _part(word, around) for word in sorted(pattern.words_of(items))},
    )


def _items(scope: Stack, spec: Spec, name: str) -> pattern.Items:
    usual = "attention cross ffn" if name == "decoder" and spec.encoder else "attention ffn"
    items = pattern.parse(scope.pattern if scope.pattern is not None else [usual])
    if scope.blocks is None and scope.pattern is None:
        raise InputError("how many blocks?", f"write `{name}: 12`", fields=[(name,)])
    return pattern.cycled(items, scope.blocks or pattern.blocks_of(items))


def _part(word: str, around: Surroundings) -> Part:
    slot, said = _said(word, around, ())
    part = SLOTS[slot].resolve(word, slot, said, around)
    assert isinstance(part, Part)
    return part


def _said(word: str, around: Surroundings, seen: tuple[str, ...]) -> tuple[str, Node]:
    """The slot that a word names, and what is said of it; a variant is another part and what it says differently."""
    if word in around.scope.variants:
        return _variant(word, around, seen)
    if word not in SLOTS:
        known = [*SLOTS, *around.scope.variants]
        raise InputError(f"no part called {word}", did_you_mean(word, known), fields=around.places("pattern"))
    return word, getattr(around.scope, word)


def _variant(word: str, around: Surroundings, seen: tuple[str, ...]) -> tuple[str, Node]:
    places = around.places("variants", word)[:2]
    said = dict(around.scope.variants[word])
    like = said.pop("like", None)
    if word in SLOTS:
        raise InputError(f"{word} is the name of a part", "give the variant a name of its own", fields=places)
    if not isinstance(like, str):
        raise InputError("which part is it like?", "write `like: attention` and what differs", fields=places)
    if word in seen:
        raise InputError(f"a circle: {' is like '.join((*seen, word))}", "let one be like a part", fields=places)
    slot, base = _said(like, around, (*seen, word))
    return slot, merged(base, _read_variant(type(base), said, places))


def _read_variant(part: type[Node], said: dict[str, Any], places: list[Path]) -> Node:
    try:
        return part.model_validate(said)
    except ValidationError as error:
        mistake = mistake_in(error, part)
        mistake.fields = tuple((*place, *mistake.fields[0]) for place in places)
        raise mistake from None


def _head(head: Head, stack: ResolvedStack) -> Head:
    head.check_kind(head.kind, ("head",))
    if head.kind == "tied" and head.vocab not in (None, stack.vocab):
        fact = f"a tied head has the embedding's {stack.vocab} rows, not {head.vocab}"
        hint = "leave head.vocab out, or use `kind: lm`, which is not tied"
        raise InputError(fact, hint, fields=[("head", "vocab"), ("head",)])
    if head.kind == "classifier" and head.classes is None:
        raise InputError("how many classes?", "write `head: {kind: classifier, classes: 2}`", fields=[("head",)])
    return head


def _check_shared(encoder: ResolvedStack, decoder: ResolvedStack) -> None:
    for field in ("vocab", "d_model"):
        mine, other = getattr(encoder, field), getattr(decoder, field)
        if mine != other:
            fact = f"a shared embedding needs one {field}, but the encoder has {mine} and the decoder {other}"
            fields: list[Path] = [("embedding", "shared"), ("decoder", field)]
            raise InputError(fact, "make them equal, or drop embedding.shared", fields=fields)


def _check_all_used(spec: Spec, stacks: list[ResolvedStack]) -> None:
    """What is written and used by no block is a mistake, not a remark."""
    used = {word for stack in stacks for word in stack.parts}
    scopes: list[tuple[Path, Any]] = [((), spec), (("encoder",), spec.encoder), (("decoder",), spec.decoder)]
    for path, scope in scopes:
        variants = scope.variants if scope else {}
        like = {str(said.get("like")) for said in variants.values()}
        said = {slot for slot in SLOTS if scope and slot in scope.model_fields_set} | set(variants)
        for word in sorted(said - used - like):
            places: list[Path] = [(*path, "variants", word), (*path, word)]
            raise InputError(f"no block has a part called {word}", "name it in a pattern, or take it out", fields=places)
