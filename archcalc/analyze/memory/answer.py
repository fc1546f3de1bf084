"""Peak memory of a model on each GPU, by part and by layer.

    Memory(model, mode="train", optimizer="adamw").at(batch=8, seq=4096).total_bytes

`Memory` checks the options once and is cheap to ask at many sizes; `total` gives the number alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Unpack

from archcalc.analyze.memory import inference, training
from archcalc.analyze.memory.assumptions import assumptions, attends
from archcalc.analyze.memory.decode_cache import Cached, keeps_cache
from archcalc.analyze.memory.device_memory import MOST_OPS, OnDevice, allocator_notes, on_device, ops_in
from archcalc.analyze.memory.host import Host
from archcalc.analyze.memory.lowered import lowering
from archcalc.analyze.memory.offloading import Offloading
from archcalc.analyze.memory.overhead import overhead
from archcalc.analyze.memory.profile import Instant, Levels, Simulated
from archcalc.analyze.memory.replicated import left_whole, undivided
from archcalc.analyze.memory.report import PARTS, USUAL_DEPTH, MemoryReport
from archcalc.analyze.memory.rows import rows
from archcalc.analyze.memory.states import Keeping, ParameterMemory, parameter_memory
from archcalc.analyze.option_checks import check_cache, check_decodes, check_plan, check_sense, check_sizes
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.core.execution import Trainable, never
from archcalc.core.ir import Module
from archcalc.core.mesh import Plan
from archcalc.core.notes import memory_notes_of, notes_of, work_notes_of
from archcalc.core.precision import BYTES
from archcalc.run import lora, sequence_parallel
from archcalc.run.accuracy import Band, band
from archcalc.run.case import Case, case
from archcalc.run.code.library import PLAIN
from archcalc.run.code.lowering import NotLowered
from archcalc.run.code.shards import gather_again
from archcalc.run.code.support import unmeasured_ops
from archcalc.run.code.untied import untie_head
from archcalc.run.keywords import MemoryKeywords
from archcalc.run.options import Options
from archcalc.run.pipeline import Stage, stages
from archcalc.run.traces import Change
from archcalc.spec.option_checks import checked
from archcalc.spec.sizes import Sizes
from archcalc.spec.workload import Workload
from archcalc.storage.places import facts

if TYPE_CHECKING:
    from archcalc.model import Model

LAYERS = {  # what the rows of layers are, since they need not add up to the total
    True: "layer rows: all that a layer stores at any time of the step, so the sum can exceed the peak",
    False: "layer rows: weights and cache; activations and overhead belong to no layer",
}

FROM_THE_START = ("gradients", "state", "buffers", "activations", "temporary")  # parts, besides weights and states

MODES = {  # what is computed in each mode
    "train": "train",
    "infer": "prefill",
    "prefill": "prefill",
    "decode": "decode",
}


class Memory:
    """The memory of a model under one set of options, at any batch and length."""

    def __init__(
        self,
        model: Model,
        options: Options | None = None,
        stage: Stage | None = None,
        **keywords: Unpack[MemoryKeywords],
    ) -> None:
        self.model, self.options = model, options or Options.of("memory", keywords)
        self.case: Case = replace(case(model, self.options), stage=stage)
        if self.options.mode == "decode":
            check_decodes(model)
        if self.case.trains and not self.options.code:
            self._try_usual_code()
        self._totals: dict[Sizes, int] = {}
        self._required: dict[Sizes, int] = {}

    def _try_usual_code(self) -> None:
        """archcalc's own layers where the code that people run does not compute such a model."""
        try:
            self.build(self.model.workload(mode="train", attention=self.case.attention))
        except NotLowered:
            own = case(self.model, replace(self.options, code=PLAIN))
            self.case = replace(own, said=self.case.said, stage=self.case.stage)
            vars(self).pop("_changes", None)

    @checked()
    def at(
        self,
        batch: int | None = None,
        seq: int | None = None,
        *,
        src_seq: int | None = None,
        tgt_seq: int | None = None,
        context: int | None = None,
        depth: int | None = None,
        timeline: bool = False,
    ) -> MemoryReport:
        """The full report; sizes not given come from the spec. `depth` and `timeline` choose what is shown."""
        return self.report(Sizes(batch, seq, src_seq, tgt_seq, context), depth=depth, timeline=timeline)

    def report(self, sizes: Sizes, *, depth: int | None = None, timeline: bool = False) -> MemoryReport:
        """The same, with the sizes as one value."""
        work = self._workload(sizes)
        check_sizes(work, self.options)
        if self._stages:
            return self._worst_stage(sizes).report(sizes, depth=depth, timeline=timeline)
        step, root = self._simulated(work), self.build(work)
        levels = Levels(dict(step.start)).play(step.changes)
        whole = undivided(self.parameters, step.schedule.saved(), step.cache)
        layers = [Assumption(Topic.TABLE, LAYERS[self.case.trains])] if depth and not timeline else []
        assumed = assumptions(
            self.case,
            self._root,
            step.cache,
            of_file=self.model.spec.family == "weights",
            attention_matters=self._attention_matters(work, levels.peak),
        )
        device = self._on_device(work, step)
        return MemoryReport(
            model=self.model.name,
            assumptions=(
                *assumed,
                *allocator_notes(self.case, device, self._band(device)),
                *self.offloading.notes(inference.prompt_of(work, self.case)),
                *_notes(root),
                *unmeasured_ops(root, self.case.code),
                *self._stage_notes,
                *left_whole(whole),
                *layers,
                *work.assumptions,
            ),
            scope=self.model.scope,
            mode=self.case.mode,
            batch=work.batch,
            lengths=work.lengths,
            context=work.context,
            plan=self.case.plan,
            peak=levels.peak,
            instants=tuple(levels.instants),
            states=self.parameters.states,
            undivided=whole,
            padding=sum(one.padding for one in self.parameters.held),
            rows=rows(root, self.parameters, step.schedule, step.cache),
            estimates=self.case.estimates,
            weights=self.case.format.name,
            depth=depth or USUAL_DEPTH,
            timeline=timeline,
            device=device,
            band=self._band(device),
            host=self._host(work, step),
        )

    @checked()
    def total(
        self,
        batch: int | None = None,
        seq: int | None = None,
        *,
        src_seq: int | None = None,
        tgt_seq: int | None = None,
        context: int | None = None,
    ) -> int:
        """The bytes alone."""
        return self.peak_bytes(Sizes(batch, seq, src_seq, tgt_seq, context))

    def peak_bytes(self, sizes: Sizes) -> int:
        """The same, remembered."""
        if sizes not in self._totals:
            worst = self._worst_stage(sizes) if self._stages else self
            self._totals[sizes] = worst._peak(self._workload(sizes)).bytes
        return self._totals[sizes]

    @cached_property
    def _stages(self) -> list[Memory]:
        """A pipeline's, each with its own layers; nothing for a model that is in one piece."""
        if self.case.plan.pp == 1 or self.case.stage:
            return []
        _ = self._root  # for its errors: of the whole model, not of a stage
        parts = stages(self.model.spec.family, self.model.resolved, self.case.plan.pp)
        return [Memory(replace(self.model, resolved=one.resolved), self.options, one) for one in parts]

    def _worst_stage(self, sizes: Sizes) -> Memory:
        return max(self._stages, key=lambda stage: stage.peak_bytes(sizes))

    def required_bytes(self, sizes: Sizes) -> int:
        """What a device must have: in training with what the allocator takes beyond the tensors, remembered."""
        if self._stages:
            return self._worst_stage(sizes).required_bytes(sizes)
        if sizes not in self._required:
            work = self._workload(sizes)
            device = self._on_device(work, self._simulated(work)) if self.case.trains else None
            beside = device.memory.reserved - device.memory.tensors if device else 0
            self._required[sizes] = self.peak_bytes(sizes) + beside
        return self._required[sizes]

    def build(self, work: Workload) -> Module:
        """The traced model, with adapters and the loss as the case wants them, and its part of the sequence."""
        return self.model.build(sequence_parallel.one_part(work, self.case.plan.cp), self._changes)

    @cached_property
    def _changes(self) -> tuple[Change, ...]:
        case, found = self.case, list[Change]([self.case.stage.cut] if self.case.stage else [])
        if case.code.habits.tied == "never":
            found.append(untie_head)
        if case.lora:
            found.append(lora.Lora(case.lora, case.lora_targets))
        casts = case.compile != "all" or case.code.habits.model_casts_logits(case.loss_chunks)
        casts = casts and not case.code.habits.overwrites_logits
        if case.trains and casts and BYTES[case.activations] < BYTES["fp32"]:
            found.append(lora.widen_loss)
        if case.trains and not case.code.is_plain and case.recipe and case.recipe.name != "autocast":
            found.append(lowering(case))
        if case.plan.sp:
            found.append(sequence_parallel.split_sequence)
        if case.plan.sp and case.code.habits.gathered == "again":
            found.append(gather_again)
        return tuple(found)

    def simulated(self, sizes: Sizes) -> Simulated:
        """The simulated step, for callers that need many sizes."""
        return self._simulated(self._workload(sizes))

    def traced(self, sizes: Sizes) -> Module:
        """The model as it is simulated at these sizes."""
        return self.build(self._workload(sizes))

    def _simulated(self, work: Workload) -> Simulated:
        start = dict.fromkeys(PARTS, 0) | self.parameters.states
        start |= {"weights": self.parameters.weights, "overhead": overhead(self.case)}
        if self.case.trains:
            return training.simulated(self.build(work), work, self.case, self.keeping, start)
        prompt = inference.prompt_of(work, self.case)
        root, cache = self.build(prompt), self.offloading.on_gpu(self._cached(work, self.case))
        staged = self.offloading.staged(root, prompt)
        return self.offloading.computed(prompt, inference.simulated(root, prompt, self.case, cache, start, staged))

    def _on_device(self, work: Workload, step: Simulated) -> OnDevice | None:
        """What PyTorch's allocator makes of a training step, unless it has too many ops to be played."""
        if not self.case.trains or ops_in(step.schedule.nodes) > MOST_OPS:
            return None
        root, start = self.build(work), {"gradients": self.parameters.states["gradients"]}
        besides = [step.start[part] for part in FROM_THE_START if step.start[part]]
        play = partial(training.unrolled, root, self.case, self.keeping, start)
        return on_device(self.parameters, play, self.case.allocator, besides)

    def _band(self, device: OnDevice | None) -> Band | None:
        """The error of measured runs, none of which offloads anything."""
        return band(self.case.code.name) if device and not self.case.offload else None

    def _host(self, work: Workload, step: Simulated) -> Host | None:
        prompt = inference.prompt_of(work, self.case)
        cache = self._cached(work, replace(self.case, plan=Plan())) if self.case.offload else []
        return self.offloading.host(self.build(prompt), prompt, step, cache)

    def _peak(self, work: Workload) -> Instant:
        step = self._simulated(work)
        return Levels(dict(step.start)).play(step.changes).peak

    def _cached(self, work: Workload, case: Case) -> list[Cached]:
        """The KV cache and recurrent states of a decoder after that many tokens, of all its layers."""
        if self.case.trains or not keeps_cache(self._root):
            return []
        step = inference.last_step(work)
        found = inference.cache_after(self.build(step), step, case)
        check_cache({one.grows for one in found}, self.options)
        return found

    def _workload(self, sizes: Sizes) -> Workload:
        return self.model.workload(**sizes.given(), mode=MODES[self.case.mode], attention=self.case.attention)

    @cached_property
    def _root(self) -> Module:
        """The model traced at its default sizes, for results that do not depend on sizes."""
        mode = "train" if self.case.trains else "prefill"
        root = self.build(self.model.workload(mode=mode, attention=self.case.attention))
        if not self.case.stage:
            check_plan(root, self.options, replicated=self.case.code.habits.gathered == "again")
            check_sense(root, self.options)
        return root

    @cached_property
    def keeping(self) -> Keeping:
        case = self.case
        rest = case.format.rest or (case.recipe.weights if case.recipe else case.activations)
        fused = getattr(self.model.spec, "fused_qkv", False)  # of transformers alone
        trainable = _trainable(self._root, case)
        model, as_stored = facts(self._root, fused_qkv=fused), "weights" not in case.said
        recipes = case.recipe, case.optimizer
        return Keeping(case.plan, case.format, rest, trainable, *recipes, model, as_stored, case.adapters)

    @cached_property
    def offloading(self) -> Offloading:
        every = parameter_memory(self._root, self.keeping, self.case.activations)
        return Offloading(self.case, self.keeping, every, self._root)

    @property
    def parameters(self) -> ParameterMemory:
        """Memory of the GPU that does not depend on the batch: weights, gradients and optimizer states."""
        return self.offloading.apart.on_gpu

    @property
    def _stage_notes(self) -> Iterator[Assumption]:
        stage = self.case.stage
        if stage:
            yield Assumption(Topic.PARALLELISM, stage.about(self.case.accumulate), stage.number + 1)

    def _attention_matters(self, work: Workload, peak: Instant) -> bool:
        """Whether --attention was not given and the other kernel would change the peak."""
        if "attention" in self.case.said or not attends(self._root):
            return False
        other = {"eager": "flash", "flash": "eager"}[self.case.attention]
        asked = Memory(self.model, replace(self.options, attention=other), self.case.stage)
        try:
            return peak.parts != asked._peak(replace(work, attention=other)).parts
        except InputError:  # context parallelism wants a kernel
            return False


def _trainable(root: Module, case: Case) -> Trainable:
    if not case.trains:
        return never
    return lora.is_adapter if case.lora else lora.all_but(root, case.freeze)


def _notes(root: Module) -> tuple[Assumption, ...]:
    return (*notes_of(root), *work_notes_of(root), *memory_notes_of(root))


def memory(model: Model, options: Options, *, depth: int = USUAL_DEPTH, timeline: bool = False) -> MemoryReport:
    """One answer; `Memory` is for many."""
    return Memory(model, options).at(**options.sizes.given(), depth=depth, timeline=timeline)
