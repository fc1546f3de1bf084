"""The interface of stored weights: in a named format, by a checkpoint's rules, or as a file's tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from archcalc.core.mesh import Plan
    from archcalc.storage.places import Facts, Place


class WeightStorage(Protocol):
    """Shared by `Format`, `Checkpoint`, `FileWeights` and `OnDisk`, all of them dataclasses."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str: ...
    @property
    def rest(self) -> str: ...  # what is not quantised is stored in; empty: as the activations
    @property
    def source(self) -> str: ...  # where it is written
    @property
    def is_quantised(self) -> bool: ...
    @property
    def has_buffers(self) -> bool: ...  # its bytes have the buffers among them
    @property
    def dequantised_copies(self) -> int: ...  # 16-bit copies of a matrix that a product of several tokens allocates
    def holds(self, place: Place) -> bool: ...
    def total(self, place: Place, model: Facts, plan: Plan) -> int: ...


class StoredWeights(WeightStorage, Protocol):
    """As a model's own files store them: `Checkpoint`, `FileWeights` and `OnDisk`."""

    @property
    def unknown(self) -> str: ...  # why the bytes cannot be known; empty where they can
    @property
    def note(self) -> str: ...  # what a reader of bytes must know
    @property
    def estimate(self) -> str: ...  # how one GPU's share is worked out, where that is an assumption
    @property
    def file_kind(self) -> str: ...  # gguf, where that is the kind of its file; else the config says how it is stored
    @property
    def layout(self) -> str: ...  # the named format that kernels of engines may lay out anew; empty: none
