"""A model of several parts as it is resolved: which parts there are, what flows between them, and how long it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from archcalc.archs.network.resolve import FIXED
from archcalc.archs.parts import of_network
from archcalc.archs.parts.families import adapter
from archcalc.archs.parts.flow import Flow, Given
from archcalc.archs.parts.inputs import Input
from archcalc.archs.parts.links import Links
from archcalc.archs.parts.similarity import Similarity
from archcalc.core.errors import InputError
from archcalc.core.worked_out import WorkedOut
from archcalc.spec.workload import USUAL_LENGTH, Longest

BESIDE_IMAGES = 256  # tokens of a text whose images alone take more than the usual length
MOST_NAMED = 3
LENGTHS = {1: ("seq",), 2: ("src_seq", "tgt_seq")}  # of so many inputs of tokens


@dataclass(frozen=True)
class Part:
    """`resolved` is what its family makes of it; `links` where it stands; `memory_width` that of what its attention
    looks at, where it looks at another part."""

    name: str
    family: str
    links: Links
    resolved: Any
    is_output: bool  # no other part reads it
    memory_width: int = 0

    @property
    def named(self) -> tuple[str, ...]:
        """Whatever it is handed."""
        links = self.links
        return (*links.reads, *filter(None, (links.memory, links.start, links.context)))

    @property
    def joins(self) -> bool:
        """Whether all that it reads stands in one sequence."""
        return self.family == "transformer" and len(self.links.reads) > 1

    def given(self, known: dict[str, Any]) -> Given[Any]:
        """Of what is known so far, what this part is handed."""
        return Given.by(self.links, known)

    def at(self, known: dict[str, Flow]) -> Part:
        """The same where flows of other lengths come in."""
        return replace(self, resolved=adapter(self.family).at(self.resolved, self.given(known)))

    def weights(self, known: dict[str, Flow]) -> list[Any]:
        """Of a list of layers, for what comes in then; the weights of other families know no lengths."""
        return of_network.weights(self.resolved, self.given(known)) if self.family == "network" else []

    def flow(self, known: dict[str, Flow]) -> Flow:
        """What it gives."""
        return adapter(self.family).flow(self.resolved, self.given(known))


@dataclass(frozen=True)
class Parts(WorkedOut):
    """`seq` is the length that the spec says for tokens."""

    no_twin: ClassVar[str] = "a model of parts is not made small: what one part gives has to fit the next"
    inputs: dict[str, Input]
    parts: tuple[Part, ...]
    loss: str | None
    similarity: Similarity | None = None
    seq: int | None = None

    @property
    def kind(self) -> str:
        """`vision + projector + text`, or how many there are."""
        names = [part.name for part in self.parts]
        return " + ".join(names) if len(names) <= MOST_NAMED else str(len(names))

    @property
    def names(self) -> dict[str, str]:
        """The workload's name for the length of each input whose number of positions a user chooses."""
        return lengths_of(self.inputs)

    @cached_property
    def lengths(self) -> dict[str, Longest]:
        return {length: self._longest(name) for name, length in self.names.items()}

    def _longest(self, name: str) -> Longest:
        """By the parts that read these tokens; those that read other parts' positions too hold these as well."""
        readers = [part for part in self.parts if name in part.links.reads]
        limits = [limit for part in readers for limit in getattr(part.resolved, "lengths", {}).values()]
        shortest = min((one for one in limits if one.length), key=lambda one: one.length or 0, default=Longest())
        beside = self.beside(name)
        if self._is_made_for(name):
            return Longest(self.usual[name] + beside, fixed=FIXED)
        usual = self.inputs[name].usual
        if not usual and beside >= USUAL_LENGTH:
            usual = BESIDE_IMAGES
        because = f"what the other parts give takes {beside:,} positions of a sequence"
        return shortest._replace(least=beside + 1, because=because, usual=usual and beside + usual)

    def _is_made_for(self, name: str) -> bool:
        """Whether a list of layers has weights for the usual number of these positions alone."""
        try:
            longer = self.known({**self.usual, name: self.usual[name] + 1})
        except InputError:
            return True
        usual = self.known(self.usual)
        for part in self.parts:
            if part.given(longer) != part.given(usual) and part.weights(longer) != part.weights(usual):
                return True
        return False

    @cached_property
    def usual(self) -> dict[str, int]:
        return {name: one.usual or self.seq or USUAL_LENGTH for name, one in self.inputs.items()}

    def known(self, tokens: Mapping[str, int]) -> dict[str, Flow]:
        """All flows, with so many positions in each input."""
        known = {name: one.flow(tokens[name], self.names.get(name, "")) for name, one in self.inputs.items()}
        for part in self.parts:
            known[part.name] = part.at(known).flow(known)
        return known

    def tokens(self, lengths: Mapping[str, int]) -> dict[str, int]:
        """How many positions each input has, where whole sequences are so long."""
        found = dict(self.usual)
        for name, length in self.names.items():
            found[name] = lengths[length] - self._beside(name, found)
        return found

    def beside(self, name: str) -> int:
        """Positions of other parts that stand in one sequence with the tokens of an input, at usual lengths."""
        return self._beside(name, self.usual)

    def _beside(self, name: str, tokens: Mapping[str, int]) -> int:
        joined = [part.links.reads for part in self.parts if part.joins and name in part.links.reads]
        if not joined:
            return 0
        known = self.known(tokens)
        return max(sum(known[each].positions for each in several if each != name) for several in joined)

    def positions_of(self, name: str) -> int:
        """That one of an input's images takes in the sequence that holds it; 0 where it stands in none."""
        known, found = self.known(self.usual), [name]
        for part in self.parts:
            if part.joins and found[-1] in part.links.reads:
                return known[found[-1]].positions // self.inputs[name].number
            if found[-1] in part.links.reads:
                found.append(part.name)
        return 0

    def inputs_of(self, name: str) -> frozenset[str]:
        """The inputs that reach a part, also through others; none of what is no part."""
        found = {name: frozenset((name,)) for name in self.inputs}
        for part in self.parts:
            found[part.name] = frozenset().union(*(found[each] for each in part.named))
        return found.get(name, frozenset())

    def of_lengths(self, lengths: Mapping[str, int]) -> Parts:
        """With layers for as many positions as a workload has."""
        known = self.known(self.tokens(lengths))
        return replace(self, parts=tuple(part.at(known) for part in self.parts))

    @property
    def generated_by(self) -> str:
        """The family of the part that generates tokens."""
        running = [part.family for part in self.parts if part.name in self.decoding]
        return running[-1] if running else "parts"

    @property
    def decoding(self) -> frozenset[str]:
        """The parts that run for every further token: those that read the last input of tokens, and what they give."""
        found = {next(reversed(self.names), "")}
        for part in self.parts:
            if not found.isdisjoint(part.links.reads):
                found.add(part.name)
        return frozenset(found)

    @property
    def handed_over(self) -> bool:
        """Whether a part starts from all states of another, so that none of its layers may be left out."""
        return any(part.links.start for part in self.parts)


def lengths_of(inputs: dict[str, Input]) -> dict[str, str]:
    open_ended = [name for name, one in inputs.items() if one.is_open]
    if len(open_ended) > len(LENGTHS):
        return {}
    return dict(zip(open_ended, LENGTHS.get(len(open_ended), ()), strict=True))
