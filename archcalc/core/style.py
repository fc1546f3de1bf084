"""How layers are computed: the forward functions in which training libraries differ.

Every module has a style, that of its parent; a layer asks it for its norm, its rotary embedding, its loss, and so
records the ops that this library really runs. What is written here is archcalc's own way, one op each; where a field
is None, the layer's own code is the plain way. Libraries' functions are in `archcalc.styles`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from archcalc.core.ir import Axes, Axis, Dim, Module, Op, Param, Tensor
    from archcalc.core.roles import Role


class Projection(NamedTuple):
    """A linear layer that is yet to be made: its name in the layer around it, what it makes, what its matrix does."""

    name: str
    out: Axis
    bias: bool
    role: Role


class ExpertSizes(NamedTuple):
    """Experts whose weights are stacked along a dim, of which each token visits `top`."""

    experts: Dim
    top: Dim
    inner: Dim
    act: str
    gated: bool
    bias: bool


class Gpus(NamedTuple):
    """How many GPUs share what, for layers that talk to each other (`archcalc.core.mesh.Plan`)."""

    tp: int = 1
    cp: int = 1
    ep: int = 1
    sp: bool = False


ONE_GPU = Gpus()


class Adapted(NamedTuple):
    """A matrix with a low-rank adapter, the module that the adapter is recorded in, and its two matrices."""

    weight: Param
    lora: Module
    down: Param
    up: Param


@dataclass(frozen=True)
class Recorded:
    """One op of that kind, or of the kind that a layer asks for; without any, nothing is done to the tensor. A kernel
    hides positions by itself, whatever the mask."""

    kind: str = ""

    def __call__(self, m: Module, *tensors: Tensor, kind: str = "", mask: Tensor | None = None, **said: Any) -> Tensor:
        chosen = kind or self.kind
        return m.record(chosen, *tensors, **said) if chosen else tensors[0]


RMS_NORM, LAYER_NORM, ROTATE = Recorded("rms_norm"), Recorded("layer_norm"), Recorded("rotate")
REPEAT, PRODUCT, MASK, SOFTMAX = Recorded("repeat"), Recorded("contract"), Recorded("mask"), Recorded("softmax")
FLASH, AS_IT_IS = Recorded("flash"), Recorded()


def cross_entropy(m: Module, logits: Tensor, targets: Tensor) -> Tensor:
    return m.record("cross_entropy", logits, targets, to=())


Norm = Callable[..., "Tensor"]  # of a module, what is normalised, and the weights
Activation = Callable[["Module", "Tensor", "tuple[Tensor, ...]"], "Tensor"]
Together = Callable[["Module", "Tensor", "tuple[Projection, ...]"], "tuple[Tensor, ...]"]
Gated = Callable[["Module", "Tensor", str, Projection, Projection], "Tensor"]
Biased = Callable[["Module", "tuple[Tensor, Tensor, Tensor]", "Tensor", bool, "Axes"], "Tensor"]
Route = Callable[["Module", "Tensor", "Dim", "Dim", bool], "Tensor"]
Shared = Callable[[], "Tensor | None"]  # runs the expert that every token visits, if there is one
RunExperts = Callable[["Module", "Tensor", "Tensor", ExpertSizes, Shared], "tuple[Tensor, Tensor | None]"]
Adapt = Callable[["Module", "Op", "list[Adapted]"], "list[Op | Module]"]


class Style(NamedTuple):
    """`narrow`: activations have fewer than 32 bits. `is_recomputed`: blocks, in the backward pass. `gpus`: those that
    share its layers. `dropout`: the places that have it, or None for those that a spec names."""

    name: str = "plain"
    narrow: bool = False
    is_recomputed: bool = False
    gpus: Gpus = ONE_GPU
    rms_norm: Norm = RMS_NORM
    layer_norm: Norm = LAYER_NORM
    rotary: Callable[..., Tensor] = ROTATE
    activations: tuple[tuple[str, Activation], ...] = ()  # kinds of op that are written in another way
    bias_in_kernel: bool = False  # a linear layer adds its bias in the kernel of its product, and in no op of its own
    qkv: Together | None = None
    kv: Together | None = None  # of what an encoder gives
    gated: Gated | None = None
    kernel: Callable[..., Tensor] = FLASH
    biased: Biased | None = None  # a kernel that adds a bias to the scores; without one they are stored
    number_masks: bool = False  # stored scores are hidden by numbers that are added, for each sequence
    zero_bias: bool = False  # cross-attention adds a bias of zeros, too
    repeat: Callable[..., Tensor] = REPEAT
    scores: Callable[..., Tensor] = PRODUCT
    hide: Callable[..., Tensor] = MASK
    softmax: Callable[..., Tensor] = SOFTMAX
    sink_factor: Callable[..., Tensor] | None = None  # on what eager attention gives; else a sink is one more score
    weighed: Callable[..., Tensor] = PRODUCT
    by_position: Callable[..., Tensor] = AS_IT_IS  # heads of a position behind each other
    route: Route | None = None
    experts: RunExperts | None = None
    expert_gate: Callable[..., Tensor] | None = None  # joins gate and up of experts; else activation(gate) · up
    adapts_router: bool = True  # its matrix is a linear layer, which gets adapters as others do
    dropout: tuple[str, ...] | None = None
    embedded: Callable[..., Tensor] = AS_IT_IS  # rows of the table of tokens
    values_are_copied: bool = True  # of latent attention, out of what one matrix made
    logits: Callable[..., Tensor] = AS_IT_IS
    loss: Callable[..., Tensor] = cross_entropy
    adapter: Adapt | None = None


PLAIN = Style()
