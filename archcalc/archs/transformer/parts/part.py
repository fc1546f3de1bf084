"""A block and its parts: the base of each, what it inherits from its stack, and what it is given while that runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, TypeVar

from archcalc.archs.transformer.nodes import Norm
from archcalc.core.errors import InputError, Path
from archcalc.core.ir import Axes, Axis, Dim, Module, Tensor, axes
from archcalc.layers.attention import looked_at
from archcalc.layers.attention_mask import Sight
from archcalc.layers.dropout import dropped
from archcalc.layers.norm import norm
from archcalc.spec.gathering import STAND_IN, tell
from archcalc.spec.workload import Workload

if TYPE_CHECKING:
    from archcalc.archs.transformer.spec import Stack
    from archcalc.layers.patches import Patches


@dataclass(frozen=True)
class Context:
    """What a part is given besides its input while a stack runs: the encoder's output, and constants of the stack.

    `prepared` is what parts computed once for all blocks, by their names; `shared` are constants that all blocks read,
    such as the causal mask, made on first use."""

    work: Workload
    memory: Tensor | None = None
    prepared: dict[str, Tensor | None] = field(default_factory=dict)
    shared: dict[tuple[str, Axes], Tensor] = field(default_factory=dict)

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


T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """One branch of a block with every value filled in."""

    spec_kind: ClassVar[str]  # what a reader of the resolved spec knows it by, whatever its class is called
    name: str
    norm: Norm
    dropout: float
    layer_scale: bool = field(default=False, kw_only=True)
    slot: str = field(default="", kw_only=True)  # the part that this is, or is like

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        """Record the forward pass of the branch."""
        raise NotImplementedError

    def within(self, d_model: int) -> Part:
        """The part in a small model of that width."""
        return self


class Layer(Protocol):
    """A layer that reads one sequence and needs nothing else of its stack."""

    spec_kind: ClassVar[str]

    def run(self, m: Module, x: Tensor, work: Workload) -> Tensor: ...


@dataclass(frozen=True)
class LayerPart(Part):
    """A branch that is a single layer."""

    spec_kind: ClassVar[str] = "layer"
    layer: Layer

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        return self.layer.run(m, x, context.work)

    def within(self, d_model: int) -> LayerPart:
        from archcalc.layers.conv import Convolution

        return replace(self, layer=self.layer.within(d_model)) if isinstance(self.layer, Convolution) else self


class Excluded(NamedTuple):
    """Fields that a part refuses under a condition, rather than ignore them."""

    where: str  # the name of the condition
    fields: tuple[str, ...]
    fact: str
    hint: str
    at: str = ""  # the field that the message points at, if it is another one


def own_or(value: T | None, around: T) -> T:
    """A part's own field, or the one it inherits."""
    return around if value is None else value


def normed(m: Module, x: Tensor, own: Norm) -> Tensor:
    return norm(m, x, own.kind, bias=own.bias, affine=own.affine)


class Surroundings(NamedTuple):
    """The scope from which a part inherits its missing fields."""

    scope: Stack
    stack: str
    d_model: int
    norm: Norm  # of the part
    has_memory: bool
    causal: bool
    patches: Patches | None = None  # of the image that the stack reads

    def places(self, *path: str) -> list[Path]:
        """The places where a field may be written: the part, the stack, or the model."""
        shorter = [path[i:] for i in range(len(path))]
        return [place for tail in shorter for place in ((self.stack, *tail), tail)]

    def needed(self, value: int | None, field: str, meaning: str, *above: str) -> int:
        """A size that has no default."""
        if value is None:
            places = [*([above] if above else []), (self.stack,)]
            tell(InputError("missing", f"give {meaning}", fields=places, field=".".join((*above, field))))
            return STAND_IN
        return value

    def check_divides(self, width: int, name: str, number: int, word: str, field: str) -> None:
        """Equal shares of a width: heads of an inner width, groups of channels."""
        if width % number:
            fact = f"{name} {width} does not divide into {number} {field}"
            raise InputError(fact, f"use a divisor of {width}", fields=self.places(word, field)[:2])

    def check_causal(self, what: str) -> None:
        """Causal layers are allowed only in a decoder."""
        if not self.causal:
            fact = f"{what} is causal"
            raise InputError(fact, "put it into a decoder", fields=self.places("pattern"))


def run_block(m: Module, x: Tensor, context: Context, parts: list[Part], parallel: str | None = None) -> Tensor:
    """A block: its parts with the norms where the spec places them.

    Sequential: x + part(x) for each part in turn; parallel: x + one part(x) + another part(x), where every part
    takes the same x, through a shared norm or its own."""
    shared = normed(m["norm"], x, parts[0].norm) if parallel == "shared" else None
    branches: list[Tensor] = []
    for index, part in enumerate(parts):
        earlier = sum(part.name == other.name for other in parts[:index])
        name = f"{part.name}_{earlier + 1}" if earlier else part.name
        branch = shared or x
        if part.norm.place in ("pre", "sandwich") and not shared:
            branch = normed(m[f"{name}_norm"], x, part.norm)
        branch = part.run(m[name], branch, context)
        if part.layer_scale:
            scale = m[f"{name}_scale"]
            branch = scale.record("multiply", branch, scale.param("weight", x.dims[-1]))
        branch = dropped(m, branch, part.dropout, context.work, part.slot or part.name)
        if part.norm.place in ("out", "sandwich"):
            branch = normed(m[f"{name}_norm_out"], branch, part.norm)
        if parallel:
            branches.append(branch)
        elif part.norm.place == "post":
            m[f"{name}_norm"].words.title = "Add & Norm"
            x = normed(m[f"{name}_norm"], m.record("add", x, branch), part.norm)
        else:
            x = m.record("add", x, branch, name=f"{name}_add", note="residual")
    return m.record("add", x, *branches, name="add", note="residual and all branches") if parallel else x
