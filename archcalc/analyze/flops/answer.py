"""How much computation: forward, backward and recomputed, layer by layer and by kind of work.

`forward`, `backward` and `total` are matrix products by the convention of PyTorch's FlopCounterMode: two FLOPs for each
multiply-add, attention computed in full. What recomputation adds, and elementwise work, are figures of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from archcalc.analyze.flops.cost import Piece, Work, work
from archcalc.analyze.flops.report import INTENSITY, Amounts, FlopsReport, Row
from archcalc.analyze.params import params
from archcalc.core.assumptions import Topic, without
from archcalc.core.count import Count, total
from archcalc.core.errors import InputError
from archcalc.core.execution import never
from archcalc.core.ir import Module, ModuleGroup, Param, Region, Tensor, notes_of, walk, work_notes_of
from archcalc.core.precision import Policy
from archcalc.run import lora
from archcalc.run.options import RECOMPUTE
from archcalc.spec.option_checks import checked, chosen
from archcalc.spec.workload import ATTENTION, MODES, Workload

if TYPE_CHECKING:
    from archcalc.model import Model

CAUSAL = ("full", "half")


@dataclass(frozen=True)
class Asked:
    """What is counted, and how."""

    mode: str = "train"
    causal: str = "full"
    recompute: str = "none"
    attention: str = "eager"
    tokens: int | None = None
    lora: int | None = None
    lora_targets: tuple[str, ...] = ()
    freeze: tuple[str, ...] = ()
    precision: str | None = None

    def check(self) -> None:
        for value, choices, option in (
            (self.mode, MODES, "--mode"),
            (self.causal, CAUSAL, "--causal"),
            (self.attention, ATTENTION, "--attention"),
            (self.recompute, RECOMPUTE, "--recompute"),
        ):
            chosen(value, choices, option)
        if self.lora and self.freeze:
            raise InputError("LoRA trains adapters alone: all else is frozen", "leave --freeze out", field="--freeze")
        if self.mode == "train":
            return
        again = self.recompute != "none"
        said = {"--recompute": again, "--tokens": self.tokens, "--lora": self.lora, "--freeze": self.freeze}
        for option, given in said.items():
            if given:
                hint = f"leave out --mode {self.mode}, or {option}"
                raise InputError(f"{option} is about training", hint, field=option)


@checked(Asked)
def flops(
    model: Model,
    *,
    batch: int | None = None,
    seq: int | None = None,
    src_seq: int | None = None,
    tgt_seq: int | None = None,
    context: int | None = None,
    depth: int = 4,
    explain: bool = False,
    names: bool = False,
    **options: Any,
) -> FlopsReport:
    """Options are those of `archcalc flops`."""
    asked = Asked(**options)
    asked.check()
    if context is not None and asked.mode != "decode":
        fact = "--context is what is cached when one more token is decoded"
        raise InputError(fact, "add --mode decode", field="--context")
    if asked.mode == "decode":
        _check_decodes(model)
    sizes: dict[str, Any] = {"batch": batch, "seq": seq, "src_seq": src_seq, "tgt_seq": tgt_seq, "context": context}
    load = model.workload(**sizes, mode=asked.mode, attention=asked.attention)
    if model.spec.family == "weights":
        hint = "give the model's config.json or a spec"
        raise InputError("a file of weights does not say what is computed with them", hint)
    root = model.build(load, (lora.Lora(asked.lora, tuple(asked.lora_targets)),) if asked.lora else ())
    done = _work(root, asked)
    return FlopsReport(
        model=model.name,
        assumptions=tuple(_assumptions(asked, load, root, context)),
        scope=model.scope,
        mode=asked.mode,
        batch=load.batch,
        lengths=load.lengths,
        context=load.context,
        amounts=_amounts(done),
        kinds={kind: _amounts(_of_kind(done, kind)) for kind in KINDS_OF_WORK if _of_kind(done, kind).pieces},
        tokens=tokens_of(load),
        corpus=asked.tokens,
        parameters=int(params(root, model="", precision=None).active),
        rows=tuple(_rows(root, done, Policy(asked.precision or model.spec.precision or "fp32"))),
        depth=depth,
        explain=explain,
        names=names,
    )


def _check_decodes(model: Model) -> None:
    """Whoever decodes keeps something for the next token, however short the sequences."""
    lengths = dict.fromkeys(model.resolved.lengths, 1)
    if not lengths:
        return  # a model without sequences is refused with its workload
    root = model.build(Workload(1, lengths, mode="decode"))
    if not any(op.output.role == "cache" for module, _ in walk(root) for op in module.ops):
        hint = "use --mode train or prefill"
        raise InputError("this model keeps no cache: it decodes nothing", hint, field="--mode")


def _work(root: Module, asked: Asked) -> Work:
    trainable = lora.is_adapter if asked.lora else lora.all_but(root, asked.freeze)
    trainable = trainable if asked.mode == "train" else never
    return work(root, trainable=trainable, recompute=RECOMPUTE[asked.recompute], causal=asked.causal)


def tokens_of(load: Workload) -> int:
    """Positions that are computed, of source and target together; samples where the model reads no sequence.

    A decode step computes one for each sequence: the source was read before."""
    return load.batch if load.decodes else load.batch * max(1, sum(load.lengths.values()))


def _assumptions(asked: Asked, load: Workload, root: Module, context: int | None) -> Iterator[str]:
    yield "matrix products, two FLOPs for each multiply-add; elementwise work apart, by archcalc's convention"
    masked = any(op.seen for module, _ in walk(root) for op in module.ops)
    if asked.causal == "full" and masked:
        yield "attention in full: what a mask hides is computed too; --causal half counts what is left of it"
    elif masked:
        yield "attention by the pairs that a mask leaves, position i seeing i + 1: S(S+1)/2 of S²"
    if len(load.lengths) > 1 and not load.decodes:
        yield "per token: of source and target together"
    if load.decodes and any(module.region == Region.CORE for module, _ in walk(root)):
        yield f"{load.context:,} tokens are cached: attention runs over {load.context + 1:,}"
    elif load.decodes:
        yield f"{load.context:,} tokens came before: a state takes the same work after any number of them"
    yield from _one_hot(root)
    yield INTENSITY
    yield from notes_of(root)
    yield from work_notes_of(root)
    decoded = [Topic(name) for name in list(load.lengths)[-1:] if context is not None]  # its length is the context
    yield from map(str, without(load.assumptions, *decoded))


def _one_hot(root: Module) -> Iterator[str]:
    """What a textbook's embedding would cost if it were computed as it is written, one-hot · W + b."""
    written = [module for module, _ in walk(root) if "bias" in module.params and module.params["bias"].table]
    looked_up = [op for module in written for op in module.ops if op.traits.reads_rows]
    cost = sum(2 * int(op.output.size) * int(dim.size) for op in looked_up for dim in op.select)
    if cost:
        yield f"embeddings are looked up; computed as one-hot · W they would take {cost:,} more, forward"


def _of_kind(done: Work, kind: str) -> Work:
    return done.where(lambda piece: kind_of(piece) == kind)


KINDS_OF_WORK = ("projections", "attention scores", "states", "feed-forward", "embedding", "head", "elementwise")


def kind_of(piece: Piece) -> str:
    """What a piece of work is part of."""
    if not piece.matrix:
        return "elementwise"
    if piece.module.group in (ModuleGroup.HEAD, ModuleGroup.EMBEDDING):
        return str(piece.module.group)
    weights = [tensor for tensor in piece.op.inputs if isinstance(tensor.storage, Param)]
    if not weights:
        return "states" if _in_kernel(piece.module) else "attention scores"
    inner = any(dim.name.endswith("ffn") or dim.name == "experts" for weight in weights for dim in weight.dims)
    return "feed-forward" if inner else "projections"


def _in_kernel(module: Module) -> bool:
    """States along a sequence (Mamba's, a delta net's, running sums of kernel attention) are computed in one kernel."""
    while module.is_section and module.region != Region.KERNEL and module.parent:
        module = module.parent
    return module.region == Region.KERNEL


def _amounts(done: Work) -> Amounts:
    return Amounts(done.forward, done.backward, done.recompute, done.elementwise, done.elementwise_backward)


def _rows(module: Module, done: Work, policy: Policy) -> Iterator[Row]:
    """A module before what it holds, and behind that its products that are none of the layers below."""
    share = done.of(module)
    if not share.pieces or module.is_section:
        return
    yield Row(
        path=module.path or "model",
        title=module.title,
        times=module.runs,
        repeat=_repeat(module),
        amounts=replace(_amounts(share), forward=_worked(module, share)),
        bytes=_moved(share, policy),
    )
    for child in module.children:
        yield from _rows(child, done, policy)
    holding = _holding(module, share)
    if holding and (own := _own(share, holding)).forward:
        yield _own_row(module, own, policy)


def _own_row(module: Module, own: Work, policy: Policy) -> Row:
    """Attention's scores and what they look up, states along a sequence: what no layer below has weights for."""
    kinds = {kind_of(piece) for piece in own.pieces if piece.matrix}
    taken = {child.name for child in module.children}
    name = next((kind.split()[-1] for kind in ("attention scores", "states") if kinds == {kind}), "itself")
    name = "itself" if name in taken else name
    path = f"{module.path}.{name}" if module.path else name
    return Row(path, name, Count(1), _repeat(module), _amounts(own), _moved(own, policy))


def _repeat(module: Module) -> int:
    return int(module.runs) * (_repeat(module.parent) if module.parent else 1)


def _worked(module: Module, share: Work) -> Count:
    """Layers that hold no others are written out, larger ones as the sum of what they hold."""
    holding = _holding(module, share)
    if not holding:
        return share.forward
    own = _own(share, holding).forward
    return total([own, *(Count.named(child.term, share.of(child).forward, subtotal=True) for child in holding)])


def _holding(module: Module, share: Work) -> list[Module]:
    """The layers below that have products."""
    return [child for child in module.children if not child.is_section and share.of(child).forward]


def _own(share: Work, holding: list[Module]) -> Work:
    below = [share.of(child).pieces for child in holding]
    return share.where(lambda piece: not any(piece in pieces for pieces in below))


def _moved(share: Work, policy: Policy) -> int:
    """Bytes of every factor and result of the products."""
    return sum(
        int(piece.times) * sum(_size(tensor, policy) for tensor in (*piece.op.inputs, piece.op.output))
        for piece in share.pieces
        if piece.matrix
    )


def _size(tensor: Tensor, policy: Policy) -> int:
    return int(tensor.size) * policy.bytes_of(tensor.role)
