"""Parallel parts, `attention+mamba`: they take the same input after one norm, and their outputs are summed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.archs.transformer.context import Context
from archcalc.archs.transformer.parts.part import Part, Surroundings
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Tensor


@dataclass(frozen=True)
class TogetherPart(Part):
    spec_kind: ClassVar[str] = "together"
    parts: tuple[Part, ...]

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        return m.record("add", *[part.run(m[part.name], x, context) for part in self.parts])


def together(word: str, parts: dict[str, Part], around: Surroundings) -> TogetherPart:
    """The part for a word such as `attention+mamba`, made of the parts that it names."""
    names = word.split("+")
    several = tuple(parts[name] for name in names)
    places = around.places("pattern")
    if len(set(names)) < len(names):
        hint = "let one of them be a variant: `variants: {other: {like: attention}}`"
        raise InputError(f"{word} names one part twice", hint, fields=places)
    if len({part.norm for part in several}) > 1:
        hint = "give them one norm, or let them follow each other: `attention mamba`"
        raise InputError(f"the parts of {word} have different norms", hint, fields=places)
    if around.scope.parallel:
        raise InputError(f"{word}, and all parts in parallel", "use one of the two", fields=around.places("parallel"))
    first = several[0]
    return TogetherPart(word, first.norm, first.dropout, several, layer_scale=first.layer_scale)
