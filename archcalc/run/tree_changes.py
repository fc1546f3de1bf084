"""What a run changes in the traced model: its style, adapters, a loss of its own, number formats, the sequence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from archcalc.core.assumptions import Topic
from archcalc.core.ir import Module
from archcalc.network import Network
from archcalc.run import lora, sequence_parallel
from archcalc.run.autocast import Autocast
from archcalc.run.code import PLAIN
from archcalc.run.code.heads import gather_logits, untie_head
from archcalc.run.code.loss_chunks import CopiedHidden, HeadInChunks, LossInChunks, PackedHidden
from archcalc.run.method_loss import TokenLogProbabilities
from archcalc.run.methods import returns_fp32
from archcalc.run.resolved import Run
from archcalc.run.style import parameter_style, style_of
from archcalc.spec.traces import Change
from archcalc.spec.workload import Workload

TOPICS = {"images": Topic.IMAGES, "audio": Topic.AUDIO}


class Unloaded(NamedTuple):
    """A change to a traced model: without its towers for these media, and without what is said of their inputs."""

    media: frozenset[str]

    def __call__(self, root: Module) -> None:
        for tower in [child for child in root.children if child.medium in self.media]:
            root.remove(tower)
        topics = {TOPICS[medium] for medium in self.media}
        root.words.notes[:] = [note for note in root.words.notes if note.topic not in topics]


def traced(model: Network, run: Run, work: Workload) -> Module:
    """The model as the run computes it: in its style, with its adapters and its loss, of one GPU's part."""
    style = style_of(run)
    changes = (*parameter_changes(run), *_changes(run, style.narrow))
    return model.build(replace(on_one_gpu(run, work), style=style), changes)


def on_one_gpu(run: Run, work: Workload) -> Workload:
    """What a forward pass computes: all sequences of the run's method, and of each the largest share that a GPU gets,
    length / gpus, rounded up."""
    lengths = {name: -(-length // run.plan.cp) for name, length in work.lengths.items()}
    return replace(work, batch=work.batch * run.method.sequences, lengths=lengths)


def adapted(model: Network, run: Run, work: Workload) -> Module:
    """The model with the run's parameters, and otherwise as its spec has it."""
    return model.build(replace(work, style=parameter_style(run)), tuple(parameter_changes(run)))


def _changes(run: Run, narrow: bool) -> Iterator[Change]:
    """Those that leave the parameters as they are, in the order in which they are made."""
    habits = run.code.habits
    if run.recipe and run.method.reads_tokens:
        wide = returns_fp32(run.recipe) and not run.method.is_fused
        yield TokenLogProbabilities(wide, cast=wide and narrow)
    if run.plan.tp > 1 and habits.parallel_head == "gathered":
        yield gather_logits
    if run.trains and habits.head == "chunks":
        yield HeadInChunks(narrow)
    is_own = run.code.name != PLAIN and not run.method.is_fused
    way = habits.loss_chunks if run.loss_chunks > 1 and is_own else "freed"
    if way == "backward":
        yield CopiedHidden(narrow)
    elif way == "packed":
        yield PackedHidden(narrow)
    elif way != "freed":
        yield LossInChunks(run.loss_chunks, by_head=way == "list", is_compiled=run.compile == "all")
    if run.recipe and run.recipe.autocast:
        yield Autocast(run.recipe, run.format, adapted=bool(run.lora), frozen=run.freeze)
    if run.plan.sp:
        yield sequence_parallel.split_sequence
    if run.plan.sp and habits.gathered == "again":
        yield sequence_parallel.gather_again


def parameter_changes(run: Run) -> Iterator[Change]:
    """Those that decide which parameters there are."""
    if run.unloaded:
        yield Unloaded(run.unloaded)
    if run.stage:
        yield run.stage.cut
    if run.recipe and run.code.habits.tied == "never":
        yield untie_head
    if run.trains and run.lora:
        yield lora.Lora(run.lora, run.lora_targets, run.freeze)
