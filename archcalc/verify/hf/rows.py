"""`archcalc verify config.json`: transformers' class first, then the same spec in plain PyTorch, in one table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from torch import nn

from archcalc.core.assumptions import Topic, all_on
from archcalc.importers.hf._helpers.weights import Weights
from archcalc.model import Model
from archcalc.report.of_verify import Row, VerifyReport
from archcalc.spec.workload import Workload
from archcalc.verify.check import Progress, setting_of, unwitnessed, verify
from archcalc.verify.hf.built import Built, main_input, needed, weights_of
from archcalc.verify.hf.differences import (
    answer_differs,
    first_difference,
    flops_differ,
    layers_differ,
    outputs_differ,
    tensors_differ,
)
from archcalc.verify.hf.forward import Forward, forward
from archcalc.verify.hf.ours import Block, Layer, Shape, as_one, blocks_of
from archcalc.verify.hf.scores import scores_rows
from archcalc.verify.hf.tensors import DELTA, joined_by_number, joined_name, pieces, taken_apart

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
TOKENS_ALONE = "the class is run on tokens alone: what reads images or audio is compared with plain PyTorch"
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
    of_class = tuple(replace(row, against=first.against) for row in first.rows)
    notes = [*all_on(Topic.SOURCE, model.document.notes), *all_on(Topic.REFERENCE, first.notes)]
    if missing := unwitnessed(model):
        absent = {**first.left_out, "plain PyTorch": f"archcalc's own reference has no {missing}"}
        return VerifyReport(model.name, tuple(notes), setting_of(work), of_class, absent)
    second = verify(model, work, quick=quick, progress=progress)
    under_heading = (row if row.group else replace(row, group=PLAIN) for row in second.rows)
    rows = (*of_class, *under_heading)
    for each in second.assumptions:
        is_scope = each.topic is Topic.SCOPE
        notes.append(each._replace(text=f"in plain PyTorch {each.text}") if is_scope else each)
    left_out = {**first.left_out, **second.left_out}
    return VerifyReport(model.name, tuple(notes), second.setting, rows, left_out)


def compared(model: Model, work: Workload) -> Compared:
    """Parameters, then what a forward pass shows: of a model that also reads images or audio, on tokens alone."""
    run = _run_by_class(model)
    built = Built(run, model.document.config)
    group = f"{built.name} of transformers {needed('transformers').__version__}"
    group += ", given a head of its own" if model.document.head_in_checkpoint else ""
    work = _as_the_class_wants(built, replace(work, mode="forward"))
    ours = blocks_of(model.build(work))
    one_table = any(name.endswith(".position.weight") for name in ours[-1].tensors)  # of positions, for all blocks
    there = their_blocks(built, one_table=one_table)
    if not model.resolved.lengths:  # the blocks of a network are those of its spec
        there = as_one(there)
    ours, there = matched(ours, there)
    rows, head = tuple(_parameters(ours, there, built, group)), [HEAD] * model.document.head_in_checkpoint
    first = Compared(f"transformers' {built.name}", rows, (NOTES[0], *head), {})
    try:
        seen, ran = _run(built, work)
    except Exception as reason:  # a class raises whatever it likes
        return replace(first, left_out={f"forward pass of {group}": f"it cannot be run: {_why(reason)}"})
    note_forward(there, built, seen, one_table=one_table)
    if run is not model:
        first, group = replace(first, notes=(*first.notes, TOKENS_ALONE)), f"{group}, on tokens alone"
    if ran is not work:
        sizes = {"batch": ran.batch, **ran.lengths}
        group += f", on the CPU, {', '.join(f'{name} {size}' for name, size in sizes.items())}"
    return _and_forward(first, built, (work, ran), there, seen, group)


def _and_forward(
    first: Compared, built: Built, works: tuple[Workload, Workload], there: list[Block], seen: Forward, group: str
) -> Compared:
    """What a forward pass shows, beside the parameters; `works` is what was asked for, and what could be run."""
    work, ran = works
    ours, there = matched(blocks_of(built.model.build(ran)), there)
    as_whole = [AS_ONE] if len(ours) == 1 and built.model.resolved.lengths else []
    on_cpu = [f"{built.name} asks tensors for their values, which none has on the meta device"] * (ran is not work)
    notes = (*first.notes, NOTES[1], *_said_of_unused(seen), *as_whole, *on_cpu)
    rows = (*first.rows, *_forward(ours, there, seen, ran.batch, group))
    try:
        return replace(first, rows=(*rows, *scores_rows(built, work, group)), notes=notes)
    except Exception as reason:  # a class raises whatever it likes
        left_out = {f"scores that {built.name} saves": f"it cannot be run on the meta device: {_why(reason)}"}
        return replace(first, rows=rows, notes=notes, left_out=left_out)


def matched(ours: list[Block], there: list[Block]) -> tuple[list[Block], list[Block]]:
    """Block by block; without those that were not run, where so many are; else as a whole."""
    ran = [block for block in there if block.output or not block.name]
    there = ran if len(ran) == len(ours) else there
    if len(ours) == len(there):
        return ours, _in_order(ours, there)
    return as_one(ours), as_one(there)


def _in_order(ours: list[Block], there: list[Block]) -> list[Block]:
    """Theirs as ours stand: a class may have its towers in another order than they run. What is like none stays."""
    left, found = list(there[:-1]), []
    for block in ours[:-1]:
        found.append(next((one for one in left if not tensors_differ(block, one)), left[0]))
        left.remove(found[-1])
    return [*found, there[-1]]


def _run_by_class(model: Model) -> Model:
    """What of a model the class runs that is given tokens: of a model of several parts the one that reads them."""
    name = getattr(model.resolved, "of_tokens", "")
    return model.part(name) if name else model


def _why(reason: Exception) -> str:
    return f"{type(reason).__name__}: {' '.join(str(reason).split())[:160]}"


def _as_the_class_wants(built: Built, work: Workload) -> Workload:
    """Audio always has the length that the class requires."""
    lengths = built.model.resolved.lengths
    if main_input(built.module) != "input_features" or not lengths:
        return work
    first, longest = next(iter(lengths.items()))
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


# transformers' side, block by block, under the same headings as archcalc's.
RELATIVE = "relative_attention_bias"  # a table that stands in the first block, and serves all


def block_names(module: Any) -> list[str]:
    """Blocks are the layers that support gradient checkpointing, or else the items of module lists."""
    layer = needed("transformers.modeling_layers").GradientCheckpointingLayer
    found = [name for name, inner in module.named_modules() if isinstance(inner, layer)]
    if found:
        return [name for name in found if not any(name.startswith(f"{other}.") for other in found)]
    lists = [name for name, inner in module.named_modules() if type(inner) is nn.ModuleList]
    innermost = [name for name in lists if not any(other.startswith(f"{name}.") for other in lists)]
    return [name for name, _ in module.named_modules() if name.rpartition(".")[0] in innermost]


def their_blocks(built: Built, *, one_table: bool) -> list[Block]:
    """Every parameter under its block, the last one for those outside; `one_table` of relative positions for all."""
    blocks = [Block(name) for name in [*block_names(built.module), ""]]
    for name, shape in pieces(built.module).items():
        _around(name, blocks, one_table).tensors[name] = shape
    return blocks


def note_forward(blocks: list[Block], built: Built, seen: Forward, *, one_table: bool) -> None:
    """Results of a forward pass: output shapes of blocks and layers, and FLOPs of blocks."""
    for block in blocks:
        block.output, block.flops = seen.outputs.get(block.name, ()), _flops(block.name, seen)
    blocks[-1].flops -= sum(block.flops for block in blocks[:-1])
    named = {name: tuple(p.shape) for name, p in built.module.named_parameters(remove_duplicate=False)}
    kept = weights_of(built.module)
    for name, module in built.module.named_modules():
        _around(name, blocks, one_table).layers += _layers(name, module, seen, named, kept)


def _flops(name: str, seen: Forward) -> int:
    """Without what nothing reads."""
    unused = sum(flops for (inner, _), flops in seen.unused.items() if not name or f"{inner}.".startswith(f"{name}."))
    return seen.flops.get(name, 0) - unused


def _around(name: str, blocks: list[Block], one_table: bool) -> Block:
    if one_table and RELATIVE in name:
        return blocks[-1]
    return next(block for block in blocks if not block.name or f"{name}.".startswith(f"{block.name}."))


def _layers(name: str, module: Any, seen: Forward, named: dict[str, Shape], kept: list[Weights]) -> list[Layer]:
    """A module with a weight of its own that was called; one that fuses several as so many."""
    key = f"{name}.weight"
    is_expert = type(module).__name__.endswith("Experts") or ".experts." in name
    if name not in seen.outputs or joined_by_number(key, kept) or is_expert:
        return []
    output = seen.outputs[name]
    if isinstance(module, nn.Conv1d | nn.Conv2d):  # channels last
        output = (output[0], *output[2:], output[1])
    numbered = [inner for inner in named if joined_by_number(inner, kept) == name]
    if numbered:
        return [Layer(name, (len(numbered), *named[numbered[0]]), output)]
    if 0 in named.get(key, (0,)):
        return []
    if DELTA.fullmatch(key):
        return _delta(key, output, named)
    parts = taken_apart(key, named[key], named, kept)
    if len(parts) == 1:
        return [Layer(name, named[key], output, type(module).__name__.endswith("Embedding"))]
    cut = [next(size for size, full in zip(part, named[key], strict=True) if size != full) for part in parts]
    each = enumerate(zip(parts, cut, strict=True))  # the axis along which it was cut is the one that comes out
    return [Layer(f"{name}[{index}]", part, (*output[:-1], width)) for index, (part, width) in each]


def _delta(key: str, output: Shape, named: dict[str, Shape]) -> list[Layer]:
    """Merges the input projections of Gated DeltaNet under the name of the first."""
    matches = {other: joined_name(match) for other in named if (match := DELTA.fullmatch(other))}
    same = [other for other in matches if matches[other] == matches[key]]
    width = sum(named[other][0] for other in same)
    return [Layer(matches[key], (width, named[key][1]), (*output[:-1], width))] if key == same[0] else []
