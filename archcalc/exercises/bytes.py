"""The steps of a count of memory: weights, gradients, optimizer states, and the cache of keys and values."""

from __future__ import annotations

from archcalc.core.count import Count
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Op, walk
from archcalc.core.precision import BYTES
from archcalc.exercises.parameters import parameter_steps
from archcalc.exercises.steps import Step, Term, Way, in_order, subtotals
from archcalc.model import Model

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
