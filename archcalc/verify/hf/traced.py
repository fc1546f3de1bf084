"""Every storage that training a transformers class makes and drops, in order, with names for those that stay."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from archcalc.importers.meta.contained import contained
from archcalc.reference.lifetimes import Event, Lifetimes, Peak, Phase, peaks
from archcalc.reference.module_paths import ModulePaths
from archcalc.verify.hf.as_on_a_gpu import as_on_a_gpu
from archcalc.verify.hf.training import Setting, Training


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
