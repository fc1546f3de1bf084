"""From the spec as written to a model with every value filled in, or the reason why it cannot be one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from archcalc.archs.recurrent.spec import Attention, Decoder, Head, Pool, Spec
from archcalc.archs.recurrent.stack import ALONE, ResolvedStack, ScopedStack, check, resolved, scoped_stack
from archcalc.core.budget import Budget
from archcalc.core.derived import Derived
from archcalc.core.errors import InputError, Path
from archcalc.spec.defaults import Default
from archcalc.spec.gathering import tell
from archcalc.spec.workload import Longest

MOST_LAYERS = 1000  # of a decoder whose step is written out layer by layer


@dataclass(frozen=True)
class ResolvedAttention:
    score: str
    when: str
    width: int  # of W and U; 0 where the score has none
    feed: bool
    bias: bool
    normed: bool
    query: int  # the width of the decoder's states
    key: int  # the width of the encoder's
    length: int = 0  # of the source, where a score has a row for each position


@dataclass(frozen=True)
class Recurrent:
    stacks: tuple[ResolvedStack, ...]  # one, or encoder and decoder
    attention: ResolvedAttention | None
    handed_over: bool  # the decoder starts from the encoder's last states
    head: Head
    head_vocab: int

    @property
    def kind(self) -> str:
        return "encoder-decoder" if len(self.stacks) > 1 else ""

    @property
    def lengths(self) -> dict[str, Longest]:
        if len(self.stacks) == 1:
            return {"seq": Longest()}
        length = self.attention.length if self.attention else 0
        fixed = "location attention has a row for each source position: --set attention.length changes it"
        return {"src_seq": Longest(length, fixed=fixed) if length else Longest(), "tgt_seq": Longest()}

    @property
    def pools(self) -> bool:
        """Whether the head reads all positions at once, which rules out decoding."""
        return any(pool.kind not in ("last", "each") for pool in self.head.pool)


def resolve(spec: Spec) -> Recurrent:
    if not (spec.encoder or spec.decoder):
        return resolve_alone(spec)
    if not (spec.encoder and spec.decoder):
        there = "encoder" if spec.encoder else "decoder"
        hint = f"add `{'decoder' if spec.encoder else 'encoder'}:`; a stack of its own is written at the top"
        raise InputError(f"the spec has only the {there}", hint, fields=[(there,)])
    return _pair(spec)


def resolve_alone(spec: Spec, memory: int = 0, context: int = 0) -> Recurrent:
    """A single stack. In a larger model `memory` is the width of what its attention looks at, `context` that of a
    vector which its first layer reads at every step."""
    if spec.attention and not memory:
        hint = "give `encoder:` and `decoder:`, or take attention out"
        raise InputError("attention joins an encoder and a decoder", hint, fields=[("attention",)])
    if memory and not spec.attention:
        hint = "say how it attends, such as `attention: {score: additive, width: 512}`, or take memory out"
        raise InputError("a memory without attention to it", hint, fields=[("memory",)])
    scoped = scoped_stack(spec, ALONE)
    check(scoped)
    attention = _attention(spec.attention, memory, scoped) if spec.attention else None
    if context and attention:
        fact = "a context at every step, and attention, which gives another one"
        raise InputError(fact, "keep one of the two", fields=[("context",), ("attention",)])
    stack = resolved(scoped, {1: context} if context else _contexts(attention))
    if stack.shared:
        fields: list[Path] = [("embedding", "shared"), ("embedding",)]
        raise InputError("shared is for two token tables, and there is only one", "take shared out", fields=fields)
    return Recurrent((stack,), attention, False, _head(spec, stack, stack.top.output), _head_vocab(spec, stack))


def _pair(spec: Spec) -> Recurrent:
    sides = {name: scoped_stack(spec, name) for name in ("encoder", "decoder")}
    for scoped in sides.values():
        check(scoped)
    encoder, into = resolved(sides["encoder"]), sides["decoder"]
    attention = _attention(spec.attention, encoder.top.output, into) if spec.attention else None
    decoder = resolved(into, _contexts(attention))
    for field in ("vocab", "embedding") if encoder.shared or decoder.shared else ():
        mine, other = getattr(encoder, field), getattr(decoder, field)
        if mine != other or mine is None:
            sizes = f"the encoder has {mine or 'none'} and the decoder {other or 'none'}"
            fact = f"a shared table needs one {field}, but {sizes}"
            fields: list[Path] = [("embedding", "shared"), ("decoder", field), ("embedding",)]
            raise InputError(fact, "make them equal, or take shared out", fields=fields)
    handed_over = _starts_from_encoder(into, encoder, decoder, bool(attention))
    head = _head(spec, decoder, decoder.top.output)
    return Recurrent((encoder, decoder), attention, handed_over, head, _head_vocab(spec, decoder))


def _contexts(attention: ResolvedAttention | None) -> dict[int, int]:
    """The extra inputs of the first layer (1) and of those above it (2)."""
    if attention is None:
        return {}
    if attention.when == "after":
        return {1: attention.query} if attention.feed else {}
    return {1: attention.key} if attention.when == "before" else {2: attention.key}


def _attention(scoped: Attention, key: int, decoder: ScopedStack) -> ResolvedAttention:
    if scoped.score is None:
        hint = "say which: dot, general, additive, concat or location"
        tell(InputError("missing", hint, fields=[("attention",)], field="attention.score"))
    tanh = scoped.score in ("additive", "concat")
    when = scoped.when or ("before" if tanh else "after")
    query = decoder.state(1 if when == "between" else decoder.number)
    _check_score(scoped, query, key, tanh)
    _check_order(scoped, when, decoder)
    return ResolvedAttention(
        score=scoped.score or "",
        when=when,
        width=scoped.width or 0,
        feed=scoped.feed,
        bias=scoped.bias,
        normed=scoped.normed,
        query=query,
        key=key,
        length=scoped.length or 0,
    )


def _check_score(scoped: Attention, query: int, key: int, tanh: bool) -> None:
    if tanh and scoped.width is None:
        hint = f"give the width inside the tanh: `attention: {{score: {scoped.score}, width: {query}}}`"
        tell(InputError("missing", hint, fields=[("attention",)], field="attention.width"))
    if scoped.width and not tanh:
        fact = f"{scoped.score} has no width of its own"
        raise InputError(fact, "take it out, or use `score: additive`", fields=[("attention", "width")])
    if scoped.score == "location" and scoped.length is None:
        hint = "give the number of source positions, which W has a row for: `attention: {score: location, length: 50}`"
        tell(InputError("missing", hint, fields=[("attention",)], field="attention.length"))
    if scoped.length and scoped.score != "location":
        fact = f"{scoped.score} takes sources of any length"
        raise InputError(fact, "take length out, or use `score: location`", fields=[("attention", "length")])
    if scoped.normed and scoped.score != "additive":
        hint = "use `score: additive`, or take normed out"
        raise InputError(
            f"{scoped.score} has no vector v that could be normalised", hint, fields=[("attention", "normed")]
        )
    if scoped.score == "dot" and query != key:
        fact = f"dot needs states of one width, but the encoder's are {key} wide and the decoder's {query}"
        hint = f"use `score: general`, which has a matrix between them, or `decoder: {{hidden: {key}}}`"
        raise InputError(fact, hint, fields=[("attention", "score"), ("attention",)])


def _check_order(scoped: Attention, when: str, decoder: ScopedStack) -> None:
    attending = Budget("attending layers in one step", MOST_LAYERS, "give the decoder fewer layers")
    attending.spend(decoder.number, decoder.places("layers"))
    if when == "between" and decoder.number == 1:
        hint = "give the decoder a second layer, or use `when: before` or `when: after`"
        fact = "`when: between` needs a decoder with two layers or more"
        raise InputError(fact, hint, fields=[("attention", "when")])
    if scoped.feed and when != "after":
        hint = "use `when: after`, or take feed out"
        raise InputError(f"only h̃ is fed back, and `when: {when}` has none", hint, fields=[("attention", "feed")])


def _starts_from_encoder(scoped: ScopedStack, encoder: ResolvedStack, decoder: ResolvedStack, attends: bool) -> bool:
    """Without attention the last states are all the decoder gets from the source."""
    assert isinstance(scoped.scope, Decoder)
    start = scoped.scope.start or ("zeros" if attends else "encoder")
    if start == "zeros" and not attends:
        hint = "use `start: encoder`, or give `attention:`"
        fact = "a decoder that starts from zeros without attention gets nothing from the encoder"
        raise InputError(fact, hint, fields=[("decoder", "start")])
    if start == "zeros":
        return False
    check_states(encoder, decoder, [("decoder", "start"), ("decoder",)])
    return True


def check_states(encoder: ResolvedStack, decoder: ResolvedStack, fields: list[Path]) -> None:
    """Whether the last states of the one can begin the other."""
    described = [f"{stack.depth} {stack.cell} layer{'s' if stack.depth > 1 else ''}" for stack in (encoder, decoder)]
    if described[0] != described[1]:
        fact = f"{described[0]} cannot pass their last states to {described[1]}"
        raise InputError(fact, "make them equal, or use `start: zeros` and attention", fields=fields)
    for number in sorted({group.first for stack in (encoder, decoder) for group in stack.layers}):
        mine, other = encoder.layer(number), decoder.layer(number)
        if (mine.output, mine.hidden * mine.directions) != (other.output, other.hidden):
            fact = f"the encoder's last states are {mine.output} wide, the decoder's {other.output}"
            hint = f"use `decoder: {{hidden: {mine.hidden * mine.directions}}}`, or `start: zeros` and attention"
            raise InputError(f"{fact}: they cannot be passed on", hint, fields=fields)


def _head(spec: Spec, stack: ResolvedStack, width: int) -> Head:
    head = spec.head
    head.check_kind(head.kind, ("head",))
    if head.kind == "classifier" and head.classes is None:
        hint = "write `head: {kind: classifier, classes: 2}`"
        tell(InputError("how many classes?", hint, fields=[("head",)], field="head"))
    if head.kind == "tied" and stack.embedding != width:
        wide = f"the embedding is {stack.embedding} wide" if stack.embedding else "there is no embedding"
        fact = f"a tied head uses the embedding table, but states are {width} wide and {wide}"
        hint = "give the last layer that width (`hidden: [1150, 1150, 400]`), a projection to it, or use `head: lm`"
        raise InputError(fact, hint, fields=[("head", "kind"), ("head",)])
    for index, pool in enumerate(head.pool):
        fields: list[Path] = [("head", "pool", index), ("head", "pool")]
        pool.check_kind(pool.kind, *fields)
        if pool.kind == "each" and len(head.pool) > 1:
            hint = "take each out, which classifies every position, or the others"
            raise InputError("each stands side by side with no pooling", hint, fields=fields)
        if pool.bias and pool.width is None:
            hint = "give the width inside the tanh, such as `width: 100`, or take bias out"
            fact = "the bias stands inside the tanh, and without a width there is none: a bias of vᵀh would cancel"
            raise InputError(fact, hint, fields=[(*path, "bias") for path in fields])
        if pool.kind in [other.kind for other in head.pool[:index]]:
            raise InputError(f"{pool.kind} stands here twice", "take one out", fields=[("head", "pool", index)])
    usual = (Pool(),) if head.kind == "classifier" else ()
    return head.model_copy(update={"pool": head.pool or usual})


def _head_vocab(spec: Spec, stack: ResolvedStack) -> int:
    vocab = spec.head.vocab or stack.vocab
    if vocab is None and spec.head.kind == "lm":
        hint = "write `head: none`, `head: {kind: classifier, classes: 2}`, or give it a vocab"
        tell(InputError("missing", hint, fields=[("head",), ("input",)], field="head.vocab"))
    return spec.head.vocab or Derived(vocab or 0)


def defaults(spec: Spec, model: Recurrent) -> Iterator[Default]:
    """What it takes for fields that its spec leaves out."""
    yield Default(("biases",), "one")  # every report names the convention of the biases
    depths = {stack.depth for stack in model.stacks}
    if len(depths) == 1:
        yield Default(("layers",), depths.pop())
    if model.attention:
        yield Default(("attention", "when"), model.attention.when, f"attention {model.attention.when} the step")
        yield Default(("attention", "bias"), False, "no biases in attention")
    if len(model.stacks) > 1:
        start, states = ("encoder", "the encoder's last states") if model.handed_over else ("zeros", "zeros")
        yield Default(("decoder", "start"), start, f"the decoder starts from {states}")
    head, bias = model.head, "with" if model.head.bias else "without"
    if head.kind == "lm":
        yield Default(("head", "kind"), "lm", f"untied head {bias} bias")
    if head.kind == "classifier":
        yield Default(("head", "bias"), head.bias, f"classifier {bias} bias")
        yield Default(("head", "pool"), "last", "the last state classified")
    yield Default(("precision",), "fp32")
