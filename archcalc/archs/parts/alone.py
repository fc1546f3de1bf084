"""One part of a model by itself: the spec that it would have as a model of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from archcalc.archs import family_module
from archcalc.archs.parts.build import build
from archcalc.archs.parts.families import adapter
from archcalc.archs.parts.links import Links
from archcalc.archs.parts.model import Part, Parts
from archcalc.archs.parts.spec import Spec
from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.ir import walk
from archcalc.spec.model_spec import LeftOutPart, ModelSpec, Partial
from archcalc.spec.reading import read_node
from archcalc.spec.workload import Workload

KEPT = ("source", "precision", "quantization", "doubts", "batch", "seq")  # of the whole, which hold for a part too


def alone(spec: Spec, model: Parts, name: str, title: str) -> ModelSpec:
    """The part of that name, labelled as a part of the model with that title. One that looks at what another part gives
    cannot be run without it."""
    part = _called(model, name)
    own = part.links.like or name
    if part.links.memory or part.links.start or part.links.context:
        needed = part.links.memory or part.links.start or part.links.context
        raise InputError(f"{name} needs what {needed} gives", "count the whole model", field="--part")
    written = {key: value for key, value in spec.parts[own].items() if key not in Links.model_fields}
    known = model.known(model.usual)
    fields = adapter(part.family).fields(written, part.given(known), part.is_output)
    kept = {key: getattr(spec, key) for key in KEPT if key in spec.model_fields_set}
    read: ModelSpec = read_node(family_module(part.family).Spec, {**fields, "family": part.family})
    return read.model_copy(update={**kept, "scope": Partial(part=name, of=title, left_out=tuple(_others(model, name)))})


def _others(model: Parts, name: str) -> Iterator[LeftOutPart]:
    lengths = {length: limit.usual or limit.least for length, limit in model.lengths.items()}
    for child in build(model, Workload(1, lengths, mode="forward")).children:
        each = ((times, param.elements) for m, times in walk(child) for param in m.params.values())
        if child.name != name and (number := sum(int(times) * int(elements) for times, elements in each)):
            yield LeftOutPart(part=child.name, parameters=number, needed=_needed_for(model, child.name))


def _needed_for(model: Parts, name: str) -> Literal["always", "images", "audio"]:
    """What it is needed for: images, or audio, where it reads nothing else."""
    read = [model.inputs[each] for each in model.inputs_of(name)]
    if read and all(one.is_image for one in read):
        return "images"
    return "audio" if read and all(one.rate for one in read) else "always"


def _called(model: Parts, name: str) -> Part:
    found = next((part for part in model.parts if part.name == name), None)
    if found is None:
        raise InputError(
            f"no part called {name}", did_you_mean(name, [part.name for part in model.parts]), field="--part"
        )
    return found
