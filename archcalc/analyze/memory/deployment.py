"""A model as it is run: its network, every option filled in, and what follows from them at any size.

    deploy(model, Options.of("memory", {"mode": "train"})).parameters.weights

Equal deployments answer alike, so that peaks are remembered by them (`archcalc.analyze.memory.peak`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property

from archcalc.analyze.memory.engine_step import layers_of
from archcalc.analyze.memory.inference import prompt_of
from archcalc.analyze.memory.keeping import keeping_of
from archcalc.analyze.memory.offloading import Offloading
from archcalc.analyze.memory.overhead import overhead
from archcalc.analyze.memory.report import PARTS
from archcalc.analyze.memory.states import Keeping, ParameterMemory, parameter_memory
from archcalc.analyze.option_checks import check_decodes, check_generates, check_plan, check_sense
from archcalc.core.ir import Module
from archcalc.network import Network
from archcalc.run.options import Options
from archcalc.run.pipeline import Stage, stages
from archcalc.run.resolve import resolve
from archcalc.run.resolved import Run
from archcalc.run.tree_changes import traced
from archcalc.spec.sizes import Sizes
from archcalc.spec.workload import Workload

MODES = {  # what is computed in each mode
    "train": "train",
    "forward": "forward",
    "infer": "prefill",
    "prefill": "prefill",
    "decode": "decode",
}


@dataclass(frozen=True)
class Deployment:
    """Made by `deploy`. All that does not depend on sizes is worked out once, when it is asked for."""

    network: Network
    options: Options  # without sizes
    run: Run
    stage: Stage | None = None  # of a pipeline

    def __hash__(self) -> int:
        """A run follows from the rest, and holds what does not hash."""
        return hash((self.network, self.options, self.stage and self.stage.number))

    def workload(self, sizes: Sizes) -> Workload:
        """What is computed at these sizes; those that are left out come from the spec."""
        run = self.run
        return self.network.workload(**sizes.given(), mode=MODES[run.mode], attention=run.traced_attention)

    def prompt(self, sizes: Sizes) -> Workload:
        """What a step of these sizes reads at once."""
        return prompt_of(self.workload(sizes), self.run)

    def build(self, work: Workload) -> Module:
        """The traced model, with adapters and the loss as the run has them, and its part of the sequence."""
        return traced(self.network, self.run, work)

    @cached_property
    def tree(self) -> Module:
        """The model traced at its default sizes, for results that do not depend on sizes."""
        mode = "prefill" if self.run.mode == "decode" else MODES[self.run.mode]
        root = self.build(self.network.workload(mode=mode, attention=self.run.traced_attention))
        if not self.stage:
            check_plan(root, self.options, replicated=self.run.code.habits.gathered == "again")
            check_sense(root, self.options)
        return root

    @cached_property
    def layers(self) -> int:
        """How many blocks a forward pass runs through."""
        return layers_of(self.tree)

    @cached_property
    def keeping(self) -> Keeping:
        """How parameters are stored."""
        return keeping_of(self.network, self.tree, self.run)

    @cached_property
    def offloading(self) -> Offloading:
        every = parameter_memory(self.tree, self.keeping, self.run.activations)
        return Offloading(self.run, self.keeping, every, self.tree)

    @property
    def parameters(self) -> ParameterMemory:
        """Memory of the GPU that does not depend on the batch: weights, gradients and optimizer states."""
        return self.offloading.apart.on_gpu

    @cached_property
    def start(self) -> dict[str, int]:
        """Bytes by part that are there before a step begins."""
        more = overhead(self.run) + self.run.engine.graphs(self.layers)
        states = dict.fromkeys(PARTS, 0) | self.parameters.states
        return states | {"weights": self.parameters.weights, "overhead": more}

    @cached_property
    def least_bytes(self) -> int:
        """What is there all the time, whatever a step computes: weights and optimizer states."""
        return self.parameters.weights + self.parameters.states["master"] + self.parameters.states["optimizer"]

    @cached_property
    def stages(self) -> tuple[Deployment, ...]:
        """A pipeline's, each with its own layers; nothing for a model that is in one piece."""
        if self.run.plan.pp == 1 or self.stage:
            return ()
        _ = self.tree  # for its errors: of the whole model, not of a stage
        parts = stages(self.network.spec.family, self.network.resolved, self.run.plan.pp)
        return tuple(deploy(replace(self.network, resolved=each.resolved), self.options, each) for each in parts)

    @cached_property
    def beside_cache(self) -> dict[Hashable, int]:
        """Bytes that a serving engine needs beside its cache, by what a step reads; known as far as asked for."""
        return {}


def deploy(network: Network, options: Options, stage: Stage | None = None) -> Deployment:
    """The network as the options run it, refused where they do not allow that. `stage` is one of a pipeline, of which
    the network has the layers alone."""
    without_sizes = replace(options, sizes=Sizes())
    run = replace(resolve(network, without_sizes), stage=stage)
    if options.mode == "decode":
        check_decodes(network)
    if run.method.reads_tokens:
        check_generates(network)
    return Deployment(network, without_sizes, run, stage)
