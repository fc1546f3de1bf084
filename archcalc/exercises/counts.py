"""The steps of every count.

Parameters: tensors, layers, blocks, stacks, the model. Memory: weights, gradients, optimizer states, and the cache of
keys and values. FLOPs: the matrix products of a forward pass, op by op, layer by layer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from archcalc.analyze.params import holding, one_copy
from archcalc.core.count import Count
from archcalc.core.errors import InputError
from archcalc.core.expression import Product, Sum, evaluated
from archcalc.core.ir import Module, ModuleGroup, Op, Param, Part, Region, walk
from archcalc.core.precision import BYTES
from archcalc.exercises.steps import Step, Term, Way, in_order, kind_of, subtotals
from archcalc.model import Model

ONE = Count(1)


def parameter_steps(module: Module) -> Step:
    """The count of one copy of a module, as the sum of its tensors and of what it holds."""
    shares = [_share(module, part) for part in module.words.parts if len(part.of) <= 1]
    held = holding(module)
    children = {child.name: _with_shares(child, module.words.parts, shares) for child in held}
    terms = tuple(
        Term(param.elements, len(param.axes), name, param.active, tuple(dim.name for dim in param.dims))
        for name, param in module.params.items()
    )
    usual = Way(terms, tuple((child.repeat, children[child.name]) for child in held))
    together = [part for part in module.words.parts if len(part.of) > 1]
    others = [_by_part(module, part, usual, children) for part in together]
    return Step(
        name=module.path or "model",
        title=module.words.title if module.path else "the whole model",
        count=one_copy(module),
        ways=(usual, *others, *_by_gates(module, shares, usual)),
        copies=int(module.repeat),
        calls=int(module.calls),
        kind=kind_of(module),
    )


def _share(module: Module, part: Part) -> Step:
    """One head's W_Q, one gate: what a person asks for that is no module."""
    expression = part.elements.expression
    terms = expression.terms if isinstance(expression, Sum) else (expression,)
    axes = [len(term.factors) if isinstance(term, Product) else 1 for term in terms]
    counted = [Term(Count(evaluated(term), term), number) for term, number in zip(terms, axes, strict=True)]
    return _step_of(module, part, Way(tuple(counted)))


def _step_of(module: Module, part: Part, way: Way) -> Step:
    path, title = f"{module.path}.{part.name}".lstrip("."), part.name.replace("_", " ")
    return Step(path, title, part.elements, (way,), is_share=True)


def _with_shares(child: Module, parts: list[Part], shares: list[Step]) -> Step:
    """A projection is also so many times the share of one head."""
    step = parameter_steps(child)
    single = [part for part in parts if len(part.of) <= 1]
    found = [(part, share) for part, share in zip(single, shares, strict=True) if part.of == (child.name,)]
    ways = tuple(Way((), ((part.copies, share),)) for part, share in found)
    return replace(step, ways=(*step.ways, *ways))


def _by_part(module: Module, part: Part, usual: Way, children: dict[str, Step]) -> Way:
    """All heads: q, k and v together."""
    covered = [children[name] for name in part.of]
    share = _step_of(module, part, Way((), tuple((ONE, step) for step in covered)))
    rest = tuple((times, step) for times, step in usual.children if step not in covered)
    return Way(usual.terms, ((part.copies, share), *rest))


def _by_gates(module: Module, shares: list[Step], usual: Way) -> tuple[Way, ...]:
    """Tensors that hold all gates, as the sum of the gates."""
    gates = [share for part, share in zip(module.words.parts, shares, strict=False) if not part.of]
    if not gates or sum(gate.value() for gate in gates) != sum(int(term.count) for term in usual.terms):
        return ()
    return (Way((), (*((ONE, gate) for gate in gates), *usual.children)),)


def sums_of_parts(root: Module, whole: Step) -> list[Step]:
    """All stacks together, and the model without its output layer: sums that courses ask for beside the total."""
    groups = {child.path: child.group for child in root.children}
    held = whole.ways[0].children
    stacks = [(times, step) for times, step in held if groups[step.name] == ModuleGroup.BLOCKS]
    rest = [(times, step) for times, step in held if groups[step.name] != ModuleGroup.HEAD]
    made = []
    if 1 < len(stacks) < len(rest):
        made.append(_sum("all_stacks", "all stacks together", (), stacks))
    if len(rest) < len(held):
        made.append(_sum("without_output_layer", "without the output layer", whole.ways[0].terms, rest))
    return made


def _sum(name: str, title: str, terms: tuple[Term, ...], children: list[tuple[Count, Step]]) -> Step:
    return Step(name, title, subtotals(terms, children), (Way(terms, tuple(children)),))


TRAINING = "fp32"  # the number format of a training step on the sheet
MOMENTS = 2  # that AdamW keeps of each parameter


def memory_steps(model: Model) -> list[Step]:
    """Inference in the model's own number format, training in fp32 with AdamW; smaller figures come first."""
    if model.stored is not None:
        hint = "ask for params, shapes or flops, or take quantization out of the spec"
        raise InputError("the weights are quantised, and no exercise counts their scales", hint, field="--questions")
    precision = model.spec.precision or TRAINING
    whole = parameter_steps(model.build())
    weights = {each: _bytes("weights", "the weights", whole, each) for each in dict.fromkeys((precision, TRAINING))}
    trained = _trained(model.build(), whole)
    gradients = _bytes("gradients", "the gradients", trained, TRAINING)
    moments = _bytes("moments", "AdamW's two moments", trained, TRAINING, MOMENTS)
    together = tuple((Count(1), part) for part in (weights[TRAINING], gradients, moments))
    title = f"weights, gradients and moments in {TRAINING} together"
    training = Step("training", title, subtotals((), together), (Way((), together),))
    # Keys and values of all positions, where the model keeps them for the next token.
    root = model.build(model.workload(mode="prefill"))
    cache = _cached(root, Count.named("bytes for each", BYTES[precision]), precision)
    return [*weights.values(), gradients, moments, training, *(in_order(cache) if cache.value() else ())]


def _trained(root: Module, whole: Step) -> Step:
    """All parameters, unless the spec holds some fixed."""
    every = ((one, int(copies)) for module, copies in walk(root) for one in module.params.values())
    fixed = sum(copies * int(one.elements) for one, copies in every if not one.trainable)
    if not fixed:
        return whole
    count = Count.named("parameters", whole.value(), subtotal=True) - Count.named("fixed", fixed, subtotal=True)
    return Step("trained", "trained parameters", count, (Way((Term(count),)),))


def _bytes(name: str, title: str, of: Step, precision: str, times: int = 1) -> Step:
    """So many bytes for each of them."""
    each = Count(times) * Count.named("bytes for each", BYTES[precision])
    count = each * Count.named(of.title, of.value(), subtotal=True)
    return Step(f"{name}.{precision}", f"{title} in {precision}", count, (Way((), ((each, of),)),))


def _cached(module: Module, each: Count, precision: str) -> Step:
    steps = [(child.runs, _cached(child, each, precision)) for child in module.children]
    held = tuple((times, step) for times, step in steps if step.value())
    kept = [item.output for item in module.body if isinstance(item, Op) and item.output.role == "cache"]
    terms = tuple(Term(each * tensor.size) for tensor in kept)
    of = f"of {module.words.title}" if module.path else f"after the whole sequence in {precision}"
    name = f"cache.{module.path}".rstrip(".")
    return Step(name, f"the cache {of}", subtotals(terms, held), (Way(terms, held),), copies=int(module.runs))


BATCH = "batch"


def flops_steps(module: Module) -> Step:
    """One run of a module: its own products, and those of what it holds, as often as that runs."""
    held = [child for child in _layers(module) if _has_products(child)]
    steps = tuple((child.runs, flops_steps(child)) for child in held)
    terms = tuple(Term(op.traits.flops(op), 0, op.name or op.kind, places=_places(op)) for op in _own_ops(module))
    name, title = module.path or "model", "the whole forward pass"
    if module.is_section:
        title = module.name.removesuffix(" (section)")
        name = f"{module.path}.{title}"
    elif module.path:
        title = module.words.title
    if module.region == Region.CORE:
        title = "scores and weighted values"
    return Step(
        name=name,
        title=title,
        count=subtotals(terms, steps),
        ways=(Way(terms, steps),),
        copies=int(module.runs),
        kind=kind_of(module),
    )


def _places(op: Op) -> int:
    """Where a layer's weights are used: at every pixel of a map, or at every position. Those have no axis for it."""
    weights = [tensor.storage for tensor in op.inputs if isinstance(tensor.storage, Param)]
    own = {dim.name for weight in weights for dim in weight.dims} | {BATCH}
    return prod(int(dim.size) for dim in op.output.dims if weights and dim.name not in own)


def _is_flat(module: Module) -> bool:
    """A section whose products count as those of its module: no loop, and not attention between its projections."""
    return module.is_section and module.region != Region.CORE and module.runs == 1


def _layers(module: Module) -> Iterator[Module]:
    """Layers, and attention between its projections, which people ask for by itself."""
    for child in module.children:
        if _is_flat(child):
            yield from _layers(child)
        else:
            yield child


def _own_ops(module: Module) -> Iterator[Op]:
    """Matrix products of a module and of its sections."""
    for item in module.body:
        if isinstance(item, Op):
            if item.traits.matrix:
                yield item
        elif _is_flat(item):
            yield from _own_ops(item)


def _has_products(module: Module) -> bool:
    return any(_own_ops(module)) or any(_has_products(child) for child in _layers(module))
