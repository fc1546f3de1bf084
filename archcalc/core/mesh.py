"""How a model is laid out over GPUs: what tensor parallelism splits, and what ZeRO divides.

Layers declare how their dims split (`archcalc.core.splits`). A tensor without such a dim is replicated, every GPU holds
all of it: norms, position tables, MLA's latent cache, activations of the residual stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from math import prod

from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, Param, Tensor, walk
from archcalc.core.positions import Positions
from archcalc.core.splits import Remainder

ZERO = (0, 1, 2, 3)
ALIGNED = 2  # DeepSpeed pads its flat buffer to a multiple of 2 × GPUs, so that every slice starts on 4 bytes


@dataclass(frozen=True)
class Plan:
    """`tp` GPUs share every layer; `dp` groups compute batches of their own; `zero` is the ZeRO paper's stage.

    With `sp` the GPUs of a group also share, position by position, what cannot be split otherwise. `cp` GPUs share a
    sequence in all of the model, attention too; what ZeRO divides, it divides over them as well. `pp` stages of a
    pipeline hold some of the layers each; `ep` of the GPUs with batches of their own hold some of the experts each."""

    tp: int = 1
    dp: int = 1
    zero: int = 0
    sp: bool = False
    cp: int = 1
    pp: int = 1
    ep: int = 1
    padded_to: int = 1  # a multiple of this are the rows of a vocabulary that each GPU holds

    @property
    def gpus(self) -> int:
        return self.tp * self.dp * self.cp * self.pp

    @property
    def shards(self) -> int:
        """Over how many GPUs ZeRO divides."""
        return self.dp * self.cp

    def shards_of(self, param: Param) -> int:
        """The same of one parameter: an expert's copies are fewer where experts are dealt out."""
        is_dealt = any(dim.dealt for dim in param.dims)
        return self.shards // self.ep if is_dealt else self.shards

    def words(self) -> Iterator[str]:
        """As titles name it: `tp 2 sp`, `dp 8 zero 3`."""
        if self.tp > 1:
            yield f"tp {self.tp}" + (" sp" if self.sp else "")
        if self.cp > 1:
            yield f"cp {self.cp}"
        if self.pp > 1:
            yield f"pp {self.pp}"
        if self.ep > 1:
            yield f"ep {self.ep}"
        if self.dp > 1 or self.zero:
            yield f"dp {self.dp}" + (f" zero {self.zero}" if self.zero else "")

    def record(self) -> dict[str, int]:
        """As programs read it."""
        return {"gpus": self.gpus, **{name: value for name, value in asdict(self).items() if name != "padded_to"}}

    def part(self, dim: Dim) -> int:
        """The size of a dim on one GPU; the largest share if the split is uneven."""
        if dim.dealt:
            return -(-int(dim.size) // self.ep)
        if not dim.split:
            return int(dim.size)
        # rows of a vocabulary are padded, where a library does so
        even = self.padded_to * self.tp if dim.split.remainder is Remainder.SHORTER else 1
        return dim.split.part(-(-int(dim.size) // even) * even, self.tp)

    def size(self, tensor: Tensor) -> int:
        """Elements of a tensor on one GPU."""
        is_whole = self.tp == self.ep == self.padded_to == 1
        return int(tensor.size) if is_whole else prod(self.sizes(tensor))

    def sizes(self, tensor: Tensor) -> list[int]:
        """How much of each of its dims one GPU of a tensor-parallel group holds. Sequence parallelism cuts activations
        of the residual stream, but no tables without a batch (RoPE)."""
        is_cut = self.sp and tensor.role in ("act", "stat", "mask") and not is_split(tensor.dims)
        cut = (Positions.SEQUENCE,) if is_cut and any(dim.name == "batch" for dim in tensor.dims) else ()
        return [-(-int(dim.size) // self.tp) if dim.positions in cut else self.part(dim) for dim in tensor.dims]

    def is_divided(self, tensor: Tensor) -> bool:
        """Whether the GPUs of a tensor-parallel group hold disjoint parts of it."""
        return any(dim.split.is_disjoint(dim.size, self.tp) for dim in tensor.dims if dim.split)

    def sharded(self, param: Param) -> int:
        """Elements of a parameter on one GPU of FSDP2: rows are dealt out, every GPU allocates the ceiling."""
        rows = 1
        for dim in param.axes[0] if param.axes else ():
            rows *= self.part(dim)
        return -(-rows // self.shards) * (self.size(param) // rows)

    def check(self, root: Module) -> None:
        """Refuse what engines refuse: heads that cannot be split evenly, and a model with nothing to split."""
        if self.tp == self.ep == 1:
            return
        dims = {dim for module, _ in walk(root) for param in module.params.values() for dim in param.dims}
        experts = [int(dim.size) for dim in dims if dim.dealt]
        if self.ep > 1 and not experts:
            raise InputError("this model has no experts to deal out", "leave --ep out", field="--ep")
        for number in experts:
            if number % self.ep:
                fact = f"{number:,} experts cannot be dealt out to {self.ep:,} GPUs"
                raise InputError(fact, f"--ep must divide {number}", field="--ep")
        if self.tp == 1:
            return
        split = {dim: dim.split for dim in dims if dim.split}
        if not split:
            fact = "nothing in this model can be split: it has neither heads nor a feed-forward layer nor a vocabulary"
            raise InputError(fact, "leave --tp out; --dp 2 --zero 3 divides any model", field="--tp")
        for dim in sorted(split, key=lambda dim: (dim.name, dim.size)):
            if not split[dim].allows(dim.size, self.tp):
                pairs = split.items()
                possible = [str(tp) for tp in range(2, 129) if all(how.allows(one.size, tp) for one, how in pairs)]
                hint = f"--tp may be {', '.join(possible)}" if possible else "leave --tp out"
                fact = f"{dim.name.replace('_', ' ')} {int(dim.size):,} cannot be split over {self.tp} GPUs"
                raise InputError(fact, hint, field="--tp")


def is_split(dims: Iterable[Dim]) -> bool:
    """Whether tensor parallelism divides one of some dims."""
    return any(dim.split for dim in dims)


def plan(tp: int = 1, dp: int = 1, zero: int = 0, sp: bool = False, cp: int = 1, pp: int = 1, ep: int = 1) -> Plan:
    """The plan, or an error if its options contradict each other."""
    if sp and tp == 1:
        fact = "sequence parallelism needs tensor parallelism over 2 GPUs or more"
        raise InputError(fact, "add the number of GPUs: --tp 8 --sp", field="--sp")
    if zero not in ZERO:
        raise InputError(f"no ZeRO stage {zero}", "choose from: 0, 1, 2, 3", field="--zero")
    if zero and dp * cp == 1:
        hint = f"add the number of GPUs: --dp 8 --zero {zero}"
        raise InputError(
            f"ZeRO stage {zero} shards over data-parallel GPUs, and there is only one", hint, field="--zero"
        )
    if dp * cp % ep:
        fact = f"experts are dealt out to GPUs with batches of their own, and {dp * cp:,} are no multiple of {ep:,}"
        raise InputError(fact, f"add the number of GPUs: --dp {ep} --ep {ep}", field="--ep")
    return Plan(tp, dp, zero, sp, cp, pp, ep)
