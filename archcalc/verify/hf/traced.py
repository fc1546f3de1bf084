"""Every storage that training a transformers class makes and drops, in order, with names for those that stay."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from unittest.mock import patch

import torch
from torch import nn

from archcalc.importers.meta.contained import contained
from archcalc.reference.lifetimes import Event, Lifetimes, Peak, Phase, peaks
from archcalc.verify.hf.as_on_a_gpu import as_on_a_gpu
from archcalc.verify.hf.training import Setting, Training


class ModulePaths:
    """The path of the module that is running, forward, recomputed or backward: `current()` while `watching()`.

    Backward, autograd's nodes run without their modules. Each node has the number that it got when its op ran, and
    numbers only grow: where a module began and ended is remembered by number.
    """

    def __init__(self, model: nn.Module) -> None:
        self.names = {id(module): name for name, module in model.named_modules()}
        self.inside: list[str] = []
        self.starts: list[int] = []  # numbers of nodes, growing, and from each on the path
        self.paths: list[str] = []

    def current(self) -> str:
        if self.inside:
            return self.inside[-1]
        node = torch._C._current_autograd_node()
        if node is None:
            return ""
        return ["", *self.paths][bisect_right(self.starts, node._sequence_nr())]

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While every call of a module is noted, without a hook, which could hold what it is given."""
        call: Any = nn.Module.__call__

        def noted(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            self.inside.append(self.names.get(id(module), type(module).__name__))
            self._mark()
            try:
                return call(module, *args, **kwargs)
            finally:
                self.inside.pop()
                self._mark()

        with patch.object(nn.Module, "__call__", noted):
            yield

    def _mark(self) -> None:
        self.starts.append(torch._C._autograd._get_sequence_nr())
        self.paths.append(["", *self.inside][-1])


@dataclass(frozen=True)
class Trace:
    """`names` of weights, buffers, inputs, gradients and optimizer states by key; all else is activations."""

    setting: Setting
    events: list[Event]
    names: dict[int, str]

    @cached_property
    def peaks(self) -> dict[Phase, Peak]:
        return {peak.phase: peak for peak in peaks(self.events)}


class Recorder(Lifetimes):  # type: ignore[no-untyped-call]  # PyTorch leaves it untyped
    """Knows the module that runs, and which storages have a name."""

    def __init__(self, training: Training, *, in_place: bool) -> None:
        super().__init__(training.device, in_place=in_place)
        self.training, self.paths = training, ModulePaths(training.model)
        self.names: dict[int, str] = {}
        for kind in ("parameter", "buffer"):
            for name, tensor in getattr(training.model, f"named_{kind}s")():
                self.add(tensor, kind)
                self._name(tensor, name)
        for name, tensor in training.inputs.items():
            self.add(tensor, "input")
            self._name(tensor, name)

    def module(self) -> str:
        return self.paths.current()

    def begin(self, name: str, step: int = 0) -> None:
        """Gradients are there once backward has ended, and states once a step has."""
        self.name_states()
        super().begin(name, step)

    def name_states(self) -> None:
        for name, parameter in self.training.model.named_parameters():
            if parameter.grad is not None:
                self._name(parameter.grad, f"{name}.grad")
            for state, value in self.training.optimizer.state.get(parameter, {}).items():
                self._name(value, f"{name}.{state}")

    def _name(self, tensor: Any, name: str) -> None:
        key = self.key(tensor)
        if key is not None:
            self.names.setdefault(key, name)


def trace_training(training: Training, *, in_place: bool = True) -> Trace:
    """Passes on any error of the class. `in_place` as a GPU would, or as PyTorch does under any dispatch mode."""
    return recorded(training, Recorder(training, in_place=in_place))


def recorded(training: Training, recorder: Recorder) -> Trace:
    """All steps."""
    with ExitStack() as stack:
        for context in (contained(), as_on_a_gpu(), recorder.paths.watching(), recorder):
            stack.enter_context(context)
        training.run(recorder.begin)
    recorder.name_states()
    return Trace(training.setting, list(recorder.events), recorder.names)  # weights die later
