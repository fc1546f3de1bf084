"""The weights of a GGUF file as it keeps them: every parameter in the bytes of its own tensor, layer by layer.

Tensors have the same names in all architectures: `blk.3.attn_q.weight`. A tensor that holds several matrices is divided
among them; what no name here matches goes by its size; and whatever else a layer of the file holds is shared out, so
that the sum is that of the file to the byte.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from archcalc.core.ir import Module, Param
from archcalc.core.mesh import Plan
from archcalc.core.roles import CROSS, SHARED, Role
from archcalc.importers.gguf_config import Facts as Header
from archcalc.importers.gguf_layers import OUTSIDE, Group, group_of, groups_of, places
from archcalc.spec.stored_tensors import Stored
from archcalc.storage.places import Facts, Place

_STANDS = re.compile(r"^(?:(?:enc|dec)\.)?(?:blk\.\d+\.)?")  # where a tensor stands, before what it is called
SEVERAL = "several"  # formats of one parameter in one layer, or none
Key = tuple[str, str, tuple[int, ...]]  # a parameter's module, its name and its shape

_NAMES = {  # of a matrix by what it does: the tensors that hold it, or else those that hold it with others
    Role.ATTENTION_Q: (("attn_q",), ("attn_qkv",)),
    Role.ATTENTION_K: (("attn_k",), ("attn_qkv",)),
    Role.ATTENTION_V: (("attn_v",), ("attn_qkv",)),
    Role.ATTENTION_OUT: (("attn_output",), ("attn_o",)),
    Role.ATTENTION_Q_DOWN: (("attn_q_a",),),
    Role.ATTENTION_Q_UP: (("attn_q_b",),),
    Role.ATTENTION_KV_DOWN: (("attn_kv_a_mqa",),),
    Role.ATTENTION_KV_UP: (("attn_kv_b", "attn_k_b", "attn_v_b"),),  # at once, or in two, or both
    Role.ROUTER: (("ffn_gate_inp",),),
    Role.FFN_GATE: (("ffn_gate",), ("ffn_gate_up",), ("ffn_up",)),
    Role.FFN_UP: (("ffn_up",), ("ffn_gate_up",)),
    Role.FFN_DOWN: (("ffn_down",),),
    Role.HEAD: (("output",),),
    Role.CLASSIFIER: (("output",),),
    Role.TOKEN_TABLE: (("token_embd",),),
    Role.POSITION_TABLE: (("position_embd",),),
    Role.TYPE_TABLE: (("token_types",),),
}


@dataclass(frozen=True)
class FileWeights:
    """The counterpart of `archcalc.storage.format.Format` for a file of mixed formats."""

    tensors: Mapping[str, Stored]
    taken: Mapping[Key, int] = field(default_factory=dict)
    formats: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # of each parameter, in how many layers
    in_layers: Mapping[tuple[Key, int], Fraction] = field(default_factory=dict)  # of `taken`, by the layer's number
    rest: str = ""
    unknown: str = ""
    source: str = "the file's tensors"

    is_quantised = True
    has_buffers = True
    dequantised_copies = 0
    estimate = ""
    layout = ""
    file_kind = "gguf"

    @property
    def note(self) -> str:
        """The note about the format that a user needs to interpret the bytes."""
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
        """Bytes of all copies of a parameter on one GPU."""
        whole = int(place.param.size)
        taken = Fraction(self.taken.get(_key(place.param), place.copies * whole * self._each))
        if place.only is not None:
            taken = sum(
                (self.in_layers.get((_key(place.param), layer), Fraction(0)) for layer in place.only), Fraction(0)
            )
        return int(taken * plan.size(place.param) / whole)

    @cached_property
    def _each(self) -> Fraction:
        """Bytes per number for tensors that are not in the file, such as an adapter."""
        numbers = sum(stored.elements for stored in self.tensors.values())
        return Fraction(sum(stored.bytes for stored in self.tensors.values()), max(numbers, 1))


def file_weights(root: Module, header: Header) -> FileWeights:
    """Assigns every tensor of the file to parameters of the spec."""
    spec: dict[Group, list[Place]] = defaultdict(list)
    for place in places(root):
        for group in groups_of(place, header):
            spec[group].append(place)
    file: dict[Group, dict[str, Stored]] = defaultdict(dict)
    for name, stored in header.header.tensors.items():
        group = group_of(name, header)
        file[group if spec[group] else OUTSIDE][name] = stored
    taken = {_key(place.param): Fraction(0) for several in spec.values() for place in several}
    in_layers: dict[tuple[Key, int], Fraction] = defaultdict(Fraction)
    formats: dict[str, Counter[str]] = defaultdict(Counter)
    for group, tensors in file.items():
        owners = _owners(spec[group], tensors)
        for name, stored in tensors.items():
            here = owners[name] or spec[group]
            whole = sum(int(place.param.size) for place in here)
            for place in here:
                share = Fraction(stored.bytes * int(place.param.size), whole)
                taken[_key(place.param)] += share
                in_layers[_key(place.param), group[1]] += share
        for place in spec[group]:
            held = {stored.format for name, stored in tensors.items() if place in owners[name]}
            stored_as = held.pop() if len(held) == 1 else SEVERAL
            formats[f"{place.param.owner.path}.{place.param.name}"][stored_as] += 1
    # of parameters that use one format per layer, though it may differ between layers
    known = {path: dict(layers) for path, layers in formats.items() if SEVERAL not in layers}
    return FileWeights(header.header.tensors, _whole(taken), known, in_layers)


def _owners(here: list[Place], tensors: dict[str, Stored]) -> dict[str, list[Place]]:
    """The parameters stored in each tensor; parameters without a match share the remaining tensors."""
    owners: dict[str, list[Place]] = {name: [] for name in tensors}
    left = [place for place in here if not _claim(place, tensors, owners)]
    free: dict[int, list[str]] = defaultdict(list)
    for name, stored in tensors.items():
        if not owners[name]:
            free[stored.elements].append(name)
    for place in list(left):
        if same := free[int(place.param.size)]:
            owners[same.pop(0)].append(place)
            left.remove(place)
    return {name: owners[name] or left for name in tensors}


def _claim(place: Place, tensors: dict[str, Stored], owners: dict[str, list[Place]]) -> bool:
    """Assign to a parameter the tensors with a matching name, if there are any."""
    role = place.role
    before = "cross_" if role in CROSS else ""
    behind = "_shexp" if role in SHARED else ""
    behind = "_exps" if role.is_expert else behind  # routed experts are stacked; the shared expert has its own tensor
    for likely in _NAMES.get(role.plain, ()):
        names = {f"{before}{name}{behind}" for name in likely}
        # `attn_q` for `blk.3.attn_q.weight`; the `attn_q_b` of an indexer is not that of attention
        found = [name for name in tensors if _STANDS.sub("", name).removesuffix(".weight") in names]
        for name in (one for one in found if one.endswith(".weight")):
            owners[name].append(place)
        if found:
            return True
    return False


def _whole(taken: dict[Key, Fraction]) -> dict[Key, int]:
    """Rounds to whole bytes with the same sum, carrying each remainder to the next."""
    found, before = {}, Fraction(0)
    for key, share in taken.items():
        found[key] = int(before + share) - int(before)
        before += share
    return found


def _key(param: Param) -> Key:
    return param.owner.path, param.name, param.shape
