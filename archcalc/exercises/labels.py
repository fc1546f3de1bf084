"""What figures are called on a page: by their title within as many layers as tell them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from archcalc.core.ir import Module, walk
from archcalc.core.words import enumeration

MOST_NAMED = 4  # equal layers that a label names


class Label(NamedTuple):
    """A title, and those of the layers it stands in, the outermost first."""

    title: str
    within: tuple[str, ...] = ()

    def text(self, layers: int) -> str:
        return ": ".join((*self.within[len(self.within) - min(layers, len(self.within)) :], self.title))


def titles_of(root: Module) -> dict[str, str]:
    """The title of every module by its path."""
    return {module.path: module.words.title for module, _ in walk(root) if module.path and not module.is_section}


def within(path: str, titles: Mapping[str, str], left_out: Iterable[str] = ()) -> tuple[str, ...]:
    """The titles of the layers around a path, without those that are left out."""
    names = path.split(".")[:-1]
    above = [".".join(names[: place + 1]) for place in range(len(names))]
    return tuple(titles[one] for one in above if one in titles and one not in set(left_out))


def told_apart(labels: Sequence[Label]) -> list[str]:
    """One layer around each title, more where titles are equal, and then a number: the second Add & Norm of a block."""
    deepest = max((len(label.within) for label in labels), default=0)
    layers = [1] * len(labels)
    for _ in range(deepest):
        texts = [label.text(number) for label, number in zip(labels, layers, strict=True)]
        often = Counter(texts)
        layers = [number + (often[text] > 1) for number, text in zip(layers, texts, strict=True)]
    texts = [label.text(number) for label, number in zip(labels, layers, strict=True)]
    often, seen, numbered = Counter(texts), Counter[str](), []
    for text in texts:
        seen[text] += 1
        ordinal = {1: "1st", 2: "2nd", 3: "3rd"}.get(seen[text], f"{seen[text]}th")
        numbered.append(text if often[text] == 1 else f"{text}, the {ordinal}")
    return numbered


def listed(titles: Sequence[str]) -> str:
    """`q, k and v`; a long list by its first ones and how many others there are."""
    shown = list(dict.fromkeys(titles))
    if len(shown) > MOST_NAMED:
        shown = [*shown[: MOST_NAMED - 1], f"{len(shown) - MOST_NAMED + 1} others"]
    return enumeration(shown)
