"""A Transformer with some of its layers alone, for the stages of a pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, islice

from archcalc.archs.transformer.pattern import Items, Line, blocks_of, lines_of
from archcalc.archs.transformer.resolve import ResolvedStack, Transformer
from archcalc.core.budget import Budget
from archcalc.core.errors import InputError

MOST_LAYERS = 10_000


def layers(model: Transformer) -> int:
    """How many layers a pipeline divides, one by one."""
    stack = _stack(model)
    number = blocks_of(stack.items)
    divided = Budget("layers to divide among devices", MOST_LAYERS, "give the model fewer, or divide it otherwise")
    divided.spend(number, [(stack.name, "blocks")])
    return number


def between(model: Transformer, first: int, last: int) -> Transformer:
    """The same with the layers from `first` up to `last`, not included."""
    stack = _stack(model)
    words = [line.words for line in islice(_one_by_one(stack.items), first, last)]
    items = tuple(Line(len(list(equal)), word) for word, equal in groupby(words))
    part = replace(stack, items=items)
    if model.encoder:
        return replace(model, encoder=part)
    return replace(model, decoder=part)


def _one_by_one(items: Items) -> Iterator[Line]:
    for item in items:
        for _ in range(item.times):
            if isinstance(item, Line):
                yield replace(item, times=1)
            else:
                yield from _one_by_one(item.items)


def _stack(model: Transformer) -> ResolvedStack:
    """The only stack; others would have to be divided together."""
    stack, *others = model.stacks
    unequal = stack.once or stack.distinct or any(line.calls != 1 for line in lines_of(stack.items))
    bound = any(part.is_bound for part in stack.parts.values())
    kinds = {"an encoder and a decoder": others, "layers that share weights": unequal}
    kinds["layers that read what others or the embedding made"] = bound
    if what := next((kind for kind, is_so in kinds.items() if is_so), ""):
        raise InputError(f"archcalc does not divide {what} among pipeline stages", "leave --pp out", field="--pp")
    return stack
