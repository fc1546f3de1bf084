"""The traced tree as a listing, to look at: `print(model.build())`.

    head
      weight[vocab 50257, d_model 768]
      logits = contract([seq 8, d_model 768], weight[vocab 50257, d_model 768], over d_model) → [seq 8, vocab 50257]

A module with its repeats, then its parameters, then ops and modules below in the order in which they run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from archcalc.core.tensors import tensor_text

if TYPE_CHECKING:
    from archcalc.core.ir import Module, Op

INDENT = "  "


def op_text(op: Op) -> str:
    """In one line: what it is called, its kind, what it reads, what it sums over, what comes out."""
    name = f"{op.name} = " if op.name else ""
    over = [f"over {', '.join(dim.name for dim in op.over)}"] if op.over else []
    arguments = ", ".join([*map(tensor_text, op.inputs), *over])
    return f"{name}{op.kind}({arguments}) → {tensor_text(op.output)}"


def module_text(module: Module) -> str:
    """Its name, with how many copies there are of it and how often each runs."""
    copies = f" × {int(module.repeat):,}" if module.repeat > 1 else ""
    calls = "" if module.calls == 1 else f", {int(module.calls):,} calls each"
    return f"{module.name}{copies}{calls}"


def lines(module: Module, depth: int = 0) -> Iterator[str]:
    """A line for the module, each parameter, each op, and all of the modules below."""
    from archcalc.core.ir import Op  # which prints itself by means of this file

    yield INDENT * depth + module_text(module)
    for param in module.params.values():
        yield INDENT * (depth + 1) + tensor_text(param)
    for item in module.body:
        if isinstance(item, Op):
            yield INDENT * (depth + 1) + op_text(item)
        else:
            yield from lines(item, depth + 1)
    for child in module.children:
        if child not in module.body:  # which records no op: read by nothing
            yield from lines(child, depth + 1)
