"""A head with a matrix of its own, where a library never shares the embedding's.

Source: litgpt, scripts/convert_hf_checkpoint.py, which copies a tied table into lm_head.weight; only pretraining can
tie both (TrainArgs.tie_embeddings).
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Module, ModuleGroup, Op, Param
from archcalc.core.roles import Role


def untie_head(root: Module) -> None:
    for head in root.children:
        if head.group == ModuleGroup.HEAD:
            head.body[:] = [_untied(item, head) if isinstance(item, Op) else item for item in head.body]


def _untied(op: Op, head: Module) -> Op:
    inputs = tuple(_own(one, head) if _is_shared(one, head) else one for one in op.inputs)
    return replace(op, inputs=inputs)


def _is_shared(tensor: object, head: Module) -> bool:
    return isinstance(tensor, Param) and tensor.owner is not head


def _own(table: object, head: Module) -> Param:
    assert isinstance(table, Param)
    return head.param(table.name, *table.axes, role=Role.HEAD)
