"""How a model is laid out over GPUs: which named dims are split over which axis of the mesh, and what ZeRO divides.

A layer knows nothing of this. `SPLIT` says which dims tensor parallelism divides; a tensor without such a dim is held
whole by every GPU: norms, position tables, MLA's latent cache, activations of the residual stream.
"""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.errors import InputError
from archcalc.ir import Dim, Module, Param, Tensor, walk

SPLIT = {"heads": "tp", "kv_heads": "tp", "ffn": "tp", "vocab": "tp"}
COPIED = frozenset({"kv_heads"})  # where there are fewer of them than GPUs, several GPUs hold the same ones
UNEVEN = frozenset({"vocab"})  # rows of a table: the last GPU may hold fewer
ZERO = (0, 1, 2, 3)
ALIGNED = 2  # DeepSpeed pads its flat buffer to a multiple of 2 × GPUs, so that every slice starts on 4 bytes


@dataclass(frozen=True)
class Plan:
    """`tp` GPUs share every layer; `dp` groups compute batches of their own; `zero` is the ZeRO paper's stage."""

    tp: int = 1
    dp: int = 1
    zero: int = 0

    @property
    def gpus(self) -> int:
        return self.tp * self.dp

    def part(self, dim: Dim) -> int:
        """How much of a dim one GPU holds; of an uneven one the GPU that holds most."""
        size = int(dim.size)
        return -(-size // self.tp) if self.tp > 1 and SPLIT.get(dim.name) == "tp" else size

    def size(self, tensor: Tensor) -> int:
        """Elements of a tensor on one GPU."""
        number = 1
        for dim in tensor.dims:
            number *= self.part(dim)
        return number

    def sharded(self, param: Param) -> int:
        """Elements of a parameter on one GPU of FSDP2: rows are dealt out, every GPU allocates the ceiling."""
        rows = 1
        for dim in param.axes[0] if param.axes else ():
            rows *= self.part(dim)
        return -(-rows // self.dp) * (self.size(param) // rows)

    def check(self, root: Module) -> None:
        """Refuse what engines refuse: heads that do not divide, and a model that has nothing to split."""
        if self.tp == 1:
            return
        dims = {dim for module, _ in walk(root) for param in module.params.values() for dim in param.dims}
        split = [dim for dim in dims if SPLIT.get(dim.name) == "tp"]
        if not split:
            fact = "nothing in this model can be split: it has neither heads nor a feed-forward layer nor a vocabulary"
            raise InputError(fact, "leave --tp out; --dp 2 --zero 3 divides any model", field="--tp")
        for dim in sorted(split, key=lambda dim: dim.name):
            if not _divides(dim, self.tp):
                possible = [str(tp) for tp in range(2, 129) if all(_divides(dim, tp) for dim in split)]
                hint = f"--tp may be {', '.join(possible)}" if possible else "leave --tp out"
                fact = f"{dim.name.replace('_', ' ')} {int(dim.size):,} cannot be split over {self.tp} GPUs"
                raise InputError(fact, hint, field="--tp")


def _divides(dim: Dim, tp: int) -> bool:
    """Into equal parts; fewer key-value heads than GPUs are copied, if each to as many."""
    size = int(dim.size)
    copied = dim.name in COPIED and size < tp and tp % size == 0
    return dim.name in UNEVEN or copied or size % tp == 0


def plan(tp: int = 1, dp: int = 1, zero: int = 0) -> Plan:
    """A plan, or what is wrong with it."""
    if zero not in ZERO:
        raise InputError(f"no ZeRO stage {zero}", "choose from: 0, 1, 2, 3", field="--zero")
    if zero and dp == 1:
        hint = f"say how many GPUs: --dp 8 --zero {zero}"
        raise InputError(f"ZeRO stage {zero} divides over data-parallel GPUs, and there is one", hint, field="--zero")
    return Plan(tp, dp, zero)
