"""FLOPs: forward, backward and recomputation, by layer and by kind of op.

`forward`, `backward` and `total` are matrix products by the convention of PyTorch's FlopCounterMode: two FLOPs for each
multiply-add, attention computed in full. Recomputation and elementwise ops are reported separately.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from archcalc.analyze.flops.cost import Piece, Work, work
from archcalc.analyze.flops.movement import Movement, NumberFormats, Share
from archcalc.analyze.flops.report import INTENSITY, Amounts, FlopsReport, Row
from archcalc.analyze.memory.states import keeping_of
from archcalc.analyze.option_checks import check_cache, check_decodes, check_plan, check_sense, check_sizes
from archcalc.analyze.params import tally
from archcalc.analyze.placement import on_named_device
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import Count, total
from archcalc.core.errors import InputError
from archcalc.core.execution import never
from archcalc.core.ir import Module, ModuleGroup, Param, Region, walk
from archcalc.core.notes import notes_of
from archcalc.core.roles import ATTENTION, FEED_FORWARD, Role
from archcalc.core.tree import ops_in
from archcalc.network import Network
from archcalc.run import lora, sequence_parallel
from archcalc.run.choice import Choice
from archcalc.run.choice import notes_of as choices_in_words
from archcalc.run.option_words import RECOMPUTE
from archcalc.run.options import Options
from archcalc.run.resolve import resolve
from archcalc.run.resolved import Run
from archcalc.run.shown import shown_choices, size_choices
from archcalc.run.style import parameter_style
from archcalc.run.tree_changes import parameter_changes
from archcalc.spec.traces import Change
from archcalc.spec.workload import Workload

INFER = Assumption(
    Topic.COST, "infer: FLOPs of reading the prompt (prefill); --mode decode counts one token", "prefill"
)
PRODUCTS = Assumption(
    Topic.COST, "matrix products, two FLOPs per multiply-add; elementwise ops apart, by archcalc's convention"
)
NOT_AGAIN = Assumption(
    Topic.ATTENTION,
    "scores that a fused kernel computes again in the backward pass are not counted; --attention flash counts them",
)
CHOSEN = Assumption(
    Topic.COST,
    "weights read and FLOP/B: of the experts that are expected to be chosen, if every token chooses independently and "
    "all experts are equally likely",
)
CONVOLUTIONS, CELLS, PROJECTIONS, SCORES = "convolutions", "recurrent cells", "projections", "attention scores"
STATES, FEED_FORWARDS, LINEARS, CLASSIFIER = "states", "feed-forward", "linear layers", "classifier"
ADAPTERS, MATRICES = "LoRA adapters", "matrix products"
KINDS_OF_WORK = (
    *(CONVOLUTIONS, CELLS, PROJECTIONS, SCORES, STATES, MATRICES, FEED_FORWARDS, LINEARS, ADAPTERS),
    *("embedding", "head", CLASSIFIER, "elementwise"),
)
BY_ROLE = {
    Role.CONVOLUTION: CONVOLUTIONS,
    Role.RECURRENT: CELLS,
    Role.CELL: CELLS,
    Role.SCORES: SCORES,
    Role.ADAPTER: ADAPTERS,
    **dict.fromkeys(ATTENTION, PROJECTIONS),
    **dict.fromkeys((*FEED_FORWARD, Role.SHARED_SCALE, Role.LATENT_IN, Role.LATENT_OUT), FEED_FORWARDS),
}


def flops(model: Network, asked: Options, *, depth: int = 4, explain: bool = False, names: bool = False) -> FlopsReport:
    """Options are those of `archcalc flops`."""
    asked = on_named_device(model, asked)
    load, share = _shared(model, asked)
    root, done, used = share.root, _work(share.root, asked, share), resolve(model, asked)
    formats = NumberFormats(share, used, keeping_of(model, root, used))
    moved, chosen = Movement(share, formats, used.attention, load.decodes), shown_choices(used, model, root)
    kinds = [(kind_of(piece), piece) for piece in done.pieces]
    by_kind = {kind: Work(tuple(piece for own, piece in kinds if own == kind)) for kind in KINDS_OF_WORK}
    return FlopsReport(
        model=model.name,
        assumptions=(*_assumptions(asked, load, root, share), *_of_run(used, chosen)),
        scope=model.scope,
        choices=(*size_choices(load, used.said), *chosen),
        cards=used.cards,
        asked_mode=asked.mode,
        mode=load.mode,
        batch=load.batch,
        lengths=load.lengths,
        context=load.context,
        plan=share.plan,
        weights=formats.weights,
        traffic=moved.traffic(),
        amounts=_amounts(done),
        kinds={kind: _amounts(part) for kind, part in by_kind.items() if part.pieces},
        tokens=tokens_of(load),
        corpus=asked.tokens,
        parameters=tally(root).active,
        rows=tuple(_rows(root, done, moved)),
        depth=depth,
        explain=explain,
        names=names,
    )


def amounts(model: Network, asked: Options) -> tuple[Amounts, int]:
    """The FLOPs of the whole model alone, and of how many tokens they are."""
    load, share = _shared(model, asked)
    return _amounts(_work(share.root, asked, share)), tokens_of(load)


def traced(model: Network, asked: Options) -> Module:
    """The model as it is counted, with adapters where it has them."""
    return _shared(model, on_named_device(model, asked))[1].root


def _shared(model: Network, asked: Options) -> tuple[Workload, Share]:
    """What is computed, and one GPU's share of it under the given plan, which the model must support."""
    mode = "prefill" if asked.mode == "infer" else asked.mode
    if mode == "decode":
        check_decodes(model)
    load = model.workload(**asked.sizes.given(), mode=mode, attention=asked.attention or "eager")
    if model.spec.family == "weights":
        hint = "give the model's config.json or a spec"
        raise InputError("a weights file does not describe the computation", hint)
    styled, changes = load, list[Change]()
    if asked.lora and asked.trains:  # adapters of the matrices that the code has
        used = resolve(model, asked)
        styled, changes = replace(load, style=parameter_style(used)), [*parameter_changes(used)]
    elif asked.lora:
        changes = [lora.Lora(asked.lora, asked.adapted, asked.freeze or ())]
    if asked.sp:
        changes.append(sequence_parallel.split_sequence)
    root = model.build(styled, tuple(changes))
    check_plan(root, asked.plan)
    check_sense(root, asked)
    check_sizes(load, asked)
    check_cache((op.output for op in ops_in(root) if op.output.role == "cache"), asked)
    return load, Share(root, asked.plan)


def _work(root: Module, asked: Options, share: Share) -> Work:
    trainable = lora.is_adapter if asked.lora else lora.all_but(root, asked.freeze or ())
    trainable = trainable if asked.trains else never
    recompute = RECOMPUTE[asked.recompute or "none"]
    return work(root, trainable=trainable, recompute=recompute, causal=asked.causal or "full", local=share.op)


def tokens_of(load: Workload) -> int:
    """Positions that are computed, of source and target together; samples where the model reads no sequence.

    A decode step computes one for each sequence: the source was read before."""
    return load.batch if load.decodes else load.batch * max(1, sum(load.lengths.values()))


def _assumptions(asked: Options, load: Workload, root: Module, share: Share) -> Iterator[Assumption]:
    if asked.mode == "infer":
        yield INFER
    yield PRODUCTS
    masked = any(op.seen for op in ops_in(root))
    if asked.causal != "half" and masked:
        yield Assumption(Topic.ATTENTION, "attention in full, masked scores included", "full", "--causal")
    elif masked:
        text = "attention over unmasked pairs only: position i sees i + 1, so S(S+1)/2 of S²"
        yield Assumption(Topic.ATTENTION, text, asked.causal)
    if len(load.lengths) > 1 and not load.decodes:
        yield Assumption(Topic.COST, "per token: of source and target together")
    if load.decodes:
        text = f"{load.context:,} tokens came before: cost per token does not depend on context length"
        if any(module.region == Region.CORE for module, _ in walk(root)):
            text = f"{load.context:,} tokens are cached: attention runs over {load.context + 1:,}"
        yield Assumption(Topic.CONTEXT, text, load.context)
    yield from _one_hot(root)
    yield INTENSITY
    plan = share.plan
    if plan.gpus > 1:
        text = f"FLOPs and bytes of one GPU of {plan.gpus:,}, the one with the most; replicated work counts fully"
        yield Assumption(Topic.PARALLELISM, text, plan.gpus)
    if any(param.active is not None for module, _ in walk(root) for param in module.params.values()):
        yield CHOSEN
    if plan.cp > 1:
        text = "context parallelism: queries of one GPU over keys and values of the whole sequence"
        yield Assumption(Topic.PARALLELISM, text, plan.cp)
    yield from notes_of(root, "notes", "work_notes")
    yield from load.assumptions


def _of_run(used: Run, chosen: Iterable[Choice]) -> Iterator[Assumption]:
    """The number formats of bytes, the cards of this machine, and which FLOPs of the kernel are not counted."""
    notes = (*choices_in_words(chosen), *used.assumptions)
    yield from (one for one in notes if one.topic in (Topic.PRECISION, Topic.WEIGHTS, Topic.DEVICE))
    if used.trains and used.attention != "eager" and "attention" not in used.said:
        yield NOT_AGAIN


def _one_hot(root: Module) -> Iterator[Assumption]:
    """What a textbook's embedding would cost if it were computed as it is written, one-hot · W + b: one whose table has
    a bias, which a look-up alone has none of."""
    biased = [module for module, _ in walk(root) if "bias" in module.params]
    written = [module for module in biased if module.params["bias"].weight_role.is_table]
    looked_up = [op for module in written for op in module.ops if op.traits.reads_rows]
    cost = sum(2 * int(op.output.size) * int(dim.size) for op in looked_up for dim in op.select)
    if cost:
        text = f"embeddings are looked up; computed as one-hot · W they would take {cost:,} more, forward"
        yield Assumption(Topic.COST, text, cost)


def _amounts(done: Work) -> Amounts:
    return Amounts(done.forward, done.backward, done.recompute, done.elementwise, done.elementwise_backward)


def _rows(module: Module, done: Work, moved: Movement) -> Iterator[Row]:
    """A module, then its children, then its own matrix products that belong to no child."""
    share = done.of(module)
    if not share.pieces or module.is_section:
        return
    yield Row(
        path=module.path or "model",
        title=module.words.title,
        times=module.runs,
        repeat=_repeat(module),
        amounts=replace(_amounts(share), forward=_worked(module, share)),
        bytes=moved.of_products(share.pieces),
        term=module.words.term,
    )
    for child in module.children:
        yield from _rows(child, done, moved)
    holding = _holding(module, share)
    if holding and (own := _own(share, holding)).forward:
        # Attention's scores and what they look up, states along a sequence: what no layer below has weights for.
        kinds = {kind_of(piece) for piece in own.pieces if piece.matrix}
        name = next((kind.split()[-1] for kind in (SCORES, STATES, MATRICES) if kinds == {kind}), "itself")
        name = "itself" if name in {child.name for child in module.children} else name
        path, products = f"{module.path}.{name}".lstrip("."), moved.of_products(own.pieces)
        yield Row(path, name, Count(1), _repeat(module), _amounts(own), products, term=name)


def _repeat(module: Module) -> int:
    return int(module.runs) * (_repeat(module.parent) if module.parent else 1)


def _worked(module: Module, share: Work) -> Count:
    """Layers that hold no others are written out, larger ones as the sum of what they hold."""
    holding = _holding(module, share)
    if not holding:
        return share.forward
    own = _own(share, holding).forward
    if not own and len(holding) == 1:  # what only wraps another says no more than it
        return _worked(holding[0], share.of(holding[0]))
    return total([own, *(Count.named(child.words.term, share.of(child).forward, subtotal=True) for child in holding)])


def _holding(module: Module, share: Work) -> list[Module]:
    """The layers below that have products."""
    return [child for child in module.children if not child.is_section and share.of(child).forward]


def _own(share: Work, holding: list[Module]) -> Work:
    below = {id(piece) for child in holding for piece in share.of(child).pieces}
    return Work(tuple(piece for piece in share.pieces if id(piece) not in below))


def kind_of(piece: Piece) -> str:
    """What a matrix product is for, by the role of its weight and the part of the model it is in."""
    if not piece.matrix:
        return "elementwise"
    roles = {tensor.storage.weight_role for tensor in piece.op.inputs if isinstance(tensor.storage, Param)}
    group = piece.module.group
    if group in (ModuleGroup.HEAD, ModuleGroup.EMBEDDING):
        return CLASSIFIER if Role.CLASSIFIER in roles else str(group)
    if not roles:  # states along a sequence (Mamba's, a delta net's, sums of kernel attention) are one kernel's
        module = piece.module
        if module.region == Region.PRODUCT:
            return MATRICES
        while module.is_section and module.region != Region.KERNEL and module.parent:
            module = module.parent
        return STATES if module.region == Region.KERNEL else SCORES
    rest = LINEARS if group is None else PROJECTIONS  # what stands in no block is a layer of its own
    return next((BY_ROLE[role] for role in roles if role in BY_ROLE), rest)
