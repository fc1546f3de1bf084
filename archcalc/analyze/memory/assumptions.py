"""The assumptions of a memory report, and the option that changes each: a list of rules, in the order of the report.

A rule has the notes on one subject, and says which answers have that subject. A further note is a further rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from archcalc.analyze.memory import vllm_cache
from archcalc.analyze.memory.claims import Claims
from archcalc.analyze.memory.decode_cache import grows, positions_read, window_of
from archcalc.analyze.memory.deployment import deploy
from archcalc.analyze.memory.encoders import tried
from archcalc.analyze.memory.inference import prompt_of
from archcalc.analyze.memory.overhead import assumption as of_overhead
from archcalc.analyze.memory.overhead import measured as of_measured
from archcalc.analyze.memory.peak import Peak, peak
from archcalc.analyze.memory.replicated import Undivided, left_whole
from archcalc.analyze.memory.residents import Resident
from archcalc.analyze.memory.simulated import Simulated
from archcalc.core.assumptions import Assumption, Topic, all_on, without
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Region, walk
from archcalc.core.notes import notes_of
from archcalc.core.positions import Positions
from archcalc.core.precision import BYTES
from archcalc.run.accuracy import not_compared
from archcalc.run.choice import Choice
from archcalc.run.choice import notes_of as notes_of_choices
from archcalc.run.code.rules import unmeasured_ops
from archcalc.run.option_words import KV_RULES
from archcalc.run.resolved import Run
from archcalc.spec.media import ASKED_BY
from archcalc.spec.option import flag_of
from archcalc.storage.checkpoint import Checkpoint
from archcalc.storage.format import BLOCKED, Format
from archcalc.storage.places import Place

NOTABLE = 3  # percent by which earlier code is off, where nothing was measured that a band could be told of
LAYERS = {  # what the rows of layers are, since they need not add up to the total
    "train": "layer rows: all that a layer stores at any time of the step, so the sum can exceed the peak; outputs: "
    "numbers that a forward pass makes, activation functions in place",
    "cache": "layer rows: weights and cache; activations and overhead belong to no layer",
    "outputs": "layer rows: numbers that each layer makes, activation functions in place; a forward pass alone frees "
    "what nothing reads any more, and its peak is what stands under activations",
}
SOFTMAX = {  # what eager attention stores of it in 16 bits
    "act": "eager attention: softmax in the activations' 16 bits; `softmax: fp32` in the spec counts it in fp32",
    "fp32": "eager attention: softmax in fp32 and cast to 16 bits, as this model's class in transformers does",
}

STATES = (
    "recurrent state in {}; convolution states of kernel − 1 positions (transformers and llama.cpp"
    " use fp32, and transformers mostly one position more)"
)


@dataclass(frozen=True)
class Answered:
    """What a report was worked out from, of which its notes speak."""

    found: Peak
    run: Run
    root: Module
    step: Simulated
    residents: tuple[Resident, ...]
    choices: tuple[Choice, ...]
    claims: Claims
    undivided: tuple[Undivided, ...]
    table: str  # what the rows of layers are, where they are shown


class Rule(NamedTuple):
    """Notes on one subject, and whether an answer has it."""

    notes: Callable[[Answered], Iterable[Assumption]]
    when: Callable[[Answered], object] = lambda it: True


def _of_file(it: Answered) -> Iterator[Assumption]:
    """A list of weights, with which nothing is computed."""
    yield from without((*notes_of_choices(it.choices), *it.run.assumptions), Topic.PRECISION)
    left_out = "activations are not counted" if it.root.body else "neither a cache nor activations"
    yield Assumption(Topic.SCOPE, f"weights file: {left_out}, since it does not describe the computation")


def _of_softmax(it: Answered) -> Iterator[Assumption]:
    """The number format of eager attention's softmax."""
    stored = {op.traits.softmax for module, _ in walk(it.root) if module.region == Region.CORE for op in module.ops}
    if stored & set(SOFTMAX):
        yield Assumption(Topic.ATTENTION, SOFTMAX["fp32" if "fp32" in stored else "act"], it.run.attention)


def _of_format(it: Answered) -> Iterator[Assumption]:
    """Notes on a format that quantises nothing in this model, and on excluded modules that are not found."""
    kept = it.run.format
    places = _places(it.root)
    if kept.is_quantised and not any(kept.holds(place) for place in places):
        text = f"{kept.name} applies to layers that this model does not have: no weights are quantised"
        yield Assumption(Topic.WEIGHTS, text, kept.name)
        return
    if isinstance(kept, Format):
        yield from _of_towers(it.root, kept, it.run)
    names = kept.unfound(places) if isinstance(kept, Checkpoint) else []
    if names:
        text = f"{kept.source} excludes module {names[0]} from quantisation, but no module here has that name"
        yield Assumption(Topic.WEIGHTS, text, names[0])


def _places(root: Module) -> list[Place]:
    return [Place(param, 1) for module, _ in walk(root) for param in module.params.values()]


def _of_towers(root: Module, kept: Format, run: Run) -> Iterator[Assumption]:
    """What a format leaves as it is, as files in it do."""
    left = [child for child in root.children if child.medium and any(kept.leaves(place) for place in _places(child))]
    names = [child.name for child in left]
    if not names:
        return
    how = f"{run.activations}: files in {kept.name} quantise the language model alone"
    if kept.quantises == BLOCKED:
        how = "fp16: GGUF keeps them in a file of their own (mmproj)"
    yield Assumption(Topic.WEIGHTS, f"{' and '.join(names)} in {how}", ", ".join(names))


def _of_encoders(it: Answered) -> Iterator[Assumption]:
    """How an engine runs what reads images and audio, and what of it the engine does not load."""
    deployment, run = it.found.deployment, it.run
    rules, option = run.engine.rules, "--limit-mm-per-prompt"
    for medium in sorted(run.unloaded):
        text = f"{rules.name} loads no towers for {medium}"
        if medium in rules.leaves_out:
            yield Assumption(Topic.ENGINE, f"{text}: {rules.leaves_out[medium]}", option=flag_of(ASKED_BY[medium]))
        else:
            yield Assumption(Topic.ENGINE, f"{text}: a request may have none")
    found = tried(deployment.network, run, prompt_of(it.found.work, run))
    if found:
        text = f"before its pool gets a size, {rules.name} runs the encoders on {found}, and keeps what they give"
        yield Assumption(Topic.ENGINE, f"{text} while it tries a step", found.number * found.positions, option)


def _of_cache(it: Answered) -> Iterator[Assumption]:
    run, kept = it.run, [one.tensor for one in it.step.cache]
    layout = next((one.layout for one in it.step.cache if one.layout), None)
    if layout:
        yield from vllm_cache.said(layout, run)
    elif any(window_of(one, positions_read(it.found.work)) for one in kept):
        rule = run.kv_rule
        yield Assumption(Topic.KV_CACHE, f"KV cache of sliding-window layers: {KV_RULES[rule]}", rule, "--kv-rule")
    if run.shared_prefix:
        how = " in whole blocks" if layout else ""
        rest = "" if all(map(grows, kept)) else "; recurrent states are kept for every sequence"
        text = f"the first {run.shared_prefix:,} tokens are the same in all sequences, and cached once{how}{rest}"
        yield Assumption(Topic.KV_CACHE, text, run.shared_prefix)
    if run.state_format and any(dim.positions is Positions.TAIL for one in kept for dim in one.dims):
        stored, tails_apart = run.state_format.name, layout or run.engine.rules.states
        text = vllm_cache.STATES.format(stored, run.activations) if tails_apart else STATES.format(stored)
        yield Assumption(Topic.STATE, text, stored, "--state-dtype")


def _of_allocator(it: Answered) -> Iterator[Assumption]:
    """How reserved memory was found."""
    run = it.run
    if it.found.has_device:
        segments = "expandable segments" if run.allocator == "expandable" else "its default segments"
        text = f"reserved: PyTorch's caching allocator with {segments}, simulated over two steps"
        yield Assumption(Topic.ALLOCATOR, text, run.allocator, "" if "allocator" in run.said else "--allocator")
    elif run.method.rollout == "sleep":
        yield Assumption(Topic.ALLOCATOR, "the most is needed while completions are generated: tensors are counted")
    else:
        text = "reserved memory is not simulated: the step has too many ops, and only its tensors are counted"
        yield Assumption(Topic.ALLOCATOR, text)


def _of_claims(it: Answered) -> Iterator[Assumption]:
    """What the answer was compared with, a sentence for each. A training code without a month is today's: by how much
    its earlier versions move the answer, where that is more than the band."""
    with_code, measured, recipe, code = it.claims.with_code, it.claims.measured, it.run.recipe, it.run.code
    if with_code:
        under = "without autocast, its step " if recipe and recipe.autocast else "the step "
        yield Assumption(Topic.ESTIMATE, f"{under}{with_code.sentence()}", with_code.class_name)
    yield measured.assumption() if measured else not_compared(it.run)
    notable = (measured.percent if measured else NOTABLE) / 100
    deployment, shown = it.found.deployment, list[str]()
    for month in [] if code.version else code.ends_of_years:
        with suppress(InputError):  # it had no such model or options by then
            asked = replace(deployment.options, code=f"{code.name}@{month}")
            earlier = peak(deploy(deployment.network, asked, deployment.stage), it.found.sizes)
            share = earlier.bytes / it.found.bytes - 1
            shown += [f"{share:+.0%} in {month}"] if abs(share) > notable else []
    if shown:
        text = f"{code.name} without a month is today's; its earlier code took {', '.join(shown)}"
        yield Assumption(Topic.CODE, text, code.name, f"--code {code.name}@MONTH")


def _of_stage(it: Answered) -> list[Assumption]:
    stage = it.run.stage
    assert stage
    return [Assumption(Topic.PARALLELISM, stage.about(it.run.accumulate), stage.number + 1)]


RULES = (  # in the order of a report
    Rule(lambda it: all_on(Topic.ESTIMATE, [f"estimate: {reason}" for reason in it.run.estimates])),
    Rule(_of_file, when=lambda it: not it.found.deployment.network.spec.is_computed),
    Rule(
        lambda it: (*notes_of_choices(it.choices), *it.run.assumptions),
        when=lambda it: it.found.deployment.network.spec.is_computed,
    ),
    Rule(_of_softmax, when=lambda it: BYTES[it.run.activations] < BYTES["fp32"]),
    Rule(_of_format, when=lambda it: it.run.format.is_quantised or isinstance(it.run.format, Checkpoint)),
    Rule(_of_encoders, when=lambda it: not it.run.trains),
    Rule(_of_cache, when=lambda it: it.step.cache),
    Rule(lambda it: [of_overhead(it.run)], when=lambda it: it.run.overhead is None),
    Rule(lambda it: [of_measured(it.run)], when=lambda it: it.run.shift),
    Rule(_of_allocator, when=lambda it: it.run.trains),
    Rule(_of_claims),
    Rule(lambda it: it.found.deployment.offloading.notes(it.found.work), when=lambda it: it.run.offload),
    Rule(lambda it: notes_of(it.root, "notes", "work_notes", "memory_notes")),
    Rule(lambda it: unmeasured_ops(it.root, it.run.code), when=lambda it: it.run.code.file.measured_kinds),
    Rule(_of_stage, when=lambda it: it.run.stage),
    Rule(lambda it: left_whole(it.undivided), when=lambda it: it.undivided),
    Rule(lambda it: [note for one in it.residents for note in one.assumptions]),
    Rule(lambda it: [Assumption(Topic.TABLE, LAYERS[it.table])], when=lambda it: it.table),
    Rule(lambda it: it.found.work.assumptions),
)
