"""Parts beside each other, `attention+mamba`: they read the same input, and their outputs are summed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.archs.transformer.context import Context
from archcalc.archs.transformer.nodes import Norm
from archcalc.archs.transformer.parts.part import Part, Surroundings, normed
from archcalc.archs.transformer.pattern import BESIDE
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Tensor


@dataclass(frozen=True)
class TogetherPart(Part):
    """Behind one norm for all, which the block has; or each between norms of its own."""

    spec_kind: ClassVar[str] = "together"
    parts: tuple[Part, ...]
    separate: bool = False

    @property
    def is_bound(self) -> bool:
        return any(part.is_bound for part in self.parts)

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        return m.record("add", *[self._branch(m, part, x, context) for part in self.parts])

    def _branch(self, m: Module, part: Part, x: Tensor, context: Context) -> Tensor:
        if not self.separate:
            return part.run(m[part.name], x, context)
        out = part.run(m[part.name], normed(m[f"{part.name}_norm"], x, part.norm), context)
        return normed(m[f"{part.name}_norm_out"], out, part.norm) if part.norm.place == "sandwich" else out


def together(word: str, parts: dict[str, Part], around: Surroundings) -> TogetherPart:
    """The part for a word such as `attention+mamba`, made of the parts that it names."""
    names = word.split(BESIDE)
    several, separate = tuple(parts[name] for name in names), around.scope.beside == "separate"
    _check(word, names, several, around)
    first = several[0]
    norm = _behind(first.norm) if separate else first.norm
    return TogetherPart(word, norm, first.dropout, several, separate, layer_scale=first.layer_scale)


def _behind(norm: Norm) -> Norm:
    """What is left to the block where each part has norms of its own."""
    said = {"place": "out"} if norm.place == "sandwich" else {"kind": "none"}
    return norm.model_copy(update=said)


def _check(word: str, names: list[str], several: tuple[Part, ...], around: Surroundings) -> None:
    places, separate = around.places("pattern"), around.scope.beside == "separate"
    if len(set(names)) < len(names):
        hint = "let one of them be a variant: `variants: {other: {like: attention}}`"
        raise InputError(f"{word} names one part twice", hint, fields=places)
    if not separate and len({part.norm for part in several}) > 1:
        hint = "write `beside: separate`, or let them follow each other: `attention mamba`"
        raise InputError(f"the parts of {word} have different norms", hint, fields=places)
    if around.scope.parallel:
        raise InputError(f"{word}, and all parts in parallel", "use one of the two", fields=around.places("parallel"))
    kinds = {part.norm.place for part in several}
    if separate and (len(kinds) > 1 or not kinds <= {"pre", "sandwich"}):
        fact = f"the parts of {word} have norms of their own, whose place is {' and '.join(sorted(kinds))}"
        raise InputError(fact, "use `place: pre` or `place: sandwich` for all", fields=around.places("beside"))
