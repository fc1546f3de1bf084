"""A mixture of experts as Megatron-LM computes it, tokens travelling to their experts and back.

    route → permute → all-to-all → shared expert → sort → experts, weighed inside → sort → all-to-all → unpermute

With one expert on a GPU nothing is sorted, and with all of them nothing travels. GPUs that share an expert's matrices
gather their rows before they are sorted, and add up and divide them behind. Python's variables hold what was permuted,
what was received and what is sent back until all is added up.
Source: megatron/core/transformer/moe/moe_layer.py, MoELayer.forward; token_dispatcher.py, MoEAlltoAllTokenDispatcher;
experts.py, TEGroupedMLP; router.py and moe_utils.py; Transformer Engine, pytorch/permutation.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, Op, Region, Tensor, walk
from archcalc.core.mesh import Plan
from archcalc.core.roles import SHARED, Role
from archcalc.core.tensors import whole
from archcalc.run.code.writing import WIDE, end_of_scope

OF_ALL = ("all_gather", "reorder")  # what makes rows of all GPUs that share an expert's matrices
MASKS = 3  # bytes for each token and expert: of the choice, of its copy for the loss, and of what is dropped


def exchange(root: Module, plan: Plan) -> None:
    mixtures = [module for module, _ in walk(root) if module.region == Region.MIXTURE]
    if mixtures and plan.tp > 1 and not plan.sp:
        fact = "Megatron-LM divides a mixture of experts over --tp only together with --sp"
        raise InputError(fact, "add --sp", field="--tp")
    for module in mixtures:
        _widen_router(module)
        _Exchange(module, next(child for child in module.children if child.region == Region.EXPERTS), plan).write()


@dataclass(frozen=True)
class _Exchange:
    """The mixture, what of it only the chosen experts compute, and over how many GPUs they are dealt out."""

    module: Module
    experts: Module
    plan: Plan

    def write(self) -> None:
        _, gather, *inside, _, gather_back, weighing, adding = self.experts.body
        assert isinstance(gather, Op) and isinstance(gather_back, Op)
        assert isinstance(weighing, Op) and isinstance(adding, Op)
        x, routed, answers = gather.inputs[0], gather.output, gather_back.inputs[0]
        rows = Tensor((*x.axes[:-1], (Dim.of("row_map", 2 * self._number + 1),)), "int32")
        read, given = (whole(tensor) if self.plan.sp else tensor for tensor in (routed, answers))
        there = _chain(("gather", *self._travels, *self._gathers, *self._sorts), (x, rows), (routed, read), read)
        sending = (*self._sorts, *self._scatters)
        back = _chain((*sending, *self._travels, "gather"), (given,), (answers, given), adding.output)
        back[-1] = replace(back[-1], inputs=(*back[-1].inputs, rows))
        self.experts.body[:] = _weighed([_exchanged(item, {routed: read, answers: given}) for item in inside], weighing)
        sent = back[len(sending) - 1].output if sending else given
        self._around([Op("order", (), rows), *there], back, sent)

    def _around(self, there: list[Op], back: list[Op], sent: Tensor) -> None:
        """The expert that every token visits is computed before what was received is gathered and sorted."""
        shared = [item for item in self.module.body if isinstance(item, Module) and _is_shared(item)]
        rest = [item for item in self.module.body if item not in shared]
        place, local = rest.index(self.experts), len(("order", "gather", *self._travels))
        held = (*(op.output for op in there[1:local]), sent)
        exchanged: list[Op | Module] = [*there[:local], *shared, *there[local:], self.experts, *back]
        self.module.body[:] = [*rest[:place], *exchanged, *rest[place + 1 :], *end_of_scope(*held)]

    @property
    def _gathers(self) -> tuple[str, ...]:
        """Rows of all GPUs that share an expert's matrices."""
        return ("all_gather",) if self.plan.sp else ()

    @property
    def _scatters(self) -> tuple[str, ...]:
        return ("reduce_scatter",) if self.plan.sp else ()

    @property
    def _travels(self) -> tuple[str, ...]:
        return ("all_to_all",) if self.plan.ep > 1 else ()

    @property
    def _sorts(self) -> tuple[str, ...]:
        """By the experts of a GPU, if it has several."""
        return ("reorder",) if self._number > self.plan.ep else ()

    @property
    def _number(self) -> int:
        params = (param for child in self.experts.children for param in child.params.values())
        return next(int(dim.size) for param in params for dim in param.dims if dim.dealt)


def _chain(kinds: tuple[str, ...], inputs: tuple[Tensor, ...], like: tuple[Tensor, Tensor], last: Tensor) -> list[Op]:
    """Ops that each read what the one before made, rows `like` those of one GPU or of all; the last makes `last`."""
    ops: list[Op] = []
    for number, kind in enumerate(kinds, start=1):
        shape = like[kind in OF_ALL]
        ops.append(Op(kind, inputs, last if number == len(kinds) else Tensor(shape.axes, shape.role)))
        inputs = (ops[-1].output,)
    return ops


def _exchanged(item: Op | Module, tensors: dict[Tensor, Tensor]) -> Op | Module:
    """The same with other tensors in the place of some."""
    if isinstance(item, Module):
        item.body[:] = [_exchanged(inner, tensors) for inner in item.body]
        return item
    inputs = tuple(tensors.get(tensor, tensor) for tensor in item.inputs)
    return replace(item, inputs=inputs, output=tensors.get(item.output, item.output))


def _is_shared(module: Module) -> bool:
    return any(param.weight_role in SHARED for child in module.children for param in child.params.values())


def _weighed(inside: Sequence[Op | Module], weighing: Op) -> list[Op | Module]:
    """The router's weights in front of the last layer."""
    *rest, last = inside
    assert isinstance(last, Module)
    product, *bias = last.body
    assert isinstance(product, Op)
    hidden, *weights = product.inputs
    weighed = Tensor(hidden.axes, hidden.role)
    last.body[:] = [replace(product, inputs=(weighed, *weights)), *bias]
    return [*rest, replace(weighing, inputs=(hidden, weighing.inputs[1]), output=weighed), last]


def _widen_router(mixture: Module) -> None:
    """Probabilities in fp32, once more for the loss that balances experts, and masks of what was chosen."""
    for module in mixture.children:
        if any(param.weight_role is Role.ROUTER for param in module.params.values()):
            *_, softmax, choose = module.ops
            shares, again = (Tensor(softmax.output.axes, WIDE) for _ in range(2))
            masks = Tensor((*shares.axes, (Dim.of("masks", MASKS),)), "mask")
            choosing = replace(choose, inputs=(shares,), beside=choose.beside | {"masks": masks})
            new = {softmax: [replace(softmax, output=shares), Op("softmax", softmax.inputs, again)], choose: [choosing]}
            module.body[:] = [each for op in module.ops for each in new.get(op, [op])]
