"""A model of several parts with every value filled in: each part as its family resolves it, one after the other."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from archcalc.archs.network.layer import Shape
from archcalc.archs.network.names import texts
from archcalc.archs.parts.families import adapter, family_of
from archcalc.archs.parts.flow import Flow, Given
from archcalc.archs.parts.handed import check
from archcalc.archs.parts.inputs import Input
from archcalc.archs.parts.links import Links
from archcalc.archs.parts.model import Part, Parts, lengths_of
from archcalc.archs.parts.spec import Spec
from archcalc.core.errors import InputError, Path, did_you_mean, dotted
from archcalc.spec.gathering import gathering
from archcalc.spec.model_spec import ModelSpec
from archcalc.spec.node import as_tuple
from archcalc.spec.reading import read_node
from archcalc.spec.workload import USUAL_LENGTH

TOKENS = "input"  # the name of an input that the spec does not describe
_OF_THE_WHOLE = frozenset({*ModelSpec.model_fields, "loss"}) - {"family"}  # what no part says by itself


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
        known[name] = part.flow(known)
        made.append(part)
    _check_inputs(inputs, read)
    _check_outputs(made, known)
    if spec.similarity:
        spec.similarity.check({part.name: known[part.name] for part in made})
    return Parts(inputs, tuple(made), spec.loss, spec.similarity, spec.seq)


def _inputs(spec: Spec) -> dict[str, Input]:
    if spec.input and spec.inputs:
        raise InputError("input and inputs", "keep `inputs`, which names them", fields=[("input",)])
    inputs = spec.inputs or {TOKENS: spec.input or Input(shape="tokens")}
    tokens = [name for name, one in inputs.items() if one.is_open]
    if not lengths_of(inputs) and tokens:
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
    at = ("parts", name)
    with _under(at):
        family = like.family if like else family_of(fields)
        given = adapter(family).seen(Given.by(links, known))
        check(given)
        wide = given.memory.shape.channels if given.memory else 0
        if like:
            _check_alike(like, like.given(known), name, given)
            return Part(name, family, links, adapter(family).at(like.resolved, given), is_output, wide)
        with gathering():
            own = adapter(family).fields(fields, given, is_output)
            resolved = adapter(family).read(own, given)
        return Part(name, family, links, resolved, is_output, wide)


def _check_alike(like: Part, first: Given[Flow], name: str, second: Given[Flow]) -> None:
    """Weights are those of inputs of one kind, and so are the links; lengths and sides may differ where no weight
    knows them."""
    for field in ("reads", "memory", "start", "context"):
        mine, other = (_shapes(as_tuple(getattr(given, field))) for given in (first, second))
        if list(map(_kind, mine)) != list(map(_kind, other)) or not _fits(like, first, second):
            fact = f"{like.name} has {_listed(mine)} as {field}, and {name} {_listed(other)}"
            raise InputError(fact, "weights are shared between inputs that have the same weights", fields=[("like",)])


def _kind(shape: Shape) -> tuple[Any, ...]:
    """All but how long it is."""
    return shape.channels, len(shape.sides), shape.is_sequence, shape.is_ids


def _fits(like: Part, first: Given[Flow], second: Given[Flow]) -> bool:
    """Whether it has the same weights for both."""
    if _shapes(first.reads) == _shapes(second.reads):
        return True
    if like.family == "network":
        return like.weights_of(first) == like.weights_of(second)
    return all(flow.shape.is_ids or flow.shape.is_sequence for flow in second.reads)


def _shapes(flows: tuple[Flow | None, ...]) -> tuple[Shape, ...]:
    return tuple(flow.shape for flow in flows if flow)


def _listed(shapes: tuple[Shape, ...]) -> str:
    return " and ".join(map(str, shapes)) or "nothing"


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


def _check_inputs(inputs: dict[str, Input], read: set[Any]) -> None:
    for name in inputs:
        if name not in read:
            hint = f"write `reads: {name}` in the part that does, or take the input out"
            raise InputError(f"no part reads {name}", hint, fields=[("inputs", name), ("input",)])


def _check_outputs(made: list[Part], known: dict[str, Flow]) -> None:
    """What nothing comes in for is not run, and a model is run for its outputs."""
    for part in made:
        if part.is_output and part.is_idle(known):
            fact = f"{part.name} reads {' and '.join(part.links.reads)}, of which there is none"
            raise InputError(fact, "ask for one at least", fields=[("parts", part.name, "reads"), ("parts", part.name)])
