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
from archcalc.core.assumptions import Assumption
from archcalc.core.errors import InputError
from archcalc.core.worked_out import WorkedOut
from archcalc.spec.workload import USUAL_LENGTH, Longest

BESIDE_IMAGES = 256  # tokens of a text whose images alone take the usual length, or more than the model's own
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
        return adapter(self.family).seen(Given.by(self.links, known))

    def is_idle(self, known: Mapping[str, Flow]) -> bool:
        """Whether nothing comes in for it to read."""
        return all(known[name].is_absent for name in self.links.reads)

    def at(self, known: dict[str, Flow]) -> Part:
        """The same where flows of other lengths come in."""
        return replace(self, resolved=adapter(self.family).at(self.resolved, self.given(known)))

    def weights(self, known: dict[str, Flow]) -> list[Any]:
        """Of a list of layers, for what comes in then; the weights of other families know no lengths."""
        return self.weights_of(self.given(known))

    def weights_of(self, given: Given[Flow]) -> list[Any]:
        return of_network.weights(self.resolved, given) if self.family == "network" else []

    def flow(self, known: dict[str, Flow]) -> Flow:
        """What it gives."""
        return adapter(self.family).flow(self.resolved, self.given(known))


@dataclass(frozen=True)
class Parts(WorkedOut):
    """`seq` is the length that the spec says for tokens; `apart`: parts in front of those that run for every token run
    by themselves, as an engine tries its encoders, and give nothing on."""

    no_twin: ClassVar[str] = "a model of parts is not made small: what one part gives has to fit the next"
    inputs: dict[str, Input]
    parts: tuple[Part, ...]
    loss: str | None
    similarity: Similarity | None = None
    seq: int | None = None
    apart: bool = False

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
        if not usual and beside >= min(shortest.length or USUAL_LENGTH, USUAL_LENGTH):
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

    def taken_by(self, name: str) -> int:
        """Positions of a sequence for one of an input's images, with the tokens beside what its tower gives."""
        one = self.inputs[name]
        return one.seen.positions if one.processor else self.positions_of(name)

    def positions_of(self, name: str) -> int:
        """That one of an input's images takes in the sequence that holds it; 0 where it stands in none, or several of
        them share positions."""
        one, found = self.inputs[name], [name]
        number = one.number or 1
        known = replace(self, inputs={**self.inputs, name: one.model_copy(update={"number": number})}).known(self.usual)
        for part in self.parts:
            if part.joins and found[-1] in part.links.reads:
                each, shared = divmod(known[found[-1]].positions, number)
                return 0 if shared else each
            if found[-1] in part.links.reads:
                found.append(part.name)
        return 0

    @cached_property
    def told(self) -> tuple[Assumption, ...]:
        """How much of a sequence images and audio take."""
        each = (one.told(self.taken_by(name)) for name, one in self.inputs.items() if one.is_image or one.rate)
        return tuple(note for notes in each for note in notes)

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
    def unwitnessed(self) -> str:
        """What archcalc's own PyTorch reference does not have, of all parts."""
        parts = (getattr(part.resolved, "unwitnessed", "") for part in self.parts)
        return " and ".join(dict.fromkeys(filter(None, parts)))

    @property
    def generated_by(self) -> str:
        """The family of the part that generates tokens."""
        running = [part.family for part in self.parts if part.name in self.decoding]
        return running[-1] if running else "parts"

    @cached_property
    def media(self) -> dict[str, str]:
        """Of a model that generates tokens, its towers: parts that read images alone, or audio, for those that do; with
        the kind of what they read."""
        read = {part.name: [self.inputs[name] for name in self.inputs_of(part.name)] for part in self.parts}
        kinds = {"images": "is_image", "audio": "rate"}
        found = {
            name: kind
            for name, several in read.items()
            for kind, is_that in kinds.items()
            if several and all(getattr(one, is_that) for one in several)
        }
        return found if self.decoding else {}

    @cached_property
    def reading(self) -> frozenset[str]:
        """The last input of tokens, the parts that read it, and what those give."""
        found = {next(reversed(self.names), "")}
        for part in self.parts:
            if not found.isdisjoint(part.links.reads):
                found.add(part.name)
        return frozenset(found)

    @property
    def of_tokens(self) -> str:
        """The part that runs on tokens alone, where a model also reads something else; none that needs another part."""
        last = next(reversed(self.names), "")
        readers = [part for part in self.parts if last in part.links.reads and len(part.named) == len(part.links.reads)]
        return readers[-1].name if readers and len(self.inputs) > len(self.names) else ""

    @property
    def encoded(self) -> list[str]:
        """The inputs that towers alone read."""
        return [name for name in self.inputs if name in {each for part in self.media for each in self.inputs_of(part)}]

    @cached_property
    def decoding(self) -> frozenset[str]:
        """What runs for every further token, where each part of it looks at a token by itself; else nothing. Two towers
        that are compared write no token."""
        running = [part for part in self.parts if part.name in self.reading]
        decodes = all(adapter(part.family).decodes(part.resolved) for part in running)
        return self.reading if running and decodes and not self.similarity else frozenset()

    @property
    def handed_over(self) -> bool:
        """Whether a part starts from all states of another, so that none of its layers may be left out."""
        return any(part.links.start for part in self.parts)


def lengths_of(inputs: dict[str, Input]) -> dict[str, str]:
    open_ended = [name for name, one in inputs.items() if one.is_open]
    if len(open_ended) > len(LENGTHS):
        return {}
    return dict(zip(open_ended, LENGTHS.get(len(open_ended), ()), strict=True))
