"""The weights of a GGUF file as it keeps them: every matrix in the bytes of its own tensor, layer by layer.

Tensors have the same names in all architectures: `blk.3.attn_q.weight`. What no name here matches (norms, biases) takes
its share of the bytes that are left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from archcalc.archs.weights import Stored
from archcalc.ir import Module, walk
from archcalc.places import Facts, Place
from archcalc.plan import Plan

_NAMES = {
    "attention.q": ("attn_q",),
    "attention.k": ("attn_k",),
    "attention.v": ("attn_v",),
    "attention.out": ("attn_output",),
    "attention.q_down": ("attn_q_a",),
    "attention.q_up": ("attn_q_b",),
    "attention.kv_down": ("attn_kv_a_mqa",),
    "attention.kv_up": ("attn_kv_b", "attn_k_b", "attn_v_b"),  # at once, or in two, or both
    "router": ("ffn_gate_inp",),
}
_FUSED = {"attention.q": "attn_qkv", "attention.k": "attn_qkv", "attention.v": "attn_qkv", "ffn.gate": "ffn_up"}


@dataclass(frozen=True)
class FileWeights:
    """What `archcalc.quantisation.Format` is for a format, this is for a file."""

    tensors: Mapping[str, Stored]
    claimed: frozenset[str] = frozenset()
    rest: str = ""
    unknown: str = ""
    source: str = "the file's tensors"

    is_quantised = True
    widened = 0

    @property
    def note(self) -> str:
        """What a reader of bytes must know."""
        return f"the weights are stored as {self.name}"

    @cached_property
    def name(self) -> str:
        """`Q4_K, Q6_K and fp32`, the format of the most weights first."""
        numbers: dict[str, int] = {}
        for stored in self.tensors.values():
            numbers[stored.format] = numbers.get(stored.format, 0) + stored.elements
        *most, last = sorted(numbers, key=lambda name: -numbers[name])
        return f"{', '.join(most)} and {last}" if most else last

    def holds(self, place: Place) -> bool:
        return True

    def total(self, place: Place, model: Facts, plan: Plan) -> int:
        """Bytes of all copies on one GPU."""
        whole = int(place.param.size)
        taken = sum((self._bytes(place, layer) for layer in _layers(place)), Fraction(0))
        return int(taken * plan.size(place.param) / whole)

    def _bytes(self, place: Place, layer: int) -> Fraction:
        elements = int(place.param.size)
        own = [self.tensors[name] for name in _called(place, layer) if name in self.tensors]
        if own:
            return Fraction(sum(stored.bytes for stored in own))
        if fused := self.tensors.get(_fused(place, layer)):
            return Fraction(fused.bytes * elements, fused.elements)
        return elements * (self._matrix if len(place.param.axes) > 1 else self._vector)

    @cached_property
    def _vector(self) -> Fraction:
        """Bytes of a number that is in no matrix."""
        return _each([stored for stored in self.tensors.values() if len(stored.shape) < 2])

    @cached_property
    def _matrix(self) -> Fraction:
        """Bytes of a number of the matrices that no name here matches."""
        return _each([one for name, one in self.tensors.items() if len(one.shape) > 1 and name not in self.claimed])


def file_weights(root: Module, tensors: Mapping[str, Stored]) -> FileWeights:
    """The tensors, and which of them a matrix of the spec is."""
    places = [Place(param, int(copies)) for module, copies in walk(root) for param in module.params.values()]
    claimed = {
        name for place in places for layer in _layers(place) for name in (*_called(place, layer), _fused(place, layer))
    }
    return FileWeights(tensors, frozenset(claimed))


def _each(several: list[Stored]) -> Fraction:
    elements = sum(stored.elements for stored in several)
    return Fraction(sum(stored.bytes for stored in several), elements) if elements else Fraction(4)


def _layers(place: Place) -> Sequence[int]:
    return place.layers or range(place.copies)


def _fused(place: Place, layer: int) -> str:
    return f"blk.{layer}.{_FUSED.get(place.role, '')}.weight"


def _called(place: Place, layer: int) -> tuple[str, ...]:
    """The tensor of a matrix; several, where llama.cpp keeps one in parts."""
    if place.role == "head":
        return ("output.weight",)
    if place.role == "table.token":
        return ("token_embd.weight",)
    kind, _, what = place.role.partition(".")
    if kind == "ffn":
        tail = "_exps" if place.is_expert else "_shexp" if place.is_shared else ""
        return (f"blk.{layer}.ffn_{what}{tail}.weight",)
    return tuple(f"blk.{layer}.{name}.weight" for name in _NAMES.get(place.role, ()))
