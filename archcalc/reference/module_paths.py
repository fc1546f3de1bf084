"""The path of the module that is running, forward, recomputed or backward.

Backward, autograd's nodes run without their modules. Each node has the number that it got when its op ran, and numbers
only grow: where a module began and ended is remembered by number.
"""

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import nn


class ModulePaths:
    """`current()` while `watching()`."""

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
