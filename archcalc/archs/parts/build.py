"""The forward pass of a model of several parts: inputs, parts one after the other, losses of the outputs."""

from __future__ import annotations

from archcalc.archs.parts.families import adapter
from archcalc.archs.parts.flow import Made, Signal, record
from archcalc.archs.parts.resolve import Part, Parts
from archcalc.core.count import Count
from archcalc.core.ir import Module
from archcalc.layers.loss import cross_entropy
from archcalc.spec.workload import Workload


def build(model: Parts, work: Workload) -> Module:
    root = Module("model", style=work.style)
    root.words.notes += [note for one in model.inputs.values() for note in one.told()]
    decoding = model.decoding
    signals = {name: _input(root, model, name, work) for name in model.inputs}
    made: dict[str, Made] = {}
    for part in model.parts:
        m = root.child(part.name)
        m.like = root[part.links.like] if part.links.like else None
        runs = part.name in decoding
        found = adapter(part.family).run(part.resolved, m, part.given(signals), work if runs else work.of_encoder())
        if work.decodes and not runs:
            m.calls = Count(0)  # it ran before the first token
        signals[part.name], made[part.name] = found.signal, found
    if model.similarity:
        model.similarity.run(root, signals, trains=work.trains and model.loss != "none")
    if work.trains:
        outputs = [part for part in model.parts if part.is_output]
        for part in outputs:
            _add_loss(root, model, part, made[part.name], alone=len(outputs) == 1)
    return root


def _input(root: Module, model: Parts, name: str, work: Workload) -> Signal:
    """What comes in. Tokens that stand in one sequence with other parts' positions are those that these leave."""
    one, length = model.inputs[name], model.names.get(name, "")
    decoded = work.decodes and name == next(reversed(model.names), "")
    tokens = one.usual or 1
    if length:  # a piece of a prompt may be shorter than its images: it ends with a token
        tokens = max(1, work.lengths[length] - (0 if decoded else model.beside(name)))
    m = root.section(f"input {name}")
    if work.decodes and not decoded:
        m.calls = Count(0)
    flow = one.flow(tokens, length)
    return Signal(flow, record(m, flow, work.batch, name))


def _add_loss(root: Module, model: Parts, part: Part, made: Made, *, alone: bool) -> None:
    """Cross entropy of an output's scores; where it is one of several, only of a head's."""
    if model.loss == "none":
        return
    scores = made.scores or ({root: made.signal.tensor} if alone or model.loss else {})
    for index, (place, logits) in enumerate(scores.items()):
        cross_entropy(place if alone else place.section(f"loss {index}"), logits)
