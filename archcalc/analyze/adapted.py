"""Parameters under the options of `archcalc params`: with LoRA's adapters, with frozen layers, as a code has them.

    counted(model, Options.of("params", {"lora": 8})).trainable

Which matrices there are to adapt is a matter of the code that trains: queries, keys and values of GPT-2 are one matrix
in transformers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from archcalc.analyze.equations import blocks
from archcalc.analyze.equations import notes as equation_notes
from archcalc.analyze.params import USUAL_DEPTH, ParamsReport, one_copy, rows_of, tally
from archcalc.core.assumptions import Assumption, Topic, all_on
from archcalc.core.count import Count, product, total
from archcalc.core.execution import Trainable, by_spec
from archcalc.core.ir import Module, ModuleGroup, Param, walk
from archcalc.core.notes import notes_of
from archcalc.core.precision import BYTES
from archcalc.network import Network
from archcalc.run.lora import all_but, is_adapter
from archcalc.run.options import Options

if TYPE_CHECKING:
    from archcalc.run.resolved import Run

FP32 = Assumption(Topic.PRECISION, "fp32 weights: the spec names no precision", "fp32")
GROUPS = {ModuleGroup.EMBEDDING: "embeddings", ModuleGroup.BLOCKS: "blocks", ModuleGroup.HEAD: "head"}


@dataclass(frozen=True)
class Trained:
    """Which parameters are trained: as the spec says, LoRA's adapters alone, or all but frozen layers."""

    of: Trainable = by_spec
    adapters: Count = field(default_factory=lambda: Count(0))
    words: str = ""  # in a title: `LoRA r8 on q, v`
    notes: tuple[Assumption, ...] = ()


def counted(
    model: Network, asked: Options, *, depth: int | None = None, explain: bool = False, names: bool = False
) -> ParamsReport:
    root, trained = trained_tree(model, asked)
    total, equations, found = one_copy(root), blocks(root), tally(root, trained.of)
    precision = model.spec.precision
    in_file, plain = found.bytes_in_file, int(total) * BYTES[precision or "fp32"]
    mixed = in_file and not (precision and in_file == plain)  # tensors that transformers builds are in no file
    explained = equation_notes(equations) if explain and equations else ()
    stored = all_on(Topic.WEIGHTS, filter(None, [model.stored.note] if model.stored else []))
    assumed = () if precision or in_file else (FP32,)
    return ParamsReport(
        model=model.name,
        assumptions=(
            *(notes_of(root, "doubts") or (model.scope.exact("count"),)),
            *trained.notes,
            *explained,
            *notes_of(root),
            *stored,
            *assumed,
        ),
        scope=model.scope,
        total=total,
        trainable=found.trainable,
        frozen=int(total) - found.trainable,
        non_embedding=found.non_embedding,
        without_head=int(total) - found.groups[ModuleGroup.HEAD],
        active=found.active,
        active_non_embedding=found.active_non_embedding,
        bytes=in_file or plain,
        buffers=found.buffers,
        scales=found.scales,
        groups={label: found.groups[group] for group, label in GROUPS.items()},
        precision="the file" if mixed else precision or "fp32",
        rows=tuple(rows_of(root, Count(1), trained.of)),
        adapters=trained.adapters,
        trained_as=trained.words,
        stored=stored_bytes(model),
        depth=depth or USUAL_DEPTH,
        equations=equations,
        explain=explain,
        names=names,
    )


def stored_bytes(model: Network) -> int | None:
    """Bytes of the weights as stored; None if they are not quantised or the layout is unknown."""
    if not model.stored or model.stored.unknown:
        return None
    from archcalc.analyze.memory.deployment import deploy

    return deploy(model, Options.of("memory", {})).parameters.states["weights"]


def trained_tree(model: Network, asked: Options) -> tuple[Module, Trained]:
    """The model as its spec has it, where no option is given."""
    if not (asked.lora or asked.freeze or asked.code):
        return model.build(), Trained()
    from archcalc.run.resolve import resolve
    from archcalc.run.tree_changes import adapted

    run = resolve(model, asked)
    root = adapted(model, run, model.workload())
    trains = is_adapter if run.lora else all_but(root, run.freeze)
    words = f"{', '.join(run.freeze)} frozen" if run.freeze else ""
    if run.lora:
        words = f"LoRA r{run.lora} on {', '.join(dict.fromkeys(module.name for module in _adapted(root)))}"
    return root, Trained(trains, adapter_parameters(root), words, tuple(_notes(root, run)))


def _notes(root: Module, run: Run) -> Iterator[Assumption]:
    """Which matrices are adapted, and by whose code."""
    if run.lora:
        paths = ", ".join(module.path for module in _adapted(root))
        yield Assumption(Topic.CODE, f"LoRA adapts {paths}", paths, "" if run.lora_targets else "--lora-targets")
    code = run.choice("code")
    if code:
        yield code.assumption()
    yield from dict.fromkeys(note for module, _ in _adapters(root) for note in module.words.work_notes)


def _adapted(root: Module) -> list[Module]:
    """The layers with adapters, in order."""
    return list(dict.fromkeys(module.parent for module, _ in _adapters(root) if module.parent))


def _adapters(root: Module) -> Iterator[tuple[Module, Count]]:
    """With the number of their copies."""
    return ((module, copies) for module, copies in walk(root) if any(map(is_adapter, module.params.values())))


def adapter_parameters(root: Module) -> Count:
    """Worked as textbooks do: 2 × 32 × 8 × (2 × 4096). Adapters of equal shapes stand together: copies, rank, and the
    two sides of the matrix that they stand beside."""
    alike: Counter[tuple[Count, ...]] = Counter()
    for module, copies in _adapters(root):
        down, up = (param for param in module.params.values() if is_adapter(param))
        alike[Count(int(copies)), _side(down, 0), _side(down, 1), _side(up, 0)] += 1
    each = ((product((Count(number), copies, rank)), sides) for (copies, rank, *sides), number in alike.items())
    return total(times * total(sides) for times, sides in each)


def _side(param: Param, axis: int) -> Count:
    """One number: all heads together are a side of a matrix."""
    whole = product(dim.size for dim in param.axes[axis])
    return Count.named(whole.worked(names=True), int(whole))
