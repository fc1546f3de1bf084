"""One stack of recurrent layers with every width filled in, or the reason why it cannot be one."""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.archs.recurrent.spec import ONE_HOT, SCOPE_FIELDS, Decoder, Scope, Spec, Stack
from archcalc.core.errors import InputError, Path
from archcalc.spec.gathering import STAND_IN, tell
from archcalc.spec.node import merged

_CELLS = {"gru": "a GRU", "rnn": "a plain RNN"}
ALONE = "layers"  # the name of a stack that is neither encoder nor decoder


@dataclass(frozen=True)
class Layer:
    """A layer's inputs (x and, in some decoders, a context), and its state."""

    input: int
    context: int
    hidden: int
    projection: int | None
    directions: int
    residual: bool

    @property
    def state(self) -> int:
        """The width of h in one direction."""
        return self.projection or self.hidden

    @property
    def output(self) -> int:
        return self.state * self.directions

    @property
    def widths(self) -> tuple[int, int, int]:
        """What determines the shape of its last states."""
        return self.state, self.hidden, self.directions


@dataclass(frozen=True)
class Layers:
    """`times` equal layers in a row, the `first` of them counted from 1."""

    first: int
    times: int
    layer: Layer

    @property
    def last(self) -> int:
        return self.first + self.times - 1


@dataclass(frozen=True)
class ResolvedStack:
    name: str
    vocab: int | None
    embedding: int | None  # its width; None where vectors come in instead of tokens, or one-hot ones
    one_hot: bool
    one_hot_bias: bool
    shared: bool
    input: int
    cell: str
    biases: str
    peephole: bool
    dropout: float
    layers: tuple[Layers, ...]

    @property
    def top(self) -> Layer:
        return self.layers[-1].layer

    @property
    def depth(self) -> int:
        return sum(group.times for group in self.layers)

    @property
    def each_layer(self) -> list[Layers]:
        """Every layer by itself."""
        numbered = ((number, group) for group in self.layers for number in range(group.first, group.last + 1))
        return [Layers(number, 1, group.layer) for number, group in numbered]

    def layer(self, number: int) -> Layer:
        return next(group.layer for group in reversed(self.layers) if group.first <= number)


@dataclass(frozen=True)
class ScopedStack:
    """The fields of a stack: its own override those at the top."""

    name: str
    scope: Scope

    def places(self, *path: str) -> list[Path]:
        return [path] if self.name == ALONE else [(self.name, *path), path]

    def missing(self, field: str, hint: str) -> InputError:
        near: list[Path] = [(), (self.name,)]
        return InputError("missing", hint, fields=near[1:] if self.name != ALONE else near[:1], field=field)

    @property
    def number(self) -> int:
        hidden = self.scope.hidden
        return len(hidden) if isinstance(hidden, tuple) else self.scope.layers or 1

    def hidden(self, layer: int) -> int:
        hidden = self.scope.hidden or STAND_IN
        return hidden[layer - 1] if isinstance(hidden, tuple) else hidden

    def directions(self, layer: int) -> int:
        both = self.scope.bidirectional
        return 2 if both is True or (both == "first" and layer == 1) else 1

    def state(self, layer: int) -> int:
        return self.scope.projection or self.hidden(layer)


def scoped_stack(spec: Spec, name: str) -> ScopedStack:
    shared = {field: getattr(spec, field) for field in SCOPE_FIELDS if field in spec.model_fields_set}
    top = (Decoder if name == "decoder" else Stack).model_construct(_fields_set=set(shared), **shared)
    return ScopedStack(name, top if name == ALONE else merged(top, getattr(spec, name)))


def check(scoped: ScopedStack) -> None:
    """Checks of a stack that do not depend on the rest of the model."""
    scope = scoped.scope
    if scope.cell is None:
        tell(scoped.missing("cell", "say which: `cell: lstm`, `cell: gru` or `cell: rnn`"))
    if scope.hidden is None:
        tell(scoped.missing("hidden", "give the width of the state, such as `hidden: 128`"))
    if isinstance(scope.hidden, tuple) and scope.layers not in (None, len(scope.hidden)):
        fact = f"{len(scope.hidden)} widths for {scope.layers} layers"
        raise InputError(fact, "give one width for all layers, or one for each", fields=scoped.places("hidden"))
    for feature, name in (("peephole", "peepholes"), ("projection", "a projection")):
        if getattr(scope, feature) and scope.cell and scope.cell != "lstm":
            fact = f"only an LSTM has {name}, {_CELLS[scope.cell]} has none"
            raise InputError(fact, f"use `cell: lstm`, or take {feature} out", fields=scoped.places(feature))
    narrowest = min(scoped.hidden(layer) for layer in _breaks(scoped))
    if scope.projection and scope.projection >= narrowest:
        fact = f"a projection narrows the state, and {scope.projection} is not below hidden {narrowest}"
        hint = f"use one below {narrowest}, or take projection out"
        raise InputError(fact, hint, fields=scoped.places("projection"))
    if scoped.name == "decoder" and scope.bidirectional:
        hint = "write `bidirectional` under `encoder`; fields at the top apply to both"
        raise InputError("a decoder is causal and cannot be bidirectional", hint, fields=scoped.places("bidirectional"))


def resolved(scoped: ScopedStack, contexts: dict[int, int] | None = None) -> ResolvedStack:
    """`contexts` maps the first layer with an extra input to that input's width."""
    scope = scoped.scope
    vocab, embedding, width = _input(scoped)
    stack = ResolvedStack(
        name=scoped.name,
        vocab=vocab,
        embedding=embedding,
        one_hot=scope.embedding.width == ONE_HOT,
        one_hot_bias=scope.embedding.bias,
        shared=scope.embedding.shared,
        input=width,
        cell=scope.cell or "",
        biases=scope.biases or "one",
        peephole=scope.peephole,
        dropout=scope.dropout,
        layers=tuple(_layers(scoped, width, contexts or {})),
    )
    _check_residual(scoped, stack)
    return stack


def _input(scoped: ScopedStack) -> tuple[int | None, int | None, int]:
    """Tokens through a table, or vectors as they are."""
    scope = scoped.scope
    if scope.input and scope.embedding.width:
        fact = "the input is vectors, or tokens through an embedding, not both"
        raise InputError(fact, "take input or embedding out", fields=scoped.places("input"))
    if scope.input:
        return scope.vocab, None, scope.input
    if scope.vocab is None:
        hint = "give the number of tokens, such as `vocab: 20000`; for vector input, its width: `input: 8`"
        tell(scoped.missing("vocab", hint))
    if scope.embedding.width is None:
        hint = "give the width of a token's vector: `embedding: 100`; without a table: `embedding: one-hot`"
        tell(scoped.missing("embedding", hint))
    vocab = scope.vocab or STAND_IN
    if scope.embedding.width == ONE_HOT:
        for option in ("bias", "shared"):
            if getattr(scope.embedding, option):
                fact = f"one-hot vectors have no table, and so no {option}"
                hint = f"take {option} out, or give the table a width: `embedding: {{width: 100, {option}: true}}`"
                raise InputError(fact, hint, fields=scoped.places("embedding", option))
        return vocab, None, vocab
    return vocab, scope.embedding.width, scope.embedding.width or STAND_IN


def _layers(scoped: ScopedStack, width: int, contexts: dict[int, int]) -> list[Layers]:
    """Groups consecutive equal layers, so that large stacks stay small."""
    starts = _breaks(scoped)
    groups: list[Layers] = []
    for start, end in zip(starts, [*starts[1:], scoped.number + 1], strict=True):
        below = scoped.state(start - 1) * scoped.directions(start - 1) if start > 1 else width
        layer = Layer(
            input=below,
            context=contexts.get(min(start, 2), 0),
            hidden=scoped.hidden(start),
            projection=scoped.scope.projection,
            directions=scoped.directions(start),
            residual=scoped.scope.residual is not None and start >= scoped.scope.residual,
        )
        if groups and groups[-1].layer == layer:
            groups[-1] = Layers(groups[-1].first, groups[-1].times + end - start, layer)
        else:
            groups.append(Layers(start, end - start, layer))
    return groups


def _breaks(scoped: ScopedStack) -> list[int]:
    """The layers, counted from 1, that may differ from the previous one."""
    every = range(1, scoped.number + 1)
    each = every if isinstance(scoped.scope.hidden, tuple) else (1, 2, 3, scoped.scope.residual or 1)
    return sorted({layer for layer in each if layer <= scoped.number})


def _check_residual(scoped: ScopedStack, stack: ResolvedStack) -> None:
    residual = scoped.scope.residual
    if residual and residual > stack.depth:
        fact = f"residuals from layer {residual}, but there are {stack.depth} layers"
        raise InputError(fact, "name a layer there is", fields=scoped.places("residual"))
    for group in stack.layers:
        layer = group.layer
        if layer.residual and layer.input != layer.output:
            fact = f"layer {group.first} cannot add its input, {layer.input} wide, to its output, {layer.output} wide"
            hint = f"let residuals begin later than layer {group.first}, or make the widths equal"
            raise InputError(fact, hint, fields=scoped.places("residual"))
