"""What crosses the bus between a GPU and host RAM in one step, on account of what is offloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from archcalc.analyze.memory.host import Crossing
from archcalc.analyze.memory.residence import Residence, is_of_experts
from archcalc.core.budget import Budget
from archcalc.core.ir import Param, Region, Tensor, walk
from archcalc.core.precision import Policy
from archcalc.core.tree import given_out, ops_in, read_from_outside
from archcalc.spec.data_files import shipped

if TYPE_CHECKING:
    from archcalc.analyze.memory.states import Keeping
    from archcalc.run.resolved import Run
    from archcalc.spec.workload import Workload

MOST_LAYERS = 1_000


def copied_from() -> int:
    """Tokens from which on weights in host RAM are copied to the GPU."""
    found: int = shipped("offload", "llama.cpp")["copied_from"]
    return found


def copies_weights(work: Workload) -> bool:
    """Whether so many tokens are computed at once that weights in host RAM are copied to the GPU for it."""
    longest = 1 if work.decodes else max(work.lengths.values(), default=1)
    return work.batch * longest >= copied_from()


def staged(param: Param, residence: Residence, keeping: Keeping) -> int:
    """Bytes on the GPU of a weight in host RAM while it is multiplied with: one layer's, the largest."""
    place = residence.in_host(param)
    if not place or param.weight_role.is_table:
        return 0
    Budget("layers in host RAM, each copied by itself", MOST_LAYERS, "offload fewer layers").spend(place.layers.number)
    each = [place.between(layer, layer + 1) for layer in place.layers] or [place]
    return max(keeping.weights(one, keeping.plan.size(param)) for one in each)


def answering(residence: Residence, work: Workload, run: Run, keeping: Keeping) -> Crossing:
    """Weights for many tokens; else hidden states, to where the weights are and back: what experts in host RAM are
    given by layers on the GPU, and what they give back."""
    to_gpu, to_host = 0 if residence.is_all_in_host else looked_up_bytes(residence, run), 0
    if copies_weights(work):
        places = [residence.in_host(param) for param in residence.copies if not param.weight_role.is_table]
        weights = sum(keeping.weights(place, keeping.plan.size(place.param)) for place in places if place)
        return Crossing(to_gpu + weights)
    for module in (module for module, _ in walk(residence.root) if module.region == Region.EXPERTS):
        below = {param for inside, _ in walk(module) for param in inside.params.values()}
        experts = [param for param in residence.copies if is_of_experts(param) and param in below]
        place = residence.in_host(experts[0]) if experts else None
        # copies of the mixture with their experts in host RAM and the rest of their layer on the GPU
        there = place.layers.between(residence.first_on_gpu, place.layers.end).number if place else 0
        out, given = given_out(module), read_from_outside(module)
        to_gpu += there * (_bytes(out, run) if out else 0)
        to_host += there * sum(_bytes(one, run) for one in given if not isinstance(one.storage, Param))
    return Crossing(to_gpu, to_host)


def looked_up_bytes(residence: Residence, run: Run) -> int:
    """Rows of tables in host RAM that go to the GPU, or the hidden states behind the last layer there, which are as
    large."""
    found = 0
    for op in ops_in(residence.root):
        tables = [one for one in op.inputs if isinstance(one, Param) and one.weight_role.is_table]
        if op.traits.reads_rows and any(map(residence.in_host, tables)):
            found += _bytes(op.output, run)
    return found


def _bytes(tensor: Tensor, run: Run) -> int:
    return run.plan.size(tensor) * Policy(run.activations).bytes_of(tensor.role)
