"""The head as a library has it: never tied to the embedding, or with logits that every GPU gathers.

Sources: litgpt, scripts/convert_hf_checkpoint.py, which copies a tied table into lm_head.weight; only pretraining can
tie both (TrainArgs.tie_embeddings). transformers, `_tp_plan` of its causal language models: lm_head is
colwise_gather_output, where others leave the vocabulary divided.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Axes, Dim, Module, ModuleGroup, Op, Param, Region, Tensor, walk
from archcalc.core.roles import Role
from archcalc.core.tree import ops_in


def head_and_loss(root: Module) -> tuple[Module, Module] | None:
    """The one head over a vocabulary, and the section of its loss."""
    heads = [module for module in root.children if module.group == ModuleGroup.HEAD]
    losses = [module for module, _ in walk(root) if module.region == Region.LOSS]
    if len(heads) != 1 or len(losses) != 1 or not any(op.traits.reads_logits for op in losses[0].ops):
        return None
    return heads[0], losses[0]


def untie_head(root: Module) -> None:
    """A matrix of its own in the place of a table that another module owns."""
    for head in root.children:
        for place, item in enumerate(head.body if head.group == ModuleGroup.HEAD else ()):
            if isinstance(item, Op):
                inputs: list[Tensor] = list(item.inputs)
                for number, one in enumerate(inputs):
                    if isinstance(one, Param) and one.owner is not head:
                        inputs[number] = head.param(one.name, *one.axes, role=Role.HEAD)
                head.body[place] = replace(item, inputs=tuple(inputs))


def gather_logits(root: Module) -> None:
    """Behind the product of the head, for all that is made of it."""
    found = head_and_loss(root)
    if not found:
        return
    head, loss = found
    product = next(op for op in ops_in(head) if op.traits.contraction)
    gathered = {product.output: _whole(product.output)}
    for module in (head, *head.children, loss):
        module.body[:] = [new for item in module.body for new in _written(item, product, gathered)]


def _written(item: Op | Module, product: Op, gathered: dict[Tensor, Tensor]) -> list[Op | Module]:
    if item is product:
        return [item, Op("copy", (product.output,), gathered[product.output])]
    if isinstance(item, Module) or not any(one in gathered for one in item.inputs):
        return [item]
    output = gathered[item.output] = _whole(item.output)
    inputs = tuple(gathered.get(one, one) for one in item.inputs)
    beside, over = {name: _whole(one) for name, one in item.beside.items()}, tuple(map(_undivided, item.over))
    return [replace(item, inputs=inputs, output=output, beside=beside, over=over)]


def _whole(tensor: Tensor) -> Tensor:
    axes: Axes = tuple(tuple(map(_undivided, axis)) for axis in tensor.axes)
    return Tensor(axes, tensor.role)


def _undivided(dim: Dim) -> Dim:
    return replace(dim, split=None)
