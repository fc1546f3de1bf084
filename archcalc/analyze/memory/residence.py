"""Which weights and caches of a model that answers are kept in host RAM.

A layer is where llama.cpp keeps it: the input tables and the first layers in host RAM, the last layers and then the
output layer on the GPU. Its KV cache is where the layer is. Experts are kept apart from the rest of their layer.
Source: llama.cpp, load_tensors in src/llama-model.cpp (i_gpu_start, dev_input, dev_output), and the tensor overrides of
--cpu-moe and --n-cpu-moe in common/arg.cpp.
"""

from __future__ import annotations

from archcalc.analyze.memory.decode_cache import Cached
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Param, Region, walk
from archcalc.core.tree import enclosing
from archcalc.run.offload import Offload
from archcalc.simulate.model_ends import ModelEnds
from archcalc.storage.places import Place, layer_numbers


class Residence:
    """Where each parameter of a traced model is kept."""

    def __init__(self, root: Module, offload: Offload) -> None:
        self.root, self.offload, self.ends = root, offload, ModelEnds(root)
        self.copies = {param: int(number) for module, number in walk(root) for param in module.params.values()}
        self.blocks = [module for module, _ in walk(root) if module.region == Region.BLOCK and not module.medium]
        # how many layers the stack has; the output layer comes on top
        self.layers = max((layer_numbers(block).end for block in self.blocks), default=0)
        there = offload.gpu_layers
        self.first_on_gpu = 0 if there is None else max(0, self.layers + 1 - there)
        self.is_all_in_host = there == 0

    def check(self) -> None:
        """Refuse options about layers, experts or tables that the model does not have."""
        if self.offload.activations and not self.blocks:
            fact = "this model has no blocks whose activations could be offloaded one after the other"
            raise InputError(fact, "leave activations out", field="--offload")
        stacks = {block.path.partition(".")[0] for block in self.blocks if 0 in layer_numbers(block)}
        if self.offload.gpu_layers is not None and len(stacks) != 1:
            found = f"{len(stacks)} stacks: {', '.join(sorted(stacks))}" if stacks else "no stack of layers"
            raise InputError(
                f"counts the layers of one stack, and this model has {found}", "leave --ngl out", field="--ngl"
            )
        if self.offload.experts and not any(map(is_of_experts, self.copies)):
            raise InputError("this model has no experts", "leave out what offloads them", field="--offload")
        if self.offload.embedding and not any(
            param.weight_role.is_table and not param.owner.medium for param in self.copies
        ):
            raise InputError("this model has no input tables", "leave embedding out", field="--offload")

    def in_host(self, param: Param) -> Place | None:
        """The parameter with those of its copies that are in host RAM."""
        place, dealt_out = Place(param, self.copies[param]), self.offload.gpu_layers is not None
        if param.owner.medium:  # towers stay on the GPU: mmproj_use_gpu in llama.cpp's common/common.h
            return None
        if not place.layers:  # in no layer: tables, what else stands in front of the layers, and the output layer
            is_table = param.weight_role.is_table and self.offload.embedding
            is_end = dealt_out and (self.is_all_in_host or param in self.ends.ahead)
            return place if is_table or is_end else None
        first = max(self.first_on_gpu, self.offload.experts if is_of_experts(param) else 0)
        found = place.between(0, first)
        return found if found.copies else None

    def stays(self, param: Param) -> bool:
        """Whether the GPU has a copy too: of a table that the output layer multiplies with."""
        return not self.is_all_in_host and param in self.ends.behind

    def cache_in_host(self, entry: Cached) -> int:
        """The bytes of a cache that belong to layers in host RAM."""
        block = enclosing(entry.module, Region.BLOCK)
        if not block:
            return 0
        numbers = layer_numbers(block)
        return entry.bytes * numbers.between(0, self.first_on_gpu).number // numbers.number


def is_of_experts(param: Param) -> bool:
    """The matrices of routed experts and their biases; not the router, nor an expert that every token visits."""
    return param.weight_role.is_expert or enclosing(param.owner, Region.EXPERTS) is not None
