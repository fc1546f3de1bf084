"""Models with an activation that archcalc does not know: what needs it is refused by name, in every test the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import pytest

from archcalc.core.errors import InputError
from archcalc.core.ir import Op
from archcalc.core.tree import ops_in
from archcalc.model import Model

REFUSAL = r"ffn\.act: archcalc does not know this activation"


def is_unknown(op: Op) -> bool:
    return op.kind == "unknown"


def has_unknown(model: Model) -> bool:
    return any(map(is_unknown, ops_in(model.build())))


def check_refused(*questions: Callable[[], object]) -> None:
    """Each by itself, naming the activation."""
    for ask in questions:
        with pytest.raises(InputError, match=REFUSAL):
            ask()


def with_silu(model: Model) -> str:
    """Its spec, with one that is known in the place of each."""
    return model.yaml().replace("act: unknown", "act: silu")


def counted(ops: Iterable[Op]) -> list[Op]:
    """All that have a cost; the others refuse to tell one."""
    found = []
    for op in ops:
        if is_unknown(op):
            check_refused(partial(op.traits.flops, op))
        else:
            found.append(op)
    return found
