"""Offload as a memory report needs it: what is left on the GPU, what is in host RAM, and what crosses the bus.

offloading = Offloading(run, keeping, parameters, root)
offloading.apart.on_gpu, offloading.host(work, root, step, cache)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from archcalc.analyze.memory.bus import answering, copied_from, copies_weights, looked_up_bytes, staged
from archcalc.analyze.memory.ggml_buffers import host_buffer
from archcalc.analyze.memory.host import Crossing, Host
from archcalc.analyze.memory.inference import prompt_of
from archcalc.analyze.memory.offloaded_parameters import Apart, apart
from archcalc.analyze.memory.residence import Residence
from archcalc.analyze.memory.simulated import Simulated
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Module, Param
from archcalc.run.offload import Offload
from archcalc.simulate.levels import Levels
from archcalc.simulate.passes.offloaded_activations import offloaded_bytes

if TYPE_CHECKING:
    from archcalc.analyze.memory.decode_cache import Cached
    from archcalc.analyze.memory.states import Keeping, ParameterMemory
    from archcalc.run.resolved import Run
    from archcalc.spec.workload import Workload


@dataclass(frozen=True)
class Offloading:
    """One question's; `root` is the model traced at any size."""

    run: Run
    keeping: Keeping
    parameters: ParameterMemory  # before anything is offloaded
    root: Module

    @cached_property
    def residence(self) -> Residence:
        found = Residence(self.root, self.run.offload)
        if "offload" in self.run.said or self.run.offload != Offload(embedding=True):
            found.check()  # an engine's own habit has no effect where there is no table, such as on a later stage
        return found

    @cached_property
    def apart(self) -> Apart:
        return apart(self.parameters, self.keeping, self.residence, self.run.accumulate)

    def staged(self, root: Module, prompt: Workload) -> Callable[[Param], int]:
        """Bytes of a weight in host RAM that the GPU holds for a product; `root` is traced for the prompt."""
        if not copies_weights(prompt):
            return lambda param: 0
        residence = Residence(root, self.run.offload)
        return lambda param: staged(param, residence, self.keeping)

    def computed(self, prompt: Workload, step: Simulated) -> Simulated:
        """The step as it is; or, where the GPU has no layer and gets none for a product, one that the CPU computes."""
        if self.run.offload.gpu_layers != 0 or copies_weights(prompt):
            return step
        peak = Levels(dict.fromkeys(step.start, 0)).play(step.changes).peak.bytes
        return step._replace(changes=[], by_host=peak)

    def host(self, root: Module, prompt: Workload, step: Simulated, cache: list[Cached], positions: int = 0) -> Host:
        """What is kept in host RAM; `cache` is that of all layers, undivided, `positions` how many there are."""
        if self.run.trains:
            return self._training(root, step)
        residence = Residence(root, self.run.offload)
        kept = {"weights": self.apart.in_host["weights"], "kv_cache": 0, "state": 0, "activations": step.by_host}
        if self.run.engine.rules.host_buffer and prompt.lengths:
            kept["buffers"] = host_buffer(root, self.run, positions)
        for one in cache:
            kept["kv_cache" if one.grows else "state"] += residence.cache_in_host(one)
        return Host(kept, self.run.plan.dp, answering(residence, prompt, self.run, self.keeping))

    def _training(self, root: Module, step: Simulated) -> Host:
        """The activations of all micro-batches in flight, and what every micro-batch sends over the bus: activations,
        shards on their way to an all-gather in both passes, and gradients on their way to the optimizer."""
        run, offload, kept = self.run, self.run.offload, dict(self.apart.in_host)
        leaving = offloaded_bytes(step.schedule)
        kept["activations"] = leaving * (run.stage.in_flight(run.accumulate) if run.stage else 1)
        tables = looked_up_bytes(Residence(root, offload), run) if offload.embedding else 0
        gathers = 1 if run.reshard == "never" else 2
        shards = gathers * kept["weights"] if offload.params else 0
        # weights that the CPU has updated, once a step, unless they stay in host RAM
        updated = self.apart.updated if offload.optimizer and not offload.params else 0
        to_gpu = run.accumulate * (leaving + tables + shards) + updated
        to_host = run.accumulate * (leaving + kept.get("gradients", 0))
        return Host(kept, run.plan.gpus, Crossing(to_gpu, to_host))

    def notes(self, work: Workload) -> Iterator[Assumption]:
        """What host memory takes for granted, where something is kept there."""
        run, residence = self.run, self.residence
        if not run.trains and run.offload.gpu_layers is not None:
            first, layers = residence.first_on_gpu, residence.layers
            there = f"layers {first} to {layers - 1}" if first < layers else "no layers"
            output = "" if residence.is_all_in_host else " and the output layer"
            text = f"on the GPU: {there}{output}, as llama.cpp deals them out; the input tables are in host RAM"
            yield Assumption(Topic.OFFLOAD, text, run.offload.gpu_layers)
        if not run.trains:
            tables = [param for param in residence.copies if param.weight_role.is_table]
            if any(residence.in_host(table) and residence.stays(table) for table in tables):
                yield Assumption(Topic.OFFLOAD, "the GPU keeps a copy of the input table, for the output layer")
            number = copied_from()
            text = f"fewer than {number} tokens at once: the CPU computes with matrices that are in host RAM"
            if copies_weights(prompt_of(work, run)):
                how = "llama.cpp copies matrices from host RAM to the GPU, one at a time"
                text = f"{number} tokens or more at once: {how}"
            yield Assumption(Topic.OFFLOAD, text, number)
        if run.plan.gpus > 1:
            text = "host memory: of all GPUs together; divide it by the number of machines that they are in"
            yield Assumption(Topic.OFFLOAD, text, run.plan.gpus)
