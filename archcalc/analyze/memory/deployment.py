"""A model as it is run: its network, every option filled in, and what follows from them at any size.

    deploy(model, Options.of("memory", {"mode": "train"})).parameters.weights

Equal deployments answer alike, so that peaks are remembered by them (`archcalc.analyze.memory.peak`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from archcalc.analyze.memory.offloading import Offloading
from archcalc.analyze.memory.overhead import overhead
from archcalc.analyze.memory.parts import PARTS
from archcalc.analyze.memory.states import Keeping, ParameterMemory, keeping_of, parameter_memory
from archcalc.analyze.option_checks import check_decodes, check_generates, check_plan, check_sense
from archcalc.core.ir import Module, Region, walk
from archcalc.network import Network
from archcalc.run.options import Options
from archcalc.run.pipeline import Stage, stages
from archcalc.run.resolve import resolve
from archcalc.run.resolved import Run
from archcalc.run.tree_changes import traced
from archcalc.spec.sizes import Sizes
from archcalc.spec.workload import Workload, workload

DEPLOYMENTS = 64  # that are remembered, the latest ones
# what is computed in each mode
MODES = {"train": "train", "forward": "forward", "infer": "prefill", "prefill": "prefill", "decode": "decode"}


@dataclass(frozen=True)
class Deployment:
    """Made by `deploy`. What follows from the first four does not depend on sizes."""

    network: Network
    options: Options  # without sizes
    run: Run = field(hash=False)  # follows from the rest, and holds what does not hash
    stage: Stage | None = field(hash=False)  # of a pipeline
    tree: Module = field(compare=False, repr=False)  # traced at the model's default sizes
    keeping: Keeping = field(compare=False, repr=False)  # how parameters are stored
    offloading: Offloading = field(compare=False, repr=False)
    parameters: ParameterMemory = field(compare=False, repr=False)  # on the GPU: weights, gradients, optimizer states
    start: dict[str, int] = field(compare=False, repr=False)  # bytes by part before a step begins
    layers: int = field(compare=False, repr=False)  # blocks that a forward pass runs through
    # bytes that a serving engine needs beside its cache, by what a step reads; known as far as asked for
    beside_cache: dict[Hashable, int] = field(default_factory=dict, compare=False, repr=False)

    def workload(self, sizes: Sizes) -> Workload:
        """What is computed at these sizes; those that are left out come from the spec."""
        network, run = self.network, self.run
        lengths, mode = network.resolved.lengths, MODES[run.mode]
        return workload(network.spec, lengths, sizes, mode=mode, attention=run.traced_attention)

    @property
    def least_bytes(self) -> int:
        """What is there all the time, whatever a step computes: weights and optimizer states."""
        return self.parameters.weights + self.parameters.states["master"] + self.parameters.states["optimizer"]

    @cached_property
    def stages(self) -> tuple[Deployment, ...]:
        """A pipeline's, each with its own layers; nothing for a model that is in one piece."""
        if self.run.plan.pp == 1 or self.stage:
            return ()
        parts = stages(self.network.spec.family, self.network.resolved, self.run.plan.pp)
        return tuple(deploy(replace(self.network, resolved=each.resolved), self.options, each) for each in parts)


def deploy(network: Network, options: Options, stage: Stage | None = None) -> Deployment:
    """The network as the options run it, refused where it does not allow that. `stage` is one of a pipeline, of which
    the network has the layers alone."""
    without_sizes = replace(options, sizes=Sizes())
    run = replace(resolve(network, without_sizes), stage=stage)
    network = network.without(run.unloaded)
    if options.mode == "decode":
        check_decodes(network)
    if run.method.reads_tokens:
        check_generates(network)
    mode = "prefill" if run.mode == "decode" else MODES[run.mode]
    usual = workload(network.spec, network.resolved.lengths, Sizes(), mode=mode, attention=run.traced_attention)
    tree = traced(network, run, usual)
    if not stage:
        check_plan(tree, run.plan, replicated=run.code.habits.gathered == "again")
        check_sense(tree, without_sizes)
    keeping = keeping_of(network, tree, run)
    every = parameter_memory(tree, keeping, run.activations)
    offloading = Offloading(run, keeping, every, tree)
    parameters = offloading.apart.on_gpu if run.offload else every
    start = dict.fromkeys(PARTS, 0) | parameters.states | {"weights": parameters.weights}
    start["overhead"] = overhead(run)
    layers = sum(int(copies) for module, copies in walk(tree) if module.region == Region.BLOCK)
    if not run.trains:
        start["overhead"] += run.engine.graphs(layers)
    return Deployment(network, without_sizes, run, stage, tree, keeping, offloading, parameters, start, layers)


deployed = lru_cache(maxsize=DEPLOYMENTS)(deploy)  # the same, remembered by value
