"""From the spec as written to a model with every value filled in, or the reason why it cannot be one."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from archcalc.archs.transformer import head, pattern
from archcalc.archs.transformer.head_fields import Head
from archcalc.archs.transformer.nodes import Norm
from archcalc.archs.transformer.parts import SLOTS
from archcalc.archs.transformer.parts.attention_fields import as_cross
from archcalc.archs.transformer.parts.attention_part import AttentionPart
from archcalc.archs.transformer.parts.part import LayerPart, Part, Surroundings
from archcalc.archs.transformer.positions import Encodings, resolved
from archcalc.archs.transformer.positions.encoding import Encoding
from archcalc.archs.transformer.spec import SCOPE_FIELDS, Embedding, Spec, Stack, Streams
from archcalc.archs.transformer.tables import Tables, audio, patches, token_tables
from archcalc.archs.transformer.unused import check_all_used
from archcalc.core.derived import Derived
from archcalc.core.errors import InputError, Path, did_you_mean
from archcalc.layers.attention import Heads
from archcalc.layers.patches import Patches
from archcalc.spec.gathering import STAND_IN, WIDE_STAND_IN, tell
from archcalc.spec.node import merged
from archcalc.spec.reading import read_node
from archcalc.spec.workload import Longest

if TYPE_CHECKING:
    from archcalc.layers.audio import Audio


@dataclass(frozen=True)
class ResolvedStack:
    name: str
    vocab: int | None
    d_model: int
    embedding: Embedding
    patches: Patches | None  # of an image, in the place of tokens
    positions: Encodings
    norm: Norm
    dropout: float
    parallel: str | None
    block_scale: bool
    residual_attention: bool
    streams: Streams | None
    distinct: int | None
    once: tuple[str, ...]
    tables: Tables
    audio: Audio | None
    items: pattern.Items
    parts: dict[str, Part]  # by the words of the pattern

    @property
    def windows(self) -> tuple[int, int] | None:
        """Of an image's patches, which then stand window by window."""
        readers = [part.windows for part in self.parts.values() if isinstance(part, AttentionPart)]
        return next(filter(None, readers), None)

    def made_small(self, original: ResolvedStack) -> ResolvedStack:
        """In a small model, embedding widths follow d_model and groups divide channels."""
        as_wide = original.tables.width == original.d_model
        tables = replace(self.tables, width=self.d_model) if as_wide else self.tables
        parts = {word: part.within(self.d_model) for word, part in self.parts.items()}
        audio = self.audio and self.audio.within(self.d_model, original.d_model)
        return replace(self, tables=tables, parts=parts, audio=audio)


_TELLING = {"moe", "mamba", "delta", "rglru", "lightning"}  # parts that a reader wants to know of first


@dataclass(frozen=True)
class Transformer:
    encoder: ResolvedStack | None
    decoder: ResolvedStack | None
    head: Head
    head_vocab: int | None
    spare: dict[str, tuple[int, ...]]  # kept, read by nothing

    @property
    def stacks(self) -> tuple[ResolvedStack, ...]:
        return tuple(stack for stack in (self.encoder, self.decoder) if stack)

    @property
    def unwitnessed(self) -> str:
        """What archcalc's own PyTorch reference does not have, in words."""
        parts = (part.unwitnessed for stack in self.stacks for part in stack.parts.values())
        streams = ("hyper-connections" for stack in self.stacks if stack.streams)
        earlier = ("attention to residuals" for stack in self.stacks if stack.residual_attention)
        return " and ".join(dict.fromkeys(filter(None, (*parts, *streams, *earlier))))

    @property
    def kind(self) -> str:
        """`encoder-decoder`; `mamba moe decoder` where parts other than attention and FFN make it another kind."""
        used = {part.slot for stack in self.stacks for part in stack.parts.values()}
        return " ".join([*sorted(used & _TELLING), "-".join(stack.name for stack in self.stacks)])

    @property
    def lengths(self) -> dict[str, Longest]:
        """The sequence lengths a user chooses, each with the longest that the positions allow."""
        names = ("src_seq", "tgt_seq") if len(self.stacks) == 2 else ("seq",)
        found: dict[str, Longest] = {}
        for name, stack in zip(names, self.stacks, strict=True):
            if stack.patches:  # an image sets its own
                made_of = f"it is the image's {stack.patches.described}; change the image: --set image=384"
                found[name] = Longest(stack.patches.seq, hard=True, fixed=made_of)
                continue
            # a position table limits the length; for others `length` is the trained context
            limits = [position for position in stack.positions if position.length]
            tables = [position for position in limits if position.on_embedding]
            longest = next((one.length for one in (*tables, *limits)), None)
            found[name] = Longest(longest, hard=bool(tables))
            if stack.audio:
                found[name] = found[name]._replace(
                    usual=stack.audio.usual, least=stack.audio.least, because="convolutions of a padded frame make more"
                )
        return found


def resolve(spec: Spec, memory: int = 0) -> Transformer:
    """`memory` is the width of what another part of the model gives to cross-attention, where one does."""
    if not (spec.encoder or spec.decoder):
        hint = "give the number of blocks: `decoder: 12`, `encoder: 12` or both"
        tell(InputError("neither encoder nor decoder is given", hint, field="decoder"))
        spec = spec.model_copy(update={"decoder": Stack(blocks=STAND_IN)})
    stacks = {name: _stack(spec, name, memory) for name in ("encoder", "decoder") if getattr(spec, name)}
    check_all_used(spec, {word for stack in stacks.values() for word in stack.parts})
    encoder, decoder, last = stacks.get("encoder"), stacks.get("decoder"), [*stacks.values()][-1]
    if encoder and decoder:
        _check_pair(encoder, decoder)
    if spec.seq and all(stack.patches for stack in stacks.values()):
        raise InputError("the sequence follows from the image", "take seq out, or change the image", fields=[("seq",)])
    vocab = spec.head.vocab or (last.vocab and Derived(last.vocab))
    return Transformer(encoder, decoder, head.resolve(spec.head, last), vocab, spec.spare)


def _stack(spec: Spec, name: str, memory: int) -> ResolvedStack:
    shared = {field: getattr(spec, field) for field in SCOPE_FIELDS if field in spec.model_fields_set}
    scope = merged(Stack.model_construct(_fields_set=set(shared), **shared), getattr(spec, name))
    around = Surroundings(
        scope=scope,
        stack=name,
        d_model=scope.d_model or WIDE_STAND_IN,
        norm=scope.norm,
        has_memory=bool(memory or (spec.encoder and name == "decoder")),
        causal=name == "decoder",
    )
    around.needed(scope.d_model, "d_model", "the width of the model, such as `d_model: 512`")
    scope.norm.check_kind(scope.norm.kind, ("norm",))
    scope.embedding.check_kind(scope.embedding.kind, *around.places("embedding"))
    sound = None
    if scope.embedding.kind == "patches":
        around = around._replace(patches=patches(around))
    elif scope.embedding.kind == "audio":
        sound = audio(around)
    elif scope.embedding.kind == "tokens":
        around.needed(scope.vocab, "vocab", "the number of tokens, such as `vocab: 32000`")
    return stack_of(around, sound, spec.head.further if name == "decoder" else frozenset())


def stack_of(around: Surroundings, sound: Audio | None = None, further: frozenset[str] = frozenset()) -> ResolvedStack:
    """The stack of a scope that is checked: its blocks, and what stands in front of them."""
    scope, items = around.scope, _items(around)
    return ResolvedStack(
        name=around.stack,
        vocab=scope.vocab,
        d_model=around.d_model,
        embedding=scope.embedding,
        parts=_parts(items, around, further),
        patches=around.patches,
        positions=resolved(around),
        norm=scope.norm,
        dropout=scope.dropout,
        parallel=scope.parallel,
        block_scale=scope.block_scale,
        residual_attention=scope.residual_attention,
        streams=_streams(around),
        distinct=scope.distinct,
        once=scope.once,
        tables=token_tables(around),
        audio=sound,
        items=items,
    )


def _streams(around: Surroundings) -> Streams | None:
    """They stand around each part, and so replace its residual."""
    scope, streams = around.scope, around.scope.streams
    if streams is None:
        return None
    around.needed(streams.number, "number", "how many streams there are, such as `streams: 4`", "streams")
    if scope.parallel or scope.norm.place == "post" or scope.once:
        fact = "streams are mixed around one part after the other, with a norm in front of it"
        raise InputError(fact, "leave parallel, `place: post` and once out", fields=around.places("streams"))
    return streams


def _items(around: Surroundings) -> pattern.Items:
    scope, name = around.scope, around.stack
    if scope.pattern is None:
        if scope.blocks is None:
            tell(InputError("how many blocks?", f"write `{name}: 12`", fields=[(name,)], field=name))
        usual = pattern.USUAL[around.has_memory]
        items: pattern.Items = (pattern.Line(scope.blocks or STAND_IN, tuple(usual.split())),)
    else:
        items = pattern.parse(scope.pattern)
        items = pattern.cycled(items, scope.blocks or pattern.blocks_of(items))
    if not scope.distinct:
        return items
    if len(items) > 1 or isinstance(items[0], pattern.Group):
        hint = "leave distinct out, or let all blocks have the same parts"
        raise InputError("only equal blocks can share weights", hint, fields=[(name, "distinct"), (name,)])
    return pattern.shared(items, scope.distinct)


def _parts(items: pattern.Items, around: Surroundings, further: frozenset[str]) -> dict[str, Part]:
    """The parts that the pattern names, those side by side after those that they are made of; and those of blocks for
    multi-token prediction."""
    scope, parts = around.scope, dict[str, Part]()
    words = {word for line in pattern.lines_of(items) for word in line.words}
    words |= {alone for word in words for alone in word.split(pattern.BESIDE)} | set(scope.once) | further
    for word in sorted(words, key=lambda word: (pattern.BESIDE in word, word)):
        if pattern.BESIDE in word:
            from archcalc.archs.transformer.together import together

            parts[word] = together(word, parts, around)
            continue
        slot, node = _node_of(word, around, ())
        norm = merged(scope.norm, node.norm or Norm())
        made = importlib.import_module(SLOTS[slot].module).resolve(word, slot, node, around._replace(norm=norm))
        if not isinstance(made, Part):  # a layer that needs nothing else of its stack
            made = LayerPart(word, norm, scope.dropout, made, layer_scale=scope.layer_scale, slot=slot)
        parts[word] = made
    readers = [part for part in parts.values() if isinstance(part, AttentionPart)]
    if len({part.windows for part in readers if part.windows}) > 1:
        fact = "patches stand window by window, and attention layers have windows of different sizes"
        raise InputError(fact, "give all of them one size", fields=around.places("attention", "windows"))
    tables = [(position, part.layer) for part in readers for position in part.positions if position.is_of_stack]
    if tables:
        _check_one_table(tables, around)
    if scope.parallel:
        _check_parallel(parts, around)
    if any(part.is_bound for part in parts.values()):
        from archcalc.archs.transformer.earlier import check_readers

        check_readers(parts, items, around)
    return parts


def _check_one_table(tables: Sequence[tuple[Encoding, Heads]], around: Surroundings) -> None:
    """A position table of the stack is shared by all its attention layers, so their heads must agree."""
    for position, _ in tables:
        alike = [layer for other, layer in tables if other.kind == position.kind]
        position.check_one_table(alike, around.places("position"))
    if len({position.table(layer) for position, layer in tables}) > 1:
        fact = "one position table for the stack, but attention layers with different position settings"
        hint = "give all attention layers of the stack the same position settings"
        raise InputError(fact, hint, fields=around.places("position"))


def _check_parallel(parts: dict[str, Part], around: Surroundings) -> None:
    """Parallel sublayers are pre-norm, and those that share a norm must have the same one."""
    for part in parts.values():
        if part.norm.place != "pre":
            fact = f"parallel parts are pre-norm, not `place: {part.norm.place}`"
            raise InputError(fact, "use `place: pre`, or leave parallel out", fields=around.places("parallel"))
    if around.scope.parallel == "shared" and len({part.norm for part in parts.values()}) > 1:
        hint = "use `parallel: separate`, or one norm for all"
        raise InputError("parts that share a norm have different ones", hint, fields=around.places("parallel"))


def _node_of(word: str, around: Surroundings, seen: tuple[str, ...]) -> tuple[str, Any]:
    """The part that a pattern word names, and its fields; a variant is a part with overridden fields."""
    if word in around.scope.variants:
        return _variant(word, around, seen)
    if word not in SLOTS:
        known = [*SLOTS, *around.scope.variants]
        raise InputError(f"no part called {word}", did_you_mean(word, known), fields=around.places("pattern"))
    node: Any = getattr(around.scope, word) or SLOTS[word].node()
    return word, as_cross(around.scope.attention, node) if word == "cross" else node


def _variant(word: str, around: Surroundings, seen: tuple[str, ...]) -> tuple[str, Any]:
    places = around.places("variants", word)[:2]
    variant = dict(around.scope.variants[word])
    like = variant.pop("like", None)
    if word in SLOTS:
        raise InputError(f"{word} is the name of a part", "give the variant a name of its own", fields=places)
    if not isinstance(like, str):
        raise InputError("`like` is missing", "write `like: attention` and what differs", fields=places)
    if word in seen:
        raise InputError(
            f"circular reference: {' is like '.join((*seen, word))}", "end the chain of `like` at a part", fields=places
        )
    slot, base = _node_of(like, around, (*seen, word))
    try:
        return slot, merged(base, read_node(type(base), variant))
    except InputError as found:
        for mistake in found.each():
            mistake.fields = tuple((*place, *mistake.fields[0]) for place in places)
        raise


def _check_pair(encoder: ResolvedStack, decoder: ResolvedStack) -> None:
    """Refuses an encoder that no decoder block attends to, and an embedding that both cannot share."""
    if not any(isinstance(part, AttentionPart) and part.layer.cross for part in decoder.parts.values()):
        hint = "name cross in the decoder's pattern, such as `attention cross ffn`, or take the encoder out"
        fields: list[Path] = [("decoder", "pattern"), ("encoder",)]
        raise InputError("no block of the decoder attends to the encoder", hint, fields=fields)
    if not (encoder.embedding.shared or decoder.embedding.shared):
        return
    if encoder.patches or encoder.audio:
        hint = "drop embedding.shared: the encoder reads no tokens"
        raise InputError("there is no second token table to share", hint, fields=[("decoder", "embedding")])
    sizes = {
        "vocab": (encoder.vocab, decoder.vocab),
        "d_model": (encoder.d_model, decoder.d_model),
        "embedding width": (encoder.tables.width, decoder.tables.width),
    }
    for field, (mine, other) in sizes.items():
        if mine != other:
            fact = f"a shared embedding needs one {field}, but the encoder has {mine} and the decoder {other}"
            fields = [("embedding", "shared"), ("decoder", field)]
            raise InputError(fact, "make them equal, or drop embedding.shared", fields=fields)
