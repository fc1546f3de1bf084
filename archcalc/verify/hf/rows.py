"""`archcalc verify config.json`: transformers' class first, then the same spec in plain PyTorch, in one table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from archcalc.core.assumptions import Topic, all_on
from archcalc.model import Model
from archcalc.spec.workload import Workload
from archcalc.verify.check import Progress, verify
from archcalc.verify.hf import theirs
from archcalc.verify.hf.built import Built, main_input, needed
from archcalc.verify.hf.forward import Forward, forward
from archcalc.verify.hf.matching import (
    answer_differs,
    first_difference,
    flops_differ,
    layers_differ,
    outputs_differ,
    tensors_differ,
)
from archcalc.verify.hf.ours import Block, as_one, blocks_of
from archcalc.verify.hf.scores import scores_rows
from archcalc.verify.report import Row, VerifyReport

ON_CPU = {"batch": 2, "positions": 16}  # what a class is given that cannot run on the meta device
MOST_ON_CPU = 2**30  # parameters: some seconds
PLAIN = "the same spec in plain PyTorch"
NOTES = (
    "tensors that transformers fuses are split; a matrix counts as its transpose",
    "layers: all modules with a weight that transformers calls, by weight shape and output size",
)

HEAD = (
    "transformers builds this class tied, but the checkpoint of a config with tie_word_embeddings: false holds a"
    " head of its own, which a loaded class keeps: the class was given one before it was compared"
)
AS_ONE = "transformers does not group its layers in the same blocks: compared as a whole"


@dataclass(frozen=True)
class Compared:
    """Rows, notes about them, and what was not compared, with the reason."""

    against: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    left_out: dict[str, str]


def verify_config(model: Model, work: Workload, *, quick: bool, progress: Progress) -> VerifyReport:
    """Both comparisons; what is said of how much was compared concerns the second, as the first is always complete."""
    progress(0, 1, "transformers")
    first = compared(model, work)
    second = verify(model, work, quick=quick, progress=progress)
    under_heading = (row if row.group else replace(row, group=PLAIN) for row in second.rows)
    rows = (*(replace(row, against=first.against) for row in first.rows), *under_heading)
    notes = [*all_on(Topic.SOURCE, model.document.notes), *all_on(Topic.REFERENCE, first.notes)]
    for each in second.assumptions:
        is_scope = each.topic is Topic.SCOPE
        notes.append(each._replace(text=f"in plain PyTorch {each.text}") if is_scope else each)
    left_out = {**first.left_out, **second.left_out}
    return VerifyReport(model.name, tuple(notes), second.setting, rows, left_out)


def compared(model: Model, work: Workload) -> Compared:
    """Parameters, then what a forward pass shows."""
    built = Built(model, model.document.config)
    group = f"{built.name} of transformers {needed('transformers').__version__}"
    against = f"transformers' {built.name}"
    group += ", given a head of its own" if model.document.head_in_checkpoint else ""
    work = _as_the_class_wants(built, replace(work, mode="forward"))
    ours = blocks_of(model.build(work))
    one_table = any(name.endswith(".position.weight") for name in ours[-1].tensors)  # of positions, for all blocks
    there = theirs.blocks_of(built, one_table=one_table)
    whole = len(ours) != len(there) or not model.resolved.lengths  # the blocks of a network are those of its spec
    if whole:
        ours, there = as_one(ours), as_one(there)
    parameters = tuple(_parameters(ours, there, built, group))
    head = [HEAD] if model.document.head_in_checkpoint else []
    try:
        seen, ran = _run(built, work)
    except Exception as reason:  # a class raises whatever it likes
        left_out = {f"forward pass of {group}": f"it cannot be run: {_why(reason)}"}
        return Compared(against, parameters, (NOTES[0], *head), left_out)
    theirs.note_forward(there, built, seen, one_table=one_table)
    notes = (*NOTES, *head, *_said_of_unused(seen), *([AS_ONE] if whole else []))
    if ran is not work:
        sizes = {"batch": ran.batch, **ran.lengths}
        group += f", on the CPU, {', '.join(f'{name} {size}' for name, size in sizes.items())}"
        notes = (*notes, f"{built.name} asks tensors for their values, which none has on the meta device")
        ours = blocks_of(model.build(ran))
        ours = as_one(ours) if whole else ours
    rows = tuple(_forward(ours, there, seen, ran.batch, group))
    try:
        return Compared(against, (*parameters, *rows, *scores_rows(built, work, group)), notes, {})
    except Exception as reason:  # a class raises whatever it likes
        left_out = {f"scores that {built.name} saves": f"it cannot be run on the meta device: {_why(reason)}"}
        return Compared(against, (*parameters, *rows), notes, left_out)


def _why(reason: Exception) -> str:
    return f"{type(reason).__name__}: {' '.join(str(reason).split())[:160]}"


def _as_the_class_wants(built: Built, work: Workload) -> Workload:
    """Audio always has the length that the class requires."""
    if main_input(built.module) != "input_features":
        return work
    first, longest = next(iter(built.model.resolved.lengths.items()))
    return replace(work, lengths={**work.lengths, first: longest.length or work.lengths[first]})


def _run(built: Built, work: Workload) -> tuple[Forward, Workload]:
    """On the meta device, or what asks for values on the CPU, at a length that it can compute there."""
    try:
        return forward(built, work), work
    except Exception as reason:  # a class raises whatever it likes
        if "meta" not in str(reason).lower() or _size(built) > MOST_ON_CPU:
            raise
        limits, most = built.model.resolved.lengths, ON_CPU["positions"]
        lengths = {name: size if limits[name].fixed else min(size, most) for name, size in work.lengths.items()}
        fewer = replace(work, batch=min(work.batch, ON_CPU["batch"]), lengths=lengths)
        short = _as_the_class_wants(built, fewer)
        return forward(built, short, "cpu"), short


def _size(built: Built) -> int:
    return sum(parameter.numel() for parameter in built.module.parameters())


def _parameters(ours: list[Block], there: list[Block], built: Built, group: str) -> Iterator[Row]:
    counted = sum(math.prod(shape) for block in ours for shape in block.tensors.values())
    in_class = _size(built)
    first = first_difference(ours, there, tensors_differ)
    yield Row("parameters", counted, in_class, group, first if counted != in_class else "")
    one, other = (sum(len(block.tensors) for block in side) for side in (ours, there))
    yield Row("parameter tensors, block by block", one, other, group, first)


def _forward(ours: list[Block], there: list[Block], seen: Forward, batch: int, group: str) -> Iterator[Row]:
    number = sum(len(block.layers) for block in there)
    first = first_difference(ours, there, partial(layers_differ, batch=batch))
    yield Row("layer outputs, block by block", number, number, group, first)
    first = first_difference(ours[:-1], there[:-1], outputs_differ)
    yield Row("block outputs", len(ours) - 1, len(there) - 1, group, first)
    size, differs = math.prod(ours[-1].output), answer_differs(ours[-1].output, seen.answers)
    yield Row("numbers in the output", size, math.prod(seen.answers[0]) if differs else size, group, differs)
    one, other = (sum(block.flops for block in side) for side in (ours, there))
    yield Row("forward FLOPs, block by block", one, other, group, first_difference(ours, there, flops_differ))


def _said_of_unused(seen: Forward) -> Iterator[str]:
    """Notes on FLOPs of transformers that are excluded because their results are unused."""
    reasons: Counter[str] = Counter()
    for (_, reason), flops in seen.unused.items():
        reasons[reason] += flops
    for reason, flops in reasons.items():
        yield f"excluded from transformers' FLOPs: {flops:,} for {reason}"
