"""When every storage is made and dropped while PyTorch runs: the one dispatch mode that all tracing builds on.

A storage is known by a number of its own, since PyTorch gives the address of a dead one to the next. It is never held
here: PyTorch says itself when the last tensor lets go of it. What existed before is told by `add`.
"""

import weakref
from collections.abc import Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from archcalc.reference.in_place import InPlace


class Phase(NamedTuple):
    """A stretch of a training step; as an event, its beginning."""

    name: str = ""  # forward, backward, step
    step: int = 0


class Storage(NamedTuple):
    """What was made: by which op, for a tensor of which shape and type, in which module, on which stream."""

    key: int
    bytes: int
    op: str
    shape: tuple[int, ...]
    dtype: str
    phase: Phase = Phase()
    module: str = ""
    stream: int = 0


class Birth(NamedTuple):
    """From here on a storage takes memory."""

    storage: Storage


class Death(NamedTuple):
    """From here on a storage takes none."""

    storage: Storage


Event = Birth | Death | Phase


class Lifetimes(TorchDispatchMode):
    """`events` in order. With a `device`, only what is on it: steps of optimizers and sizes are kept on the host."""

    def __init__(self, device: str = "", *, in_place: bool = True) -> None:
        super().__init__()
        self._in_place = None
        if in_place:
            self._in_place = InPlace()
        self.device, self.phase = device, Phase()
        self.events: list[Event] = []
        self._numbers: dict[int, int] = {}  # the key of every living storage, by its address
        self._alive: dict[int, tuple[Storage, Any]] = {}  # by key, with a weak reference
        self._made = 0

    def begin(self, name: str, step: int = 0) -> None:
        self.phase = Phase(name, step)
        self.events.append(self.phase)

    def alive(self) -> list[Storage]:
        """Storages that something still holds, oldest first."""
        return [storage for storage, _ in self._alive.values()]

    def addresses(self) -> dict[int, int]:
        """Bytes by address of those that something still holds."""
        return {address: self._alive[key][0].bytes for address, key in self._numbers.items()}

    def key(self, tensor: Tensor) -> int | None:
        """By which a tensor's storage is known, if it is."""
        return self._numbers.get(tensor.untyped_storage()._cdata)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = self.run(func, args, kwargs or {})
        self.note(out, func, (args, kwargs))
        return out

    def run(self, func: Any, args: Any, kwargs: Any) -> Any:
        """In place where a GPU would."""
        if not self._in_place:
            return func(*args, **kwargs)
        out = (self._in_place.instead_of(func, args) or func)(*args, **kwargs)
        self._in_place.note(func, out)
        return out

    def note(self, out: Any, func: Any, given: Any = ()) -> None:
        """New are storages that nothing `given` has: a view of what was there before is nothing new."""
        new = [tensor for tensor in tensors(out) if tensor.untyped_storage()._cdata not in self._numbers]
        if not new:
            return
        before = {tensor.untyped_storage()._cdata for tensor in tensors(given)}
        for tensor in new:
            if tensor.untyped_storage()._cdata not in before:
                self.add(tensor, str(func))

    def add(self, tensor: Tensor, op: str) -> None:
        """A storage that is there, unless it is known."""
        if not self.device or tensor.device.type == self.device:
            self._add(tensor.untyped_storage(), op, tuple(tensor.shape), _named(tensor.dtype))

    def _add(self, storage: Any, op: str, shape: tuple[int, ...], kind: str) -> None:
        address, size = storage._cdata, storage.nbytes()
        if not size or address in self._numbers:
            return
        self._made += 1
        key = self._made
        born = Storage(key, size, op, shape, kind, self.phase, self.module(), self.stream())
        self._numbers[address] = key
        self._alive[key] = born, weakref.ref(storage, partial(self._gone, key, address))
        self.events.append(Birth(born))

    def _gone(self, key: int, address: int, _: Any = None) -> None:
        del self._numbers[address]
        storage, _ = self._alive.pop(key)
        self.events.append(Death(storage))

    def module(self) -> str:
        """The path of the module that is running."""
        return ""

    def stream(self) -> int:
        """The number of the stream that is current."""
        return 0


@cache
def _named(kind: torch.dtype) -> str:
    return str(kind).removeprefix("torch.")


def tensors(values: Any) -> Iterator[Tensor]:
    """All that are in a nest of values."""
    if isinstance(values, Tensor):
        yield values
        return
    yield from (leaf for leaf in tree_leaves(values) if isinstance(leaf, Tensor))


class Peak(NamedTuple):
    """The most bytes alive at once in a phase, and what they were."""

    phase: Phase
    bytes: int
    alive: tuple[Storage, ...]


def peaks(events: list[Event]) -> list[Peak]:
    """Of each phase in order; what is there at its beginning counts."""
    highest = _highest(events)
    alive: dict[int, Storage] = {}
    found = []
    for place, event in enumerate(events):
        if isinstance(event, Birth):
            alive[event.storage.key] = event.storage
        elif isinstance(event, Death):
            del alive[event.storage.key]
        if place in highest:
            found.append(Peak(*highest[place], tuple(alive.values())))
    return found


def _highest(events: list[Event]) -> dict[int, tuple[Phase, int]]:
    """Each phase and its most bytes, by the place of the event behind which they are reached."""
    found: dict[Phase, tuple[int, int]] = {}
    phase, now = Phase(), 0
    for place, event in enumerate(events):
        if isinstance(event, Phase):
            phase = event
        elif isinstance(event, Birth):
            now += event.storage.bytes
        else:
            now -= event.storage.bytes
        if phase not in found or now > found[phase][1]:
            found[phase] = place, now
    return {place: (phase, most) for phase, (place, most) in found.items()}
