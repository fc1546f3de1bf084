"""The peak of a deployment at some sizes: the one way to ask for memory.

    found = peak(deployment, Sizes(batch=8, seq=4096))
    found.bytes, found.parts                    tensors and overhead, at the moment with the most of them
    found.required                              what a device must have for it
    found.step, found.host                      the simulated step, and host RAM

Peaks are remembered by value: equal deployments and sizes are simulated once. Whatever takes long is worked out when it
is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

from archcalc.analyze.memory.adapter_slots import adapter_slots
from archcalc.analyze.memory.decode_cache import Cached, appended, positions_read
from archcalc.analyze.memory.deployment import Deployment
from archcalc.analyze.memory.draft import OWN_BLOCKS, draft_model, draft_sizes, drafting, own_blocks
from archcalc.analyze.memory.encoders import with_encoders
from archcalc.analyze.memory.engine_pool import UNTRIED, beside_cache, required_by_engine
from archcalc.analyze.memory.host import Host
from archcalc.analyze.memory.inference import cache_after, prompt_of
from archcalc.analyze.memory.inference import simulated as simulated_inference
from archcalc.analyze.memory.reference_model import reference_model
from archcalc.analyze.memory.residents import Resident, joined, passing
from archcalc.analyze.memory.rollout import WITH_ENGINE, rollout, rollout_engine, rollout_sizes
from archcalc.analyze.memory.simulated import Simulated
from archcalc.analyze.memory.training import simulated as simulated_training
from archcalc.analyze.memory.training import step_schedule, unrolled
from archcalc.analyze.option_checks import check_cache
from archcalc.core.ir import Module
from archcalc.core.mesh import Plan
from archcalc.run.tree_changes import traced
from archcalc.simulate.levels import Levels
from archcalc.simulate.reserved import DeviceMemory, reserved
from archcalc.spec.sizes import Sizes
from archcalc.spec.traces import sizes_of
from archcalc.spec.workload import Workload

PEAKS = 128  # that are remembered, the latest ones
STEPS = 8  # simulated steps that are: an op or a tensor each
MOST_OPS = 40_000  # of an unrolled forward pass: more take several seconds, so that only their tensors count
OF_THE_RUN = ("gradients", "state", "buffers", "activations", "temporary", "reference", "rollout", "rollout_cache")


class Played(NamedTuple):
    """A simulated step, what stands beside the model, and memory over the step."""

    step: Simulated
    residents: tuple[Resident, ...]
    levels: Levels


@dataclass(frozen=True)
class Peak:
    """Of one GPU, the one with the most. `deployment` is that of the stage, where the model is a pipeline."""

    deployment: Deployment
    sizes: Sizes
    work: Workload = field(compare=False)  # follows from the sizes

    @cached_property
    def parts(self) -> dict[str, int]:
        """What is there by then, in bytes."""
        return played(self.deployment, self.sizes).levels.peak.parts

    @property
    def root(self) -> Module:
        """The model as the run computes it. Of inference, which may read a prompt in pieces, no size is taken from it
        before somebody looks: tracing it takes as long as the step."""
        return traced(self.deployment.network, self.deployment.run, self.work)

    @property
    def bytes(self) -> int:
        return sum(self.parts.values())

    @property
    def step(self) -> Simulated:
        return played(self.deployment, self.sizes).step

    @cached_property
    def has_device(self) -> bool:
        """Whether a training step with PyTorch's allocator decides what is required: unless it has too many ops to be
        simulated, or an engine that sleeps while training needs more (vLLM's CuMemAllocator gives it back)."""
        run = self.deployment.run
        if not run.trains:
            return False
        step = played(self.deployment, self.sizes).step
        if sum(each.times for each in step.schedule.steps()) > MOST_OPS:
            return False
        return run.method.rollout != "sleep" or self.bytes <= self.device.reserved + step.start["overhead"]

    @cached_property
    def device(self) -> DeviceMemory:
        """What PyTorch's allocator makes of a training step."""
        deployment, root, step = self.deployment, self.root, self.step
        run, parameters = deployment.run, deployment.parameters
        changes = unrolled(partial(step_schedule, root, run, deployment.keeping), step.own)
        beside = [one for one in residents(deployment, self.work, is_unrolled=True) if not one.own_pool]
        if beside:
            changes = passing(changes, beside)
        first = [parameters.buffers, *(step.start[part] for part in OF_THE_RUN)]  # besides weights and states
        start = [*parameters.blocks("weights"), *parameters.blocks("master"), *(size for size in first if size)]
        # most optimizers keep two states
        halves = [half for size in parameters.blocks("optimizer") for half in (size - size // 2, size // 2)]
        return reserved(start, halves, changes, expandable=run.allocator == "expandable")

    @cached_property
    def required(self) -> int:
        """What a device must have: in training with what the allocator takes beyond the tensors, of an engine that
        fills its device the share of it."""
        engine = self.deployment.run.engine
        if engine.fills_device:
            cache = cache_bytes(self.deployment, self.sizes)
            filled = required_by_engine(engine, bytes_beside_cache(self.deployment, self.sizes), cache)
            # a step that was not tried has to fit into what the share leaves
            return max(filled, self.bytes) if engine.rules.pool in UNTRIED else filled
        return self.bytes + (self.device.reserved - self.device.tensors if self.has_device else 0)

    @cached_property
    def host(self) -> Host | None:
        """Host RAM of what is offloaded, of all GPUs together."""
        deployment, offload = self.deployment, self.deployment.run.offload
        if not offload:
            return None
        cache: list[Cached] = []
        if offload.gpu_layers is not None:  # of all layers, undivided
            cache = cache_after(deployment.tree, self.work, replace(deployment.run, plan=Plan()))
        prompt, positions = prompt_of(self.work, deployment.run), positions_read(self.work) if self.work.lengths else 0
        root = traced(deployment.network, deployment.run, prompt)
        return deployment.offloading.host(root, prompt, self.step, cache, positions)


@lru_cache(maxsize=PEAKS)
def peak(deployment: Deployment, sizes: Sizes) -> Peak:
    """Of a pipeline, the peak of the stage that has the most."""
    if deployment.stages:
        return max((peak(stage, sizes) for stage in deployment.stages), key=lambda each: each.bytes)
    return Peak(deployment, sizes, deployment.workload(sizes))


@lru_cache(maxsize=STEPS)
def played(deployment: Deployment, sizes: Sizes) -> Played:
    """The simulated step, with all that stands beside the model."""
    network, run, offloading = deployment.network, deployment.run, deployment.offloading
    work = deployment.workload(sizes)
    if run.trains:
        root = traced(network, run, work)
        step = simulated_training(root, work, run, deployment.keeping, deployment.start)
    else:
        prompt = prompt_of(work, run)
        root, cache = traced(with_encoders(network, run, prompt), run, prompt), cached(deployment, work)
        staged = offloading.staged(root, prompt) if run.offload else lambda param: 0
        step = simulated_inference(root, work, run, cache, deployment.start, staged)
        step = offloading.computed(prompt, step) if run.offload else step
    beside = residents(deployment, work)
    step = joined(step, beside) if beside else step
    return Played(step, tuple(beside), Levels(dict(step.start)).play(step.changes))


def cached(deployment: Deployment, work: Workload) -> list[Cached]:
    """The KV cache and recurrent states of a decoder after that many tokens, of the layers that are on the GPU."""
    run = deployment.run
    if run.trains or not any(True for _ in appended(deployment.tree)):
        return []
    found = cache_after(deployment.tree, work, run)
    check_cache([one.tensor for one in found], deployment.options)
    if run.offload.gpu_layers is None:
        return found
    residence = deployment.offloading.residence
    return [replace(one, bytes=one.bytes - residence.cache_in_host(one)) for one in found]


def cache_bytes(deployment: Deployment, sizes: Sizes) -> int:
    """Keys, values and recurrent states of all sequences on the GPU, and those of a draft model."""
    work = deployment.workload(sizes)
    beside = residents(deployment, work) if deployment.options.draft else []
    return sum(one.bytes for one in cached(deployment, work)) + sum(one.held.get("draft_cache", 0) for one in beside)


def state_bytes(deployment: Deployment, sizes: Sizes) -> int:
    """Recurrent states of all sequences on the GPU."""
    return sum(one.bytes for one in cached(deployment, deployment.workload(sizes)) if not one.grows)


def bytes_beside_cache(deployment: Deployment, sizes: Sizes) -> int:
    """All that a serving engine has within its share and that is no cache; the same for any number of sequences, and
    for all lengths of which a step reads prompts of one size."""
    one, known = replace(sizes, batch=1), deployment.beside_cache
    key = sizes_of(prompt_of(deployment.workload(one), deployment.run))
    if key not in known:
        run = deployment.run
        known[key] = beside_cache(run.engine, peak(deployment, one).parts, deployment.layers)
    return known[key]


def check(deployment: Deployment, sizes: Sizes) -> None:
    """Refuse what the model and the options do not allow, as a simulation of these sizes would."""
    work = deployment.workload(sizes)
    run = deployment.run
    traced(deployment.network, run, work if run.trains else prompt_of(work, run))
    _ = cached(deployment, work), residents(deployment, work)


def residents(deployment: Deployment, work: Workload, *, is_unrolled: bool = False) -> list[Resident]:
    """What stands beside the model, in the order of the report. `is_unrolled`: what it allocates in passing, without
    loops."""
    network, asked, run = deployment.network, deployment.options, deployment.run
    found: list[Resident] = []
    if asked.lora and not run.trains:
        found.append(adapter_slots(deployment.tree, network.model_type, asked, run))
    if asked.draft == OWN_BLOCKS:
        found.append(own_blocks(deployment.tree, work, run))
    elif asked.draft:
        other = drafting(deployment)
        found.append(draft_model(deployment, other, played(other, draft_sizes(work)).step))
    if run.method.reference == "same":
        alone = network.build(replace(work, batch=work.batch * run.method.sequences, mode="prefill"))
        policy = traced(network, run, work)
        found.append(reference_model(alone, policy, run, deployment.keeping, is_unrolled=is_unrolled))
    if run.method.rollout in WITH_ENGINE:
        engine = rollout_engine(deployment)
        found.append(rollout(run, asked, work, played(engine, rollout_sizes(run, work)).step.start))
    return found
