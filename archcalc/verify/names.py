"""archcalc's tree under PyTorch's names: `encoder.blocks.attention.q` becomes `encoder.blocks.0.attention.q` …"""

from __future__ import annotations

from collections.abc import Iterator

from archcalc.core.ir import Module
from archcalc.core.tree import given_out

Shape = tuple[int, ...]


def parameters(root: Module) -> dict[str, Shape]:
    """Every parameter's shape by its full name."""
    return {
        under(name, param): tensor.shape
        for name, module in expanded(root, "")
        for param, tensor in module.params.items()
    }


def shapes(root: Module) -> dict[str, Shape]:
    """The output shape of every module, by its full name."""
    found = ((name, given_out(module)) for name, module in expanded(root, "") if name and _is_called(module))
    return {name: tensor.shape for name, tensor in found if tensor}


def _is_called(module: Module) -> bool:
    return bool(module.calls) and (module.parent is None or _is_called(module.parent))


def expanded(module: Module, name: str) -> Iterator[tuple[str, Module]]:
    """A module once for each copy; a section belongs to its parent."""
    yield name, module
    for child in module.children:
        if child.is_section:
            continue
        for index in range(int(child.repeat)):
            copy = f"{child.name}.{index}" if child.repeat > 1 else child.name
            yield from expanded(child, under(name, copy))


def under(above: str, name: str) -> str:
    return f"{above}.{name}" if above else name
