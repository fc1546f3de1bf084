"""Parts of a block: the base of each, and what it inherits from its stack."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, TypeVar

from archcalc.archs.transformer.context import Context
from archcalc.archs.transformer.nodes import Norm
from archcalc.core.errors import InputError, Path
from archcalc.core.ir import Module, Tensor
from archcalc.layers.norm import norm
from archcalc.spec.gathering import STAND_IN, tell
from archcalc.spec.workload import Workload

if TYPE_CHECKING:
    from archcalc.archs.transformer.spec import Stack
    from archcalc.layers.patches import Patches


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
    is_embedding: ClassVar[bool] = False  # what is prepared for it is one, and no part of the stack

    @property
    def is_bound(self) -> bool:
        """Whether it reads what other blocks or the embedding made, so that no block can be taken out alone."""
        return False

    def prepare(self, place: Module, x: Tensor, context: Context) -> Tensor | None:
        """Record what it needs once for all blocks."""
        return None

    @property
    def unwitnessed(self) -> str:
        """What of it archcalc's own PyTorch reference does not have."""
        return ""

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
