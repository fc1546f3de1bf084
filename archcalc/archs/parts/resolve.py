"""A model of several parts with every value filled in: each part as its family resolves it, one after the other."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from archcalc.archs.network.names import texts
from archcalc.archs.parts.families import adapter, family_of
from archcalc.archs.parts.flow import Flow, Given
from archcalc.archs.parts.inputs import Input
from archcalc.archs.parts.similarity import Similarity
from archcalc.archs.parts.spec import Links, Spec
from archcalc.core.errors import InputError, Path, did_you_mean, dotted
from archcalc.spec.gathering import gathering
from archcalc.spec.node import ModelSpec
from archcalc.spec.reading import read_node
from archcalc.spec.workload import USUAL_LENGTH, Longest

BESIDE_IMAGES = 256  # tokens of a text whose images alone take more than the usual length
TOKENS = "input"  # the name of an input that the spec does not describe
LENGTHS = {1: ("seq",), 2: ("src_seq", "tgt_seq")}  # of so many inputs of tokens
_OF_THE_WHOLE = frozenset(ModelSpec.model_fields) - {"family"}  # what no part says by itself


@dataclass(frozen=True)
class Part:
    """`resolved` is what its family makes of it; `flow` what it gives at usual lengths; `links` where it stands."""

    name: str
    family: str
    links: Links
    resolved: Any
    flow: Flow
    is_output: bool  # no other part reads it

    @property
    def named(self) -> tuple[str, ...]:
        """Whatever it is handed."""
        links = self.links
        return (*links.reads, *filter(None, (links.memory, links.start, links.context)))

    def given(self, known: dict[str, Any]) -> Given[Any]:
        """Of what is known so far, what this part is handed."""
        return _given(self.links, known)


@dataclass(frozen=True)
class Parts:
    inputs: dict[str, Input]
    parts: tuple[Part, ...]
    loss: str | None
    similarity: Similarity | None = None
    kind: str = ""

    @property
    def names(self) -> dict[str, str]:
        """The workload's name for the length of each input whose number of tokens a user chooses."""
        return _lengths(self.inputs)

    @property
    def lengths(self) -> dict[str, Longest]:
        return {length: self._longest(name) for name, length in self.names.items()}

    def _longest(self, name: str) -> Longest:
        """By the parts that read these tokens; those that read other parts' positions too hold these as well."""
        readers = [part for part in self.parts if name in part.links.reads]
        limits = [limit for part in readers for limit in getattr(part.resolved, "lengths", {}).values()]
        shortest = min((one for one in limits if one.length), key=lambda one: one.length or 0, default=Longest())
        beside, usual = self.beside(name), self.inputs[name].usual
        if not usual and beside >= USUAL_LENGTH:
            usual = beside + BESIDE_IMAGES
        return shortest._replace(least=beside + 1, usual=usual)

    def beside(self, name: str) -> int:
        """Positions of other parts that stand in one sequence with the tokens of an input."""
        known = {each: one.flow(1) for each, one in self.inputs.items()} | {part.name: part.flow for part in self.parts}
        reads = (part.links.reads for part in self.parts if name in part.links.reads)
        beside = ([each for each in several if each != name] for several in reads)
        return max((sum(known[each].positions for each in others) for others in beside), default=0)

    def beside_each(self, name: str) -> int:
        """Positions that one of an input's images takes in the sequences that hold it."""
        found, one = [name], self.inputs[name]
        for part in self.parts:
            if any(each in found for each in part.links.reads) and part.flow.number == one.flow(1).number:
                found.append(part.name)
        flows = [part.flow for part in self.parts if part.name in found and part.flow.has_positions]
        return flows[-1].positions // one.number if flows else 0

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


def _lengths(inputs: dict[str, Input]) -> dict[str, str]:
    tokens = [name for name, one in inputs.items() if one.is_open]
    if len(tokens) > len(LENGTHS):
        return {}
    return dict(zip(tokens, LENGTHS.get(len(tokens), ()), strict=True))


def resolve(spec: Spec) -> Parts:
    if not spec.parts:
        hint = "name them, such as `parts: {body: {layers: [{linear: 10}]}}`"
        raise InputError("a model of parts needs parts", hint, fields=[("parts",), ("family",)])
    inputs = _inputs(spec)
    written = {name: _taken_apart(name, fields) for name, fields in spec.parts.items()}
    links = dict(_linked(written, inputs))
    read = {each for one in links.values() for each in (*one.reads, one.memory, one.start, one.context)}
    read |= set(spec.similarity.of if spec.similarity else ())
    known = {name: one.flow(one.usual or spec.seq or USUAL_LENGTH) for name, one in inputs.items()}
    made: list[Part] = []
    for name, (_, fields) in written.items():
        like = next((one for one in made if one.name == links[name].like), None)
        part = _part(name, fields, links[name], known, name not in read, like)
        known[name] = part.flow
        made.append(part)
    _check_inputs(inputs, read)
    if spec.similarity:
        spec.similarity.check({part.name: part.flow for part in made})
    return Parts(inputs, tuple(made), spec.loss, spec.similarity)


def _inputs(spec: Spec) -> dict[str, Input]:
    if spec.input and spec.inputs:
        raise InputError("input and inputs", "keep `inputs`, which names them", fields=[("input",)])
    inputs = spec.inputs or {TOKENS: spec.input or Input(shape="tokens")}
    tokens = [name for name, one in inputs.items() if one.is_open]
    if len(tokens) > len(LENGTHS):
        open_ended = [name for name in tokens if not inputs[name].usual]
        if open_ended:
            fact = f"{len(tokens)} inputs of tokens, of which {open_ended[0]} has no number"
            hint = "write how many there are, such as `40 tokens`: options choose no more than two lengths"
            raise InputError(fact, hint, fields=[("inputs", open_ended[0])])
    return inputs


def _taken_apart(name: str, fields: Any) -> tuple[Links, dict[str, Any]]:
    """How a part is joined to others, and the fields of its family."""
    at = ("parts", name)
    for own in sorted(_OF_THE_WHOLE & fields.keys()):
        raise InputError(f"{own} is said of the whole model", "write it beside `parts`", fields=[(*at, own)])
    links = {key: value for key, value in fields.items() if key in Links.model_fields}
    own = {key: value for key, value in fields.items() if key not in links}
    with _under(at):
        read = read_node(Links, links)
    if read.like and own:
        fact = f"a part like {read.like} has its fields, and no {next(iter(own))} of its own"
        raise InputError(fact, "take it out, or take `like` out", fields=[(*at, next(iter(own)))])
    if not read.like and not own:
        hint = "describe it, such as `{linear: 10}`, or write `like:` and the part whose weights it uses"
        raise InputError("nothing is said of this part", hint, fields=[at])
    return read, own


def _linked(written: dict[str, tuple[Links, dict[str, Any]]], inputs: dict[str, Input]) -> Iterator[tuple[str, Links]]:
    """Each part with what it reads, which must be an input or stand above it: as it says, and what its layers name."""
    known = list(inputs)
    for name, (links, fields) in written.items():
        if name in known:
            raise InputError(f"{name} is named already", "give the part another name", fields=[("parts", name)])
        named = [each for each in known if each in _named_by(fields)]
        reads = links.reads or (() if named and len(known) == len(inputs) else (_read_unsaid(name, known, inputs),))
        links = links.model_copy(update={"reads": tuple(dict.fromkeys((*reads, *named)))})
        parts = [each for each in known if each not in inputs]
        for field in ("reads", "memory", "start", "context", "like"):
            for each in filter(None, _several(getattr(links, field))):
                _check_known(each, parts if field == "like" else known, written, ("parts", name, field))
        yield name, links
        known.append(name)


def _named_by(fields: dict[str, Any]) -> frozenset[str]:
    """Every word that layers may read as a name."""
    return frozenset(texts(fields)) if fields and family_of(fields) == "network" else frozenset()


def _several(value: Any) -> Iterable[str]:
    return value if isinstance(value, tuple) else (value,)


def _read_unsaid(name: str, known: list[str], inputs: dict[str, Input]) -> str:
    """The part before it; the first part reads the only input."""
    if len(known) == len(inputs) > 1:
        hint = f"write `reads: {known[0]}`, or another of {', '.join(known)}"
        raise InputError(f"what does {name} read?", hint, fields=[("parts", name)], field=f"parts.{name}.reads")
    return known[-1]


def _check_known(each: str, known: list[str], written: Container[str], at: Path) -> None:
    if each in known:
        return
    if each in written:
        hint = "write the parts in the order in which they run"
        raise InputError(f"{each} is no earlier part", hint, fields=[at])
    raise InputError(f"no input or part called {each}", did_you_mean(each, known), fields=[at])


def _part(
    name: str, fields: dict[str, Any], links: Links, known: dict[str, Flow], is_output: bool, like: Part | None
) -> Part:
    at, given = ("parts", name), _given(links, known)
    if like:
        flow = adapter(like.family).flow(like.resolved, given)
        if like.given(known).reads[0].shape != given.reads[0].shape:
            fact = f"{like.name} reads {like.given(known).reads[0]}, and {name} {given.reads[0]}"
            raise InputError(fact, "weights are shared between inputs of one shape", fields=[(*at, "like")])
        return Part(name, like.family, links, like.resolved, flow, is_output)
    with _under(at):
        family = family_of(fields)
        with gathering():
            own = adapter(family).fields(fields, given, is_output)
            resolved = adapter(family).read(own, given)
        return Part(name, family, links, resolved, adapter(family).flow(resolved, given), is_output)


@contextmanager
def _under(at: Path) -> Iterator[None]:
    """Mistakes in a part stand under its name."""
    try:
        yield
    except InputError as error:
        for mistake in error.each():
            mistake.fields = (*((*at, *path) for path in mistake.fields), at)
            mistake.field = dotted((*at, mistake.field)) if mistake.is_missing else dotted(mistake.fields[0])
        raise


def _given(links: Links, known: dict[str, Any]) -> Given[Any]:
    beside = (known[name] if name else None for name in (links.memory, links.start, links.context))
    return Given(tuple(known[name] for name in links.reads), links.reads, *beside)


def _check_inputs(inputs: dict[str, Input], read: set[Any]) -> None:
    for name in inputs:
        if name not in read:
            hint = f"write `reads: {name}` in the part that does, or take the input out"
            raise InputError(f"no part reads {name}", hint, fields=[("inputs", name), ("input",)])
