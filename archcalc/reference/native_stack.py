"""Which functions of PyTorch's C++ are running, told from the return addresses on the stack.

Some of what PyTorch does is not told apart by anything that Python sees: the engine of autograd adds up gradients with
the same op that a formula for a gradient may use. C's library can walk the stack (glibc and macOS have `backtrace`).
"""

import ctypes
from functools import cache
from typing import Any

DEEPEST = 96  # frames; what calls an op is among the first 40


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
