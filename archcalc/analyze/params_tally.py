"""The figures of a parameter count, in one walk over the model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import prod

from archcalc.core.execution import Trainable, by_spec
from archcalc.core.ir import Module, ModuleGroup, walk
from archcalc.core.roles import Role


@dataclass
class Tally:
    """Elements in all copies of all layers."""

    trainable: int = 0
    non_embedding: int = 0  # in no look-up table and no untied output layer
    active: int = 0  # per token: selected experts and everything else; embedding tables count in full, as usual
    active_non_embedding: int = 0
    buffers: int = 0
    scales: int = 0  # with zeros and indices, beside packed weights of a file
    bytes_in_file: int = 0
    groups: Counter[ModuleGroup | None] = field(default_factory=Counter)


def tally(root: Module, trains: Trainable = by_spec) -> Tally:
    found = Tally()
    for module, times in walk(root):
        copies, params, buffers = int(times), module.params.values(), module.buffers.values()
        is_output = any(param.weight_role is Role.HEAD for param in params)  # over the vocabulary, with its bias
        for param in params:
            size = copies * int(param.elements)
            met = size if param.active is None else copies * int(param.active)
            inside = not (param.weight_role.is_table or is_output)
            found.trainable += size * trains(param)
            found.non_embedding += size * inside
            found.active += met
            found.active_non_embedding += met * inside
            found.groups[module.group] += size
        found.scales += copies * sum(prod(one.shape) for one in buffers if one.role == "scale")
        found.buffers += copies * sum(prod(one.shape) for one in buffers if one.role != "scale")
        found.bytes_in_file += copies * sum(one.stored or 0 for one in (*params, *buffers))
    return found
