"""How the weights of a real checkpoint are kept, module by module: what its config says of quantisation.

A method quantises linear layers, and leaves some as they are: the head, the router, and those that a list names, by the
names that modules have in the checkpoint. Every matrix is asked layer by layer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from archcalc.expressions import compiled
from archcalc.places import Facts, Place
from archcalc.plan import Plan
from archcalc.quantisation import Format, Part, plain

LINEAR = "Linear"  # the target that stands for every linear layer
_LISTED = re.compile(r"[\w.-]+")  # a name; anything else is an expression
_ABOVE = re.compile(
    r"^(model\.|language_model\.|text_model\.|transformer\.|gpt_neox\.|decoder\.|backbone\.)*(layers|h|blocks)\."
)
_TOWERS = ("model.language_model", "language_model.model")  # where a language model stands in a larger one
_FUSED = re.compile(r"(qkv|gate_up)_proj")  # `.*v_proj.*` is not meant for these
_NUMBER = re.compile(r"(?<=\.)\d+(?=\.|$)")
_ELSEWHERE = re.compile(  # modules that no linear layer of the text model is, or that are never quantised
    r"head|embed|norm|router|gate$|vision|visual|image|audio|speech|projector|multi_modal|rotary|conv|mtp|score|bias"
)


@dataclass(frozen=True)
class Names:
    """A list of modules: by names, by parts of names between dots, or by expressions (`re:.*mlp.gate$`, `*gate`)."""

    listed: tuple[str, ...]

    def __post_init__(self) -> None:
        """Expressions are compiled with the file, so that a mistake is told with its name."""
        _ = self._expressions

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_ABOVE.sub("model.layers.", word) for word in self.listed if _LISTED.fullmatch(word))

    @cached_property
    def _expressions(self) -> tuple[re.Pattern[str], ...]:
        return tuple(_expression(word) for word in self.listed if not _LISTED.fullmatch(word))

    @cached_property
    def by_layer(self) -> bool:
        """Whether some layers are named and others not."""
        return any(r"\d" in word or any(character.isdigit() for character in word) for word in self.listed)

    def hold(self, name: str) -> bool:
        if any(run in self._words for run in _runs(name)):
            return True
        spelled = (name, *(name.replace("model.layers.", f"{above}.layers.") for above in _TOWERS))
        fused = _FUSED.search(name)
        meant = [one for one in self._expressions if not fused or fused[1] in one.pattern]
        return any(expression.match(one) for expression in meant for one in spelled)

    def unfound(self, names: Iterable[str]) -> tuple[str, ...]:
        """Names in the list that none of these modules has, whatever the number of the layer."""
        runs = {_NUMBER.sub("#", run) for name in names for run in _runs(name)}
        listed = [word for word in self.listed if _LISTED.fullmatch(word) and not _ELSEWHERE.search(word)]
        return tuple(word for word in listed if _NUMBER.sub("#", _ABOVE.sub("model.layers.", word)) not in runs)


def _expression(word: str) -> re.Pattern[str]:
    """`re:` begins an expression; elsewhere a star stands for anything, unless it is plainly an expression."""
    raw = word.removeprefix("re:")
    if raw == word and not set(word) & set("\\()|^$+["):
        raw = re.escape(word).replace(r"\*", ".*") + r"(?=\.|$)"
    return compiled(raw)


def _runs(name: str) -> Iterator[str]:
    """Every stretch of a dotted name."""
    parts = name.split(".")
    for start in range(len(parts)):
        for end in range(len(parts), start, -1):
            yield ".".join(parts[start:end])


@dataclass(frozen=True)
class Group:
    """Modules that are kept in one format; without one they stay as they are."""

    format: Format | None
    targets: Names = field(default_factory=lambda: Names((LINEAR,)))

    @property
    def all_linear(self) -> bool:
        return LINEAR in self.targets.listed


@dataclass(frozen=True)
class Checkpoint:
    """`name` is what a reader is told; `unknown` says why the bytes of a method cannot be told."""

    name: str
    groups: tuple[Group, ...] = ()
    skipped: Names = field(default_factory=lambda: Names(()))
    quantises: str = "linear"
    head: bool = False  # is quantised too
    rest: str = ""
    source: str = "quantization_config"
    unknown: str = ""
    widened: int = 0  # copies in 16 bits that products of several tokens make of a matrix

    is_quantised = True

    @property
    def note(self) -> str:
        """What a reader of bytes must know."""
        stored = f"the weights are stored quantised ({self.name})"
        return f"{stored}: {self.unknown}, so --weights must say what to count" if self.unknown else stored

    def holds(self, place: Place) -> bool:
        """Whether a parameter may be quantised, in some layer; the answer for each is `total`'s."""
        if not place.is_linear or place.role == "router" or (place.role == "head" and not self.head):
            return False
        return place.is_expert if self.quantises == "experts" else True

    def total(self, place: Place, model: Facts, plan: Plan) -> int:
        """Bytes of all copies on one GPU."""
        shape = Part(place.param.axes, place.role).on(plan)
        if not self._by_layer:
            return place.copies * self._format(place, 0).bytes(shape)
        return sum(self._format(place, layer).bytes(shape) for layer in place.layers or range(place.copies))

    def unfound(self, places: Iterable[Place]) -> tuple[str, ...]:
        """Modules to be left as they are that the model does not have, or has under another name."""
        from archcalc.importers.stored.modules import names

        return self.skipped.unfound(name for place in places if place.is_linear for name in names(place, 0))

    @property
    def _by_layer(self) -> bool:
        return self.skipped.by_layer or any(group.targets.by_layer for group in self.groups)

    def _format(self, place: Place, layer: int) -> Format:
        """That of the first group that names the module, unless it is left as it is."""
        from archcalc.importers.stored.modules import names

        called = names(place, layer)
        if any(self.skipped.hold(name) for name in called):
            return plain(self.rest)
        for group in self.groups:
            if group.all_linear or any(group.targets.hold(name) for name in called):
                return group.format or plain(self.rest)
        return plain(self.rest)
