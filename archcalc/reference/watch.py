"""Every op as it runs: its FLOPs by FlopCounterMode's formulas, and the storages that it makes.

On the meta device an op is a question about shapes, which PyTorch answers slowly, in Python. Equal blocks ask the same
ones again and again: an answer is remembered by the op and by the shapes, strides and types that went in. Every op
still runs, block by block. `tests/reference/test_watch.py` holds this beside FlopCounterMode itself.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import flop_registry

from archcalc.reference.lifetimes import Lifetimes, tensors

META = torch.device("meta")
GROUPS = 9  # the place of that number among the arguments of aten::convolution_backward


@dataclass(frozen=True)
class Answer:
    """What an op makes: tensors of new storage by size, stride and type, other values as they are."""

    made: tuple[Any, ...]
    several: bool
    flops: int

    def given(self) -> Any:
        empty = torch.empty_strided
        made = tuple(one and empty(*one[0], dtype=one[1], device=META) for one in self.made)
        return made if self.several else made[0]


NOTHING_NEW = Answer((), False, 0)  # a view, or the same storage with other numbers in it: quick to ask, and free
_answers: dict[Any, Answer | None] = {}  # None: has to be asked every time


class Watch(Lifetimes):
    """Counts `flops`, notes every storage, and asks no op twice."""

    def __init__(self) -> None:
        super().__init__(in_place=False)
        self.flops = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        key = _key(func, args, kwargs)
        answer = _answers.get(key)
        if answer is NOTHING_NEW:
            return func(*args, **kwargs)
        if answer:
            out = answer.given()
            self.flops += answer.flops
            self.note(out, func)
            return out
        return self._asked(func, args, kwargs, key)

    def _asked(self, func: Any, args: Any, kwargs: Any, key: Any) -> Any:
        with self:
            out = func.decompose(*args, **kwargs)
        if out is not NotImplemented:
            return out
        out = func(*args, **kwargs)
        flops = _flops(func, args, kwargs, out)
        self.flops += flops
        if key and key not in _answers:
            before = {tensor.untyped_storage()._cdata for tensor in tensors((args, kwargs))}
            _answers[key] = _answer(func, out, before, flops)
        self.note(out, func, (args, kwargs))
        return out


def _flops(func: Any, args: Any, kwargs: Any, out: Any) -> int:
    count = flop_registry.get(func._overloadpacket)
    if not count:
        return 0
    if func._overloadpacket is torch.ops.aten.convolution_backward:
        return grouped_backward(count, args, out)
    return int(count(*args, **kwargs, out_val=out))


def grouped_backward(count: Any, given: Any, out: Any) -> int:
    """PyTorch's count for one group, times the number of groups.

    FlopCounterMode's formula counts the gradient of the weights as if every output channel met every input channel:
    `groups` times too much. Each group is a convolution of its own, so the formula is asked for one group.
    """
    groups = given[GROUPS]
    if groups == 1:
        return int(count(*given, out_val=out))
    gradient, x, weight, *others = given
    one = (_share(gradient, 1, groups), _share(x, 1, groups), _share(weight, 0, groups), *others)
    made = [_share(each, axis, groups) for each, axis in zip(out, (1, 0, 0), strict=True)]
    return int(count(*one, out_val=made)) * groups


def _share(tensor: Tensor | None, axis: int, groups: int) -> Tensor | None:
    """The shape of one group's part."""
    if tensor is None:
        return None
    sizes = list(tensor.shape)
    sizes[axis] //= groups
    return torch.empty(sizes, device="meta")


def _answer(func: Any, out: Any, before: set[int], flops: int) -> Answer | None:
    """What can be made again without asking: new tensors on the meta device, each of a storage of its own."""
    several = isinstance(out, tuple | list)
    every = _listed(out)
    fresh = [one.untyped_storage()._cdata for one in every if isinstance(one, Tensor)]
    if fresh and before >= set(fresh) and not flops:
        return NOTHING_NEW
    if func._schema.is_mutable or not all(one is None or isinstance(one, Tensor) for one in every):
        return None
    if not fresh or before & set(fresh) or len(set(fresh)) < len(fresh):
        return None
    layouts = (None if one is None else ((one.shape, one.stride()), one.dtype) for one in every)
    answer = Answer(tuple(layouts), several, flops)
    alike = zip(every, _listed(answer.given()), strict=True)
    return answer if all(one is None or _same(one, other) for one, other in alike) else None


def _listed(out: Any) -> list[Any]:
    return list(out) if isinstance(out, tuple | list) else [out]


def _same(one: Tensor, other: Tensor) -> bool:
    sizes = (tensor.untyped_storage().nbytes() for tensor in (one, other))
    return one.device == META and one.storage_offset() == 0 and len(set(sizes)) == 1


def _key(func: Any, args: Any, kwargs: Any) -> Any:
    """What an answer depends on, or nothing where it depends on more than shapes."""
    try:
        return func, _said(args), _said(tuple(kwargs.items()))
    except TypeError:
        return None


def _said(value: Any) -> Any:
    if isinstance(value, Tensor):
        if value.device != META:
            raise TypeError("its values may matter")
        return value.shape, value.stride(), value.storage_offset(), value.dtype
    if isinstance(value, tuple | list):
        return tuple(map(_said, value))
    return type(value), value  # 1, 1.0 and True are equal, and make different types
