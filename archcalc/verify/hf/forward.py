"""One forward pass of a transformers class: the outputs of every module, and the FLOPs that PyTorch counts.

It runs on the meta device. A class that asks a tensor for its values cannot; it runs on the CPU, where every weight is
one number seen as many, so that it takes no memory.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import FlopCounterMode

from archcalc.importers.meta.contained import contained
from archcalc.spec.workload import Workload
from archcalc.verify.hf.built import Built, families, needed

Shape = tuple[int, ...]

PADDED = "positions that causal convolutions pad and drop"
NOT_KEPT = "attention scores of positions that are dropped"
NOT_CHOSEN = "experts that were not selected for a token"


class Forward:
    """What was seen of every module by its name, and of the whole under "": FLOPs, and the shapes that came out.

    `unused` is what transformers computes and nothing reads: FLOPs by module and reason.
    """

    def __init__(self) -> None:
        self.flops: dict[str, int] = {}
        self.inputs: dict[str, Shape] = {}
        self.outputs: dict[str, Shape] = {}
        self.answers: list[Shape] = []  # every tensor that the model gives out
        self.unused: Counter[tuple[str, str]] = Counter()
        self.inside: list[str] = []  # the modules that are running, while they are


def forward(built: Built, work: Workload, device: str = "meta") -> Forward:
    """Passes on any error of the class."""
    counter = FlopCounterMode(display=False)
    module, given, seen = built.module, built.inputs(work, device), Forward()
    with ExitStack() as stack:
        stack.enter_context(contained())
        stack.enter_context(without_values())
        stack.enter_context(_weights_on(device, module))
        for name, inner in module.named_modules():
            for hook in _hooks(name, inner, seen):
                stack.callback(hook.remove)
        for mode in (torch.no_grad(), counter, CausalConvolutions(seen, counter)):
            stack.enter_context(mode)
        module(**given)
    start = len(type(module).__name__) + 1
    seen.flops = {name[start:]: sum(counts.values()) for name, counts in counter.get_flop_counts().items()}
    seen.flops[""] = int(counter.get_total_flops())
    _note_unused(built, seen)
    return seen


def _hooks(name: str, module: Any, seen: Forward) -> Iterator[Any]:
    """The first call of each module counts: one that is called again may be given something else, such as a table."""

    def enter(module: Any, given: Any) -> None:
        seen.inside.append(name)

    def leave(module: Any, given: Any, output: Any) -> None:
        seen.inside.pop()
        tensors = list(_tensors(output))
        if tensors and name not in seen.outputs:
            seen.outputs[name] = tensors[0]
            seen.inputs[name] = next(_tensors(given), ())
        if not name:
            seen.answers = [(*tensors[0], 2)] if hasattr(output, "start_logits") else tensors

    yield module.register_forward_pre_hook(enter)
    yield module.register_forward_hook(leave)


def _tensors(output: Any) -> Iterator[Shape]:
    """The shapes of all outputs of a module."""
    if hasattr(output, "shape"):
        yield tuple(output.shape)
        return
    several = list(output.values()) if hasattr(output, "values") else output
    if isinstance(several, list | tuple):
        for inner in several:
            yield from _tensors(inner)


class CausalConvolutions(TorchFunctionMode):
    """FLOPs of the padded positions of a causal convolution, which are computed and dropped."""

    def __init__(self, seen: Forward, counter: FlopCounterMode) -> None:
        super().__init__()
        self.seen, self.counter = seen, counter

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function not in (torch.conv1d, nn.functional.conv1d):
            return function(*args, **(kwargs or {}))
        before = self.counter.get_total_flops()
        output = function(*args, **(kwargs or {}))
        x, weight = (*args, *(kwargs or {}).values())[:2]
        padded = output.shape[-1] - x.shape[-1]
        if padded == weight.shape[-1] - 1 > 0:  # a centred one makes a single position too many
            each = (self.counter.get_total_flops() - before) // output.shape[-1]
            self.seen.unused[self.seen.inside[-1], PADDED] += each * padded
        return output


def _note_unused(built: Built, seen: Forward) -> None:
    """Other FLOPs that are computed and dropped: found by module, measured by PyTorch."""
    for name in ("score", "classifier"):
        scores = seen.outputs.get(name, ())
        if len(scores) == 3 and len(seen.answers[0]) == 2:  # a class for sequences: one position is kept
            seen.unused[name, NOT_KEPT] = seen.flops[name] // scores[1] * (scores[1] - 1)
            for inner in [inner for inner, shape in seen.outputs.items() if inner.startswith(name) and shape == scores]:
                seen.outputs[inner] = seen.answers[0]
    found = families(built.module)
    for name, module in built.module.named_modules():
        if (name, PADDED) in seen.unused and isinstance(module, nn.Conv1d):
            seen.outputs[name] = (*seen.outputs[name][:-1], seen.inputs[name][-1])
        flops = seen.flops.get(name, 0)
        if unread := sum(family.unused_flops(module, built.module.config.get_text_config(), flops) for family in found):
            seen.unused[name, NOT_CHOSEN] = unread


@contextmanager
def without_values() -> Iterator[None]:
    """transformers looks for packed and padded sequences in the values of ids, which a meta tensor has none of."""
    masks, models = needed("transformers.masking_utils"), needed("transformers.modeling_utils")
    blind = {
        "find_packed_sequence_indices": masks,
        "_ignore_causal_mask_sdpa": masks,  # whether a mask may be left out, which is no product of matrices
        "_ignore_bidirectional_mask_sdpa": masks,
        "warn_if_padding_and_no_attention_mask": models.PreTrainedModel,
    }
    with warnings.catch_warnings(), ExitStack() as stack:
        warnings.simplefilter("ignore")
        for name, owner in blind.items():
            stack.enter_context(patch.object(owner, name, lambda *_, **__: None, create=True))
        yield


@contextmanager
def _weights_on(device: str, module: Any) -> Iterator[None]:
    """For the CPU: zeros in the place of weights, each one number, seen as large as the weight is."""
    if device == "meta":
        yield
        return
    held = [tensors for inner in module.modules() for tensors in (inner._parameters, inner._buffers)]
    kept = [(tensors, name, tensor) for tensors in held for name, tensor in tensors.items() if tensor is not None]
    for tensors, name, tensor in kept:
        zeros = torch.zeros((), dtype=tensor.dtype).expand(tensor.shape)
        tensors[name] = nn.Parameter(zeros, requires_grad=False) if isinstance(tensor, nn.Parameter) else zeros
    try:
        yield
    finally:
        for tensors, name, tensor in kept:
            tensors[name] = tensor
