"""What PyTorch does in place on a GPU, and out of place while a dispatch mode watches or tensors are on meta.

PyTorch writes into no tensor that may be a subclass (`isTensorSubclassLike` in ATen/TensorSubclassLikeUtils.h), and
takes every tensor for one under a mode. Three places would have written in place:

- the engine of autograd, adding a gradient to the one that waits at a node (`accumulate` in autograd/input_buffer.cpp);
- formulas for gradients that fill new zeros (`index_backward`, `gather_backward`, `value_selecting_reduction_backward`
  and others in autograd/FunctionsManual.cpp);
- `linear`, adding its bias to a product that cannot be one addmm (ATen/native/Linear.cpp).

Each is known by who calls the op, and done in place here if nobody else holds the tensor that is written to. Nothing
that Python sees tells those callers apart: the engine adds up gradients with the same op that a formula may use. So
they are told from the return addresses on the stack, which C's library can walk (glibc and macOS have `backtrace`).
"""

import ctypes
import sys
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch._prims_common import is_non_overlapping_and_dense_or_false
from torch.autograd import graph
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

aten = torch.ops.aten
ENGINE = "_ZN5torch8autograd11InputBuffer3add"  # mangled: torch::autograd::InputBuffer::add
LINEAR = "_ZN2at6native6linearE"  # at::native::linear
ADD = aten.add.Tensor
FILLS: dict[Any, Any] = {
    aten.scatter.src: aten.scatter_.src,
    aten.scatter.value: aten.scatter_.value,
    aten.scatter_add.default: aten.scatter_add_.default,
    aten.index_put.default: aten.index_put_.default,
    aten.index_add.default: aten.index_add_.default,
    aten.put.default: aten.put_.default,
}
ZEROS = {aten.new_zeros.default, aten.zeros.default, aten.zeros_like.default}
_WRAPPERS = ("torch._compile", "torch._dynamo", "torch.utils._python_dispatch", "archcalc.reference")
DEEPEST = 96  # frames of the stack; what calls an op is among the first 40
Counts = tuple[int, int, int]


class InPlace:
    """Remembers the zeros that the running node of autograd has made, which its formula may fill."""

    def __init__(self) -> None:
        self.node, self.zeros = -1, set[int]()
        of_one_owner()  # counted before anything runs

    def instead_of(self, func: Any, args: Any) -> Any:
        """The op that a GPU would have run in the place of this one, or nothing."""
        if func is ADD and _is_added_in_place(args):
            return aten.add_.Tensor
        if func in FILLS and self._is_filled(args[0]):
            return FILLS[func]
        return None

    def note(self, func: Any, out: Any) -> None:
        """Zeros that a node has made."""
        if func in ZEROS and (node := torch._C._current_autograd_node()):
            number = node._sequence_nr()
            if number != self.node:
                self.node, self.zeros = number, set()
            self.zeros.add(out.untyped_storage()._cdata)

    def _is_filled(self, target: Tensor) -> bool:
        node = torch._C._current_autograd_node()
        own = node is not None and node._sequence_nr() == self.node
        return own and target.untyped_storage()._cdata in self.zeros and _is_called_by_the_engine()


def _is_added_in_place(args: Any) -> bool:
    """Written to are only dense tensors (`can_accumulate_inplace` in autograd/input_buffer.cpp)."""
    if not all(isinstance(one, Tensor) for one in args) or _counts(args) != of_one_owner():
        return False
    if torch._C._current_graph_task_id() < 0 or torch.is_grad_enabled():
        return is_running(LINEAR)
    return is_non_overlapping_and_dense_or_false(args[0]) and is_running(ENGINE)


def _is_called_by_the_engine() -> bool:
    """By a formula in C++: no Python but that of dispatch modes runs between it and `backward`."""
    frame, mode = sys._getframe(1), "__torch_dispatch__"
    while frame.f_back and (frame.f_code.co_name == mode or frame.f_globals["__name__"].startswith(_WRAPPERS)):
        frame = frame.f_back
    return frame.f_code is graph._engine_run_backward.__code__


def _counts(args: Any) -> Counts:
    """How many hold the first tensor: in C++, in Python, and its storage."""
    storage = args[0].untyped_storage()
    return args[0]._use_count(), sys.getrefcount(args[0]), torch._C._storage_Use_Count(storage._cdata)


@cache
def of_one_owner() -> Counts:
    """The counts of a tensor that only the engine holds, as a dispatch mode sees them: those of a gradient that it is
    about to add to."""
    probe = _Probe()
    with torch.enable_grad(), _disable_current_modes(), probe:
        x = torch.empty(2, device="meta", requires_grad=True).exp()
        (x.exp() * x.sin()).sum().backward()
    if probe.found is None:
        raise RuntimeError(f"how PyTorch {torch.__version__} adds up gradients is not recognised")
    return probe.found


class _Probe(TorchDispatchMode):
    """Counts of the gradient that another one is added to."""

    found: Counts | None = None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is ADD and is_running(ENGINE):
            self.found = _counts(args)
        return func(*args, **(kwargs or {}))


class _Symbol(ctypes.Structure):
    """What dladdr finds at an address."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("start", ctypes.c_void_p),
    )


@cache
def _library() -> Any:
    try:
        library = ctypes.CDLL(None)
        return library.backtrace and library
    except (TypeError, AttributeError):  # Windows, and C libraries such as musl
        raise RuntimeError("the stack of PyTorch's C++ can be walked with glibc and on macOS only") from None


_frames = (ctypes.c_void_p * DEEPEST)()


def is_running(name: str) -> bool:
    """Whether a function whose mangled name begins so is on the stack."""
    number = _library().backtrace(_frames, DEEPEST)
    return any(_named(address).startswith(name) for address in _frames[:number] if address)


@cache
def _named(address: int) -> str:
    """The exported function around an address, or nothing."""
    symbol = _Symbol()
    found = _library().dladdr(ctypes.c_void_p(address), ctypes.byref(symbol))
    if not found or not symbol.name:
        return ""
    name: bytes = symbol.name
    return name.decode()
