"""How a model is laid out over GPUs: which named dims are split over which axis of the mesh, and what ZeRO divides.

A layer knows nothing of this. `SPLIT` says which dims tensor parallelism divides; a tensor without such a dim is held
whole by every GPU: norms, position tables, MLA's latent cache, activations of the residual stream. Layers with a state
are divided as vLLM divides them: Mamba by its inner width, Mamba 2 and delta nets by heads; a single group of Mamba 2's
is copied (vllm/model_executor/layers/mamba/mamba_mixer.py, mamba_mixer2.py, models/qwen3_next.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from archcalc.core.count import Expression, Leaf, Product, Sum
from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, Param, Tensor, walk

WIDTHS = dict.fromkeys(("heads", "kv_heads", "expert_heads", "ffn", "vocab"), "tp")
STATES = dict.fromkeys(("inner", "inner_b_c", "gate_inner_b_c_dt", "v_heads", "q_k_v", "q_k_v_gate"), "tp")
SPLIT = WIDTHS | STATES
SEQUENCES = frozenset({"seq", "src_seq", "tgt_seq"})  # cut where the sequence is divided too
COPIED = frozenset({"kv_heads"})  # where there are fewer of them than GPUs, several GPUs hold the same ones
UNEVEN = frozenset({"vocab"})  # rows of a table: the last GPU may hold fewer
JOINED = frozenset({"inner_b_c", "gate_inner_b_c_dt", "q_k_v", "q_k_v_gate"})  # several widths, each divided by itself
ZERO = (0, 1, 2, 3)
ALIGNED = 2  # DeepSpeed pads its flat buffer to a multiple of 2 × GPUs, so that every slice starts on 4 bytes


@dataclass(frozen=True)
class Plan:
    """`tp` GPUs share every layer; `dp` groups compute batches of their own; `zero` is the ZeRO paper's stage.

    With `sp` the GPUs of a group also share, position by position, what cannot be split otherwise. `cp` GPUs share a
    sequence in all of the model, attention too; what ZeRO divides, it divides over them as well."""

    tp: int = 1
    dp: int = 1
    zero: int = 0
    sp: bool = False
    cp: int = 1

    @property
    def gpus(self) -> int:
        return self.tp * self.dp * self.cp

    @property
    def shards(self) -> int:
        """Over how many GPUs ZeRO divides."""
        return self.dp * self.cp

    def part(self, dim: Dim) -> int:
        """How much of a dim one GPU holds; of an uneven one the GPU that holds most."""
        if self.tp == 1 or SPLIT.get(dim.name) != "tp":
            return int(dim.size)
        if dim.name in JOINED and isinstance(dim.size.expression, Sum):
            return sum(self._share(term) for term in dim.size.expression.terms)
        return -(-int(dim.size) // self.tp)

    def _share(self, term: Expression) -> int:
        """Of one width among several: what is for each group is held for one group at the least."""
        leaves = {leaf.name: leaf.value for leaf in _leaves(term)}
        number = prod(leaf.value for leaf in _leaves(term))
        if "state" not in leaves:
            return -(-number // self.tp)
        groups = leaves.get("groups", 1)  # a factor of 1 is left out of a product
        return number // groups * -(-groups // self.tp)

    def size(self, tensor: Tensor) -> int:
        """Elements of a tensor on one GPU."""
        if self.tp == 1:
            return prod(int(dim.size) for dim in tensor.dims)
        number, along = 1, self._along_sequence(tensor)
        for dim in tensor.dims:
            number *= -(-int(dim.size) // self.tp) if along and dim.name in SEQUENCES else self.part(dim)
        return number

    def is_divided(self, tensor: Tensor) -> bool:
        """Whether the GPUs of a tensor-parallel group hold different parts of it, and none of them the same."""
        split = [dim for dim in tensor.dims if SPLIT.get(dim.name) == "tp"]
        return any(dim.name in UNEVEN or self.part(dim) * self.tp == int(dim.size) for dim in split)

    def _along_sequence(self, tensor: Tensor) -> bool:
        """Activations of the residual stream; what has no batch, such as a table of rotations, is whole."""
        if not self.sp or tensor.role not in ("act", "stat", "mask"):
            return False
        names = {dim.name for dim in tensor.dims}
        return "batch" in names and names.isdisjoint(SPLIT)

    def sharded(self, param: Param) -> int:
        """Elements of a parameter on one GPU of FSDP2: rows are dealt out, every GPU allocates the ceiling."""
        rows = 1
        for dim in param.axes[0] if param.axes else ():
            rows *= self.part(dim)
        return -(-rows // self.shards) * (self.size(param) // rows)

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


def _leaves(term: Expression) -> list[Leaf]:
    factors = term.factors if isinstance(term, Product) else (term,)
    return [factor for factor in factors if isinstance(factor, Leaf)]


def _divides(dim: Dim, tp: int) -> bool:
    """Into equal parts; fewer key-value heads than GPUs are copied, if each to as many, and of groups a single one."""
    size, joined = int(dim.size), dim.size.expression
    if dim.name in JOINED and isinstance(joined, Sum):
        groups = [leaf.value for term in joined.terms for leaf in _leaves(term) if leaf.name == "groups"]
        return all(number == 1 or number % tp == 0 for number in groups)
    copied = dim.name in COPIED and size < tp and tp % size == 0
    return dim.name in UNEVEN or copied or size % tp == 0


def plan(tp: int = 1, dp: int = 1, zero: int = 0, sp: bool = False, cp: int = 1) -> Plan:
    """A plan, or what is wrong with it."""
    if sp and tp == 1:
        fact = "sequence parallelism divides over tensor-parallel GPUs, and there is one"
        raise InputError(fact, "say how many GPUs: --tp 8 --sp", field="--sp")
    if zero not in ZERO:
        raise InputError(f"no ZeRO stage {zero}", "choose from: 0, 1, 2, 3", field="--zero")
    if zero and dp * cp == 1:
        hint = f"say how many GPUs: --dp 8 --zero {zero}"
        raise InputError(f"ZeRO stage {zero} divides over data-parallel GPUs, and there is one", hint, field="--zero")
    return Plan(tp, dp, zero, sp, cp)
