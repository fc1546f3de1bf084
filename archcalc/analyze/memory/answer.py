"""Peak memory of a model on each GPU, by part and by layer.

    Memory(model, mode="train", optimizer="adamw").at(batch=8, seq=4096).total_bytes

`Memory` checks the options once and is cheap to ask at many sizes; `total` gives the number alone.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import cached_property
from typing import Unpack

from archcalc.analyze.memory import inference, training
from archcalc.analyze.memory.decode_cache import Cached, keeps_cache
from archcalc.analyze.memory.device_memory import MOST_OPS
from archcalc.analyze.memory.device_memory import on_device as played_on_device
from archcalc.analyze.memory.engine_pool import required_by_engine
from archcalc.analyze.memory.engine_step import layers_of
from archcalc.analyze.memory.extras import all_residents
from archcalc.analyze.memory.keeping import keeping_of
from archcalc.analyze.memory.offloading import Offloading
from archcalc.analyze.memory.overhead import overhead
from archcalc.analyze.memory.report import EVERY_DEPTH, PARTS, USUAL_DEPTH, MemoryReport
from archcalc.analyze.memory.reporting import host_of, reported
from archcalc.analyze.memory.residents import Resident, joined, passing
from archcalc.analyze.memory.rollout import needs_more
from archcalc.analyze.memory.simulated import Simulated, peak_of
from archcalc.analyze.memory.states import Keeping, ParameterMemory, parameter_memory
from archcalc.analyze.option_checks import (
    check_cache,
    check_decodes,
    check_generates,
    check_plan,
    check_sense,
    check_sizes,
)
from archcalc.core.ir import Module
from archcalc.core.later import Later
from archcalc.network import Network
from archcalc.run.keywords import MemoryKeywords
from archcalc.run.options import Options
from archcalc.run.pipeline import Stage, stages
from archcalc.run.resolve import resolve
from archcalc.run.resolved import Run
from archcalc.run.tree_changes import traced
from archcalc.simulate.events import Event
from archcalc.simulate.levels import Snapshot
from archcalc.simulate.reserved import DeviceMemory
from archcalc.spec.option_checks import checked
from archcalc.spec.sizes import Sizes
from archcalc.spec.workload import Workload

FROM_THE_START = (
    "gradients",
    "state",
    "buffers",
    "activations",
    "temporary",
    "reference",
    "rollout",
    "rollout_cache",
)  # parts, besides weights and states

MODES = {  # what is computed in each mode
    "train": "train",
    "forward": "forward",
    "infer": "prefill",
    "prefill": "prefill",
    "decode": "decode",
}


class Memory:
    """The memory of a model under one set of options, at any batch and length."""

    def __init__(
        self,
        model: Network,
        options: Options | None = None,
        stage: Stage | None = None,
        **keywords: Unpack[MemoryKeywords],
    ) -> None:
        self.model, self.options = model, options or Options.of("memory", keywords)
        self.run: Run = replace(resolve(model, self.options), stage=stage)
        if self.options.mode == "decode":
            check_decodes(model)
        if self.run.method.reads_tokens:
            check_generates(model)
        self._totals: dict[Sizes, int] = {}
        self._devices: dict[Sizes, Later[DeviceMemory] | None] = {}
        self._simulated: dict[Sizes, Simulated] = {}
        self._checked: set[Sizes] = set()
        self.beside: dict[Hashable, int] = {}  # what a serving engine needs beside its cache, by the prompts of a step

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
        found = reported(self, work, depth=depth, timeline=timeline)
        if not self.run.engine.fills_device:
            return found
        return replace(found, outside=max(required_by_engine(self, sizes) - found.total_bytes, 0))

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
            self._totals[sizes] = peak_of(worst.simulated(sizes)).bytes
        return self._totals[sizes]

    @cached_property
    def _stages(self) -> list[Memory]:
        """A pipeline's, each with its own layers; nothing for a model that is in one piece."""
        if self.run.plan.pp == 1 or self.run.stage:
            return []
        _ = self.tree  # for its errors: of the whole model, not of a stage
        parts = stages(self.model.spec.family, self.model.resolved, self.run.plan.pp)
        return [Memory(replace(self.model, resolved=one.resolved), self.options, one) for one in parts]

    def _worst_stage(self, sizes: Sizes) -> Memory:
        return max(self._stages, key=lambda stage: stage.peak_bytes(sizes))

    def required_bytes(self, sizes: Sizes) -> int:
        """What a device must have: in training with what the allocator takes beyond the tensors, remembered."""
        if self._stages:
            return self._worst_stage(sizes).required_bytes(sizes)
        if self.run.engine.fills_device:
            return required_by_engine(self, sizes)
        device = self.on_device_at(sizes)
        beside = device.value.reserved - device.value.tensors if device else 0
        return self.peak_bytes(sizes) + beside

    def on_device_at(self, sizes: Sizes) -> Later[DeviceMemory] | None:
        """A training step with PyTorch's allocator, remembered; None where that is not simulated."""
        if sizes not in self._devices:
            found = self.on_device(self._workload(sizes), self.simulated(sizes)) if self.run.trains else None
            self._devices[sizes] = found
        return self._devices[sizes]

    def host_bytes(self, sizes: Sizes) -> int:
        """Host RAM of what is offloaded, of all GPUs together."""
        if not self.run.offload:
            return 0
        found = host_of(self, self._workload(sizes), self.simulated(sizes))
        return found.bytes if found else 0

    def peak_at(self, sizes: Sizes) -> Snapshot:
        """The peak of a report, without all else that a report tells."""
        work = self._workload(sizes)
        check_sizes(work, self.options)
        return (self._worst_stage(sizes) if self._stages else self).peak(work)

    def peak_parts(self, sizes: Sizes) -> dict[str, int]:
        """The parts of the peak."""
        return self.peak(self._workload(sizes)).parts

    def build(self, work: Workload) -> Module:
        """The traced model, with adapters and the loss as the run has them, and its part of the sequence."""
        return traced(self.model, self.run, work)

    def simulated(self, sizes: Sizes) -> Simulated:
        """The simulated step, for callers that need many sizes; the last one is remembered."""
        if sizes not in self._simulated:
            self._simulated = {sizes: self.simulated_at(self._workload(sizes))}
        return self._simulated[sizes]

    def traced(self, sizes: Sizes) -> Module:
        """The model as it is simulated at these sizes."""
        return self.build(self._workload(sizes))

    def check(self, sizes: Sizes) -> None:
        """Refuse what the model and the options do not allow, as a simulation of these sizes would."""
        if sizes not in self._checked:
            work = self._workload(sizes)
            self.build(work if self.run.trains else self.prompt(sizes))
            _ = self.least_bytes, self.cached_at(work, self.run), self.residents(work)
            self._checked.add(sizes)

    def prompt(self, sizes: Sizes) -> Workload:
        """What a step of these sizes reads at once."""
        return inference.prompt_of(self._workload(sizes), self.run)

    @cached_property
    def least_bytes(self) -> int:
        """What is there all the time, whatever a step computes: weights and optimizer states."""
        return self.parameters.weights + self.parameters.states["master"] + self.parameters.states["optimizer"]

    @cached_property
    def _start(self) -> dict[str, int]:
        more = overhead(self.run) + self.run.engine.graphs(self.layers)
        states = dict.fromkeys(PARTS, 0) | self.parameters.states
        return states | {"weights": self.parameters.weights, "overhead": more}

    def simulated_at(self, work: Workload) -> Simulated:
        start = self._start
        if self.run.trains:
            step = training.simulated(self.build(work), work, self.run, self.keeping, start)
        else:
            prompt = inference.prompt_of(work, self.run)
            root, cache = self.build(prompt), self.offloading.on_gpu(self.cached_at(work, self.run))
            staged = self.offloading.staged(root, prompt)
            step = inference.simulated(root, work, self.run, cache, start, staged)
            step = self.offloading.computed(prompt, step)
        return joined(step, self.residents(work))

    def residents(self, work: Workload, *, is_unrolled: bool = False) -> list[Resident]:
        return list(all_residents(self, work, is_unrolled=is_unrolled))

    def residents_of(self, sizes: Sizes) -> list[Resident]:
        """What stands beside the model for these sequences."""
        return self.residents(self._workload(sizes))

    def another(self, model: Network, options: Options, stage: Stage | None = None) -> Memory:
        """Of a second model, or of this one in another role."""
        return Memory(model, options, stage)

    @cached_property
    def layers(self) -> int:
        """How many blocks a forward pass runs through."""
        return layers_of(self.tree)

    def on_device(self, work: Workload, step: Simulated) -> Later[DeviceMemory] | None:
        """What PyTorch's allocator makes of a training step, unless it has too many ops to be played."""
        if not self.run.trains or sum(one.times for one in step.schedule.steps()) > MOST_OPS:
            return None
        root, start = self.build(work), {"gradients": self.parameters.states["gradients"]}
        besides = [step.start[part] for part in FROM_THE_START if step.start[part]]

        def play() -> list[Event]:
            changes = training.unrolled(root, self.run, self.keeping, start, step.own)
            return passing(changes, [one for one in self.residents(work, is_unrolled=True) if not one.own_pool])

        found = played_on_device(self.parameters, play, self.run.allocator, besides)
        return None if needs_more(self.run, step, found) else found

    def peak(self, work: Workload) -> Snapshot:
        return peak_of(self.simulated_at(work))

    def cached(self, sizes: Sizes) -> list[Cached]:
        """The KV cache and recurrent states of all sequences, as far as they are on the GPU."""
        return self.offloading.on_gpu(self.cached_at(self._workload(sizes), self.run))

    def cached_at(self, work: Workload, run: Run) -> list[Cached]:
        """The KV cache and recurrent states of a decoder after that many tokens, of all its layers."""
        if self.run.trains or not keeps_cache(self.tree):
            return []
        step = inference.last_step(work)
        found = inference.cache_after(self.build(step), step, run)
        check_cache((one.tensor for one in found), self.options)
        return found

    def _workload(self, sizes: Sizes) -> Workload:
        return self.model.workload(**sizes.given(), mode=MODES[self.run.mode], attention=self.run.traced_attention)

    @cached_property
    def tree(self) -> Module:
        """The model traced at its default sizes, for results that do not depend on sizes."""
        mode = "prefill" if self.run.mode == "decode" else MODES[self.run.mode]
        root = self.build(self.model.workload(mode=mode, attention=self.run.traced_attention))
        if not self.run.stage:
            check_plan(root, self.options, replicated=self.run.code.habits.gathered == "again")
            check_sense(root, self.options)
        return root

    @cached_property
    def keeping(self) -> Keeping:
        return keeping_of(self.model, self.tree, self.run)

    @cached_property
    def offloading(self) -> Offloading:
        every = parameter_memory(self.tree, self.keeping, self.run.activations)
        return Offloading(self.run, self.keeping, every, self.tree)

    @property
    def parameters(self) -> ParameterMemory:
        """Memory of the GPU that does not depend on the batch: weights, gradients and optimizer states."""
        return self.offloading.apart.on_gpu


def memory(model: Network, options: Options, *, depth: int | None = None, timeline: bool = False) -> MemoryReport:
    """One answer; `Memory` is for many. A model without a sequence is shown down to its layers."""
    from archcalc.analyze.placement import on_named_device

    depth = depth or (USUAL_DEPTH if model.resolved.lengths else EVERY_DEPTH)
    return Memory(model, on_named_device(model, options)).at(**options.sizes.given(), depth=depth, timeline=timeline)
