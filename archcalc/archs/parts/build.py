"""The forward pass of a model of several parts: inputs, parts one after the other, losses of the outputs."""

from __future__ import annotations

from dataclasses import replace

from archcalc.archs.network.build import scores_of, targets_of
from archcalc.archs.parts.families import adapter
from archcalc.archs.parts.flow import Made, Signal, record
from archcalc.archs.parts.model import Part, Parts
from archcalc.core.count import Count
from archcalc.core.errors import InputError
from archcalc.core.ir import Module
from archcalc.layers.loss import cross_entropy
from archcalc.spec.workload import Workload


def build(model: Parts, work: Workload) -> Module:
    root = Module("model", style=work.style)
    root.words.notes += model.told
    decoding = model.decoding
    if work.decodes:
        _check_decoding(model, model.reading)
    signals = _inputs(root, model, work)
    made: dict[str, Made] = {}
    for part in model.parts:
        m = root.child(part.name)
        m.like = root[part.links.like] if part.links.like else None
        m.medium = model.media.get(part.name, "")
        runs = part.name in decoding
        given, is_idle = part.given(signals), part.is_idle({name: one.flow for name, one in signals.items()})
        if runs and (work.decodes or model.apart):  # what else it reads is in its cache, or comes later
            given = given.only(decoding)
        elif not is_idle:
            given = given.only({name for name, one in signals.items() if not one.flow.is_absent})
        found = adapter(part.family).run(part.resolved, m, given, work if runs else _of_encoder(model, work))
        if is_idle or (work.decodes and not runs):
            m.calls = Count(0)  # nothing comes in, or it ran before the first token
        signals[part.name], made[part.name] = found.signal, found
    if model.apart:
        _keep(root, model, signals)
    if model.similarity:
        model.similarity.run(root, signals, trains=work.trains and model.loss != "none")
    if work.trains:
        outputs = [part for part in model.parts if part.is_output]
        for part in outputs:
            _add_loss(root, model, part, made[part.name], alone=len(outputs) == 1)
    return root


def _keep(root: Module, model: Parts, signals: dict[str, Signal]) -> None:
    """What parts that run for every token will read of those that do not."""
    read = {name for part in model.parts if part.name in model.decoding for name in part.named}
    for name in read.difference(model.decoding, model.inputs):
        root[name].gives = signals[name].tensor


def _of_encoder(model: Parts, work: Workload) -> Workload:
    """An engine that tries its encoders has all items of a step at once, whatever the text is."""
    return replace(work.of_encoder(), batch=1) if model.apart else work.of_encoder()


def _check_decoding(model: Parts, reading: frozenset[str]) -> None:
    """Refuse parts that have to see all tokens at once."""
    if model.similarity:
        fact = "two parts are compared, and no token is written, so the model has no decode step"
        raise InputError(fact, "use --mode train or prefill", field="--mode")
    for part in model.parts:
        if part.name in reading and not adapter(part.family).decodes(part.resolved):
            fact = f"{part.name} reads all tokens at once, so the model has no decode step"
            raise InputError(fact, "use --mode train or prefill", field="--mode")


def _inputs(root: Module, model: Parts, work: Workload) -> dict[str, Signal]:
    """What comes in. Tokens that stand in one sequence with other parts' positions are those that these leave."""
    last = next(reversed(model.names), "")
    lengths: dict[str, int] = {length: Count.named(length, size) for length, size in work.lengths.items()}
    if work.decodes or model.apart:  # no images stand among them
        own = 1 if work.decodes else lengths[model.names[last]]
        lengths[model.names[last]] = model.beside(last) + own
    signals = {}
    for name, tokens in model.tokens(lengths).items():
        m, one = root.section(f"input {name}"), model.inputs[name]
        # a piece of a prompt may be shorter than its images: it ends with a token
        flow = one.flow(max(1, tokens), model.names.get(name, ""))
        if flow.is_absent or (work.decodes and name != last):
            m.calls = Count(0)
        asked = work if one.is_open else _of_encoder(model, work)
        signals[name] = Signal(flow, record(m, flow, asked.batch, name))
    return signals


def _add_loss(root: Module, model: Parts, part: Part, made: Made, *, alone: bool) -> None:
    """Cross entropy of what a head gives; of any other output if it is the only one, or if the spec says so."""
    if model.loss == "none":
        return
    scores = made.scores if made.has_head or alone or model.loss else {}
    if model.loss and not scores:
        scores = {root[part.name]: made.signal.tensor}
    for index, (place, output) in enumerate(scores.items()):
        where = place if alone else place.section(f"loss {index}")
        cross_entropy(where, scores_of(output), targets_of(output))
