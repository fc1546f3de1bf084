"""What a part is given besides its input while a stack runs: the encoder's output, and constants of the stack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from archcalc.archs.transformer.pattern import Items
from archcalc.core.ir import Axes, Axis, Dim, Tensor, axes
from archcalc.layers.attention import looked_at
from archcalc.layers.attention_inputs import KeysAndValues
from archcalc.layers.attention_mask import Sight
from archcalc.spec.workload import Workload


@dataclass(frozen=True)
class Context:
    """`prepared` is what parts computed once for all blocks, by their names; `shared` are constants that all blocks
    read, such as the causal mask, made on first use."""

    work: Workload
    memory: Tensor | None = None
    prepared: dict[str, Tensor | None] = field(default_factory=dict)
    shared: dict[tuple[str, Axes], Tensor] = field(default_factory=dict)
    handed: dict[str, KeysAndValues] = field(default_factory=dict)  # of the last block so far that has that attention
    items: Items = ()  # the blocks of the stack
    ids: Tensor | None = None  # the tokens that it reads
    residual: Tensor | None = None  # the residual stream in front of the part that runs

    def hand_on(self, name: str, both: KeysAndValues) -> None:
        """Keeps the keys and values of a part for later blocks."""
        self.handed[name] = both

    def constant(self, name: str, role: str, *items: Dim | Axis) -> Tensor:
        """A constant tensor, shared by all that request this name and shape.

        Shapes differ where a token is decoded behind caches of several lengths: one of a window, one of all before it.
        """
        shape = axes(*items)
        if (name, shape) not in self.shared:
            self.shared[name, shape] = Tensor(shape, role)
        return self.shared[name, shape]

    def mask(self, x: Tensor, sight: Sight) -> Tensor | None:
        """The mask, if one is needed: a single token at the end attends to all positions."""
        if not sight.hides or self.work.decodes:
            return None
        shape = x.dims[1], looked_at(x, x, sight=sight)
        if self.work.style.number_masks and self.work.attention == "eager":
            return self.constant(f"numbers of {sight}", "act", x.dims[0], *shape)
        return self.constant(f"mask of {sight}", "mask", *shape)

    def once(self, name: str, make: Callable[[], Tensor], shape: Axes = ()) -> Tensor:
        """A value that is created on first use."""
        if (name, shape) not in self.shared:
            self.shared[name, shape] = make()
        return self.shared[name, shape]
