"""archcalc's tree under PyTorch's names: `encoder.blocks.attention.q` becomes `encoder.blocks.0.attention.q` …"""

from __future__ import annotations

from collections.abc import Iterator

from archcalc.core.ir import Module, Op, Region, Tensor

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


def given_out(module: Module) -> Tensor | None:
    """The declared output, or the output of the last op."""
    if module.carries:
        return module.carries[0][1]
    last = _last_op(module)
    return last.output if last else None


def _last_op(module: Module) -> Op | None:
    """Cached or displayed tensors are not outputs, a loss belongs to no layer, and last states come with outputs.

    None where the last thing is a step of every position: what is made of all its outputs is not told.
    """
    for item in reversed(module.body):
        if isinstance(item, Module) and item.region != Region.LOSS:
            return _last_op(item) if item.calls == 1 and item.region != Region.STEP else None
        if isinstance(item, Op) and not _stands_beside(item):
            return item
    return None


def _stands_beside(op: Op) -> bool:
    beside = op.output.role == "cache" or not (op.traits.allocates or op.traits.view)
    return beside or op.name.startswith(("hidden_state", "cell_state"))
