"""LoRA adapters that an inference engine holds beside the weights: vLLM's slots, all of one rank.

Source: vLLM, create_lora_weights in vllm/lora/layers. A slot has two matrices for every linear layer: of a layer whose
output is divided over GPUs the first is whole on each, of one whose input is divided the second.
"""

from __future__ import annotations

from collections.abc import Iterator

from archcalc.analyze.memory.residents import Resident
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.ir import Dim, Module, ModuleGroup, Op, Param, Tensor, axes, walk
from archcalc.core.mesh import Plan
from archcalc.core.precision import BYTES
from archcalc.core.roles import Role
from archcalc.run.lora import EVERY_LINEAR, matches
from archcalc.run.options import Options
from archcalc.run.resolved import Run
from archcalc.spec.data_files import shipped

ENDS = {"token_table": "the token table", "head": "the head"}


def adapter_slots(root: Module, model_type: str, asked: Options, run: Run) -> Resident:
    """All slots of the question; `model_type` is the model's family in transformers."""
    assert asked.lora
    number, width = asked.adapters or 1, BYTES[run.activations]
    ends = [] if asked.lora_targets else [key for key in ENDS if model_type in shipped("adapters", "vllm")[key]]
    elements = sum(_elements(root, asked.lora, asked.lora_targets, run.plan))
    tables = (param for module, _ in walk(root) for param in module.params.values())
    table = next((param for param in tables if param.weight_role is Role.TOKEN_TABLE), None)
    if table:  # two pairs of the vocabulary and the width of the model for each end, whole on every GPU
        elements += len(ends) * asked.lora * sum(int(dim.size) for dim in table.dims)
    slots = f"{number:,} slots" if number > 1 else "a slot"
    *first, last = [*(asked.lora_targets or ("every linear layer",)), *(ENDS[key] for key in ends)]
    layers = f"{', '.join(first)} and {last}" if first else last
    kept = f"{slots} of rank {asked.lora:,} in {run.activations}"
    option = "" if asked.lora_targets else "--lora-targets"
    note = Assumption(Topic.BESIDE, f"LoRA adapters: {kept} for {layers}, as vLLM allocates them", number, option)
    return Resident("adapters", "LoRA adapters", {"adapters": number * width * elements}, assumptions=(note,))


def _elements(root: Module, rank: int, targets: tuple[str, ...] | None, plan: Plan) -> Iterator[int]:
    """Of one slot on one GPU, layer by layer: A, rank × input, and B, output × rank; of every expert, where the matrix
    is one of many."""
    found, wanted, low = list(_linear(root)), targets or tuple(EVERY_LINEAR), Dim.of("lora_rank", rank)
    paths = [param.owner.path for _, param, _ in found]
    for target in wanted:
        if target not in EVERY_LINEAR and not any(matches(path, target) for path in paths):
            hint = f"{did_you_mean(target, {name for path in paths for name in path.split('.')})} (or all)"
            raise InputError(f"no linear layer is called {target}", hint, field="--lora-targets")
    for op, param, copies in found:
        path = param.owner.path
        # heads and towers have to be named: enable_tower_connector_lora in vllm/config/lora.py is off
        is_usual = param.owner.group != ModuleGroup.HEAD and not param.owner.medium
        if any(matches(path, one) or (one in EVERY_LINEAR and is_usual) for one in wanted):
            many = tuple(dim for dim in param.dims if dim in op.select)
            into = tuple(dim for dim in param.dims if dim in op.over and dim not in many)
            out = tuple(dim for dim in param.dims if dim not in (*into, *many))
            pair = axes(*many, low, *into), axes(*many, *out, low)
            yield copies * sum(plan.size(Tensor(one)) for one in pair)


def _linear(root: Module) -> Iterator[tuple[Op, Param, int]]:
    """Products with a layer's own matrix, or with those of experts; each matrix once."""
    seen = set[Param]()
    for module, copies in walk(root):
        for op in (op for op in module.ops if op.traits.contraction):
            own = (one for one in op.inputs if isinstance(one, Param) and one.owner is module and len(one.dims) > 1)
            for param in own:
                if param not in seen:
                    seen.add(param)
                    yield op, param, int(copies)
