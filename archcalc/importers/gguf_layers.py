"""Whether a spec holds in every layer as many numbers as a GGUF file does; if not, which tensors differ."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from archcalc.core.ir import Module, walk
from archcalc.spec.stored_tensors import Stored
from archcalc.storage.places import Place

if TYPE_CHECKING:
    from archcalc.importers.gguf_config import Facts

Group = tuple[str, int]  # `enc`, `dec` or nothing, and a layer's number
Groups = dict[Group, list[tuple[str, int]]]  # tensors by name, with how many numbers they hold
OUTSIDE: Group = ("", -1)  # of all layers

_LAYER = re.compile(r"(?:(enc|dec)\.)?blk\.(\d{1,9})\.(.+)")
_STACKS = {"encoder": "enc", "decoder": "dec"}
_CONSTANTS = re.compile(r"(.*\.)?(rope_freqs|rope_factors_long|rope_factors_short)\.weight")
_STEERING = re.compile(r".*\.exp_probs_b(\.bias)?")
_SCALES = re.compile(r".*\.(scale|input_scale)")  # of quantised matrices, such as NVFP4's
_AT_ONCE, _IN_PARTS = "attn_kv_b.weight", ("attn_k_b.weight", "attn_v_b.weight")  # of latent attention
_MOST_NAMED = 4


def parameters(tensors: Mapping[str, Stored]) -> dict[str, Stored]:
    """Those tensors that are parameters, each once: ik_llama.cpp keeps some projections a second time, in parts."""
    twice = any(name.endswith(_AT_ONCE) for name in tensors)
    left_out, others = _IN_PARTS if twice else (), (_CONSTANTS, _STEERING, _SCALES)
    kept = [name for name in tensors if not any(pattern.fullmatch(name) for pattern in others)]
    return {name: tensors[name] for name in kept if not name.endswith(left_out)}


def group_of(name: str, facts: Facts) -> Group:
    """Where a tensor of the file stands."""
    match = _LAYER.fullmatch(name)
    if not match or match[3] in facts.entry.get("outside", ()):
        return OUTSIDE
    return match[1] or "", int(match[2])


def places(root: Module) -> list[Place]:
    """Every parameter of a spec."""
    return [Place(param, int(copies)) for module, copies in walk(root) for param in module.params.values()]


def groups_of(place: Place, facts: Facts) -> list[Group]:
    """Where the copies of a parameter of the spec stand in the file."""
    stack = place.param.owner.path.split(".")[0]
    if stack == "mtp":
        return [("", number) for number in facts.further]
    name = _STACKS.get(stack, "") if facts.has_two_stacks else ""
    return [(name, layer) for layer in place.layers] or [OUTSIDE] * place.copies


def difference(root: Module, facts: Facts, without: Collection[int] = ()) -> str:
    """Empty where every layer agrees, but for those `without` which the spec is compared; else how many do not, and the
    tensors of the first that one side alone has."""
    spec: Groups = defaultdict(list)
    for place in places(root):
        for group in groups_of(place, facts):
            spec[group].append((f"{place.param.owner.path}.{place.param.name}", int(place.param.size)))
    file = _file(facts)
    steering: Counter[Group] = Counter()  # balances the load of experts: some classes declare it a parameter
    for name, stored in facts.header.tensors.items():
        steering[group_of(name, facts)] += stored.elements if _STEERING.fullmatch(name) else 0
    unlike = [
        group
        for group in sorted({*spec, *file})
        if group[1] not in without and _sum(spec[group]) not in (_sum(file[group]), _sum(file[group]) + steering[group])
    ]
    if not unlike:
        return ""
    ours, theirs = spec[unlike[0]], file[unlike[0]]  # without tensors of one size, which are taken to be the same
    told = [*_alone(theirs, ours, "in the file alone"), *_alone(ours, theirs, "missing from the file")]
    return "; ".join(told) + (f"; {len(unlike) - 1:,} more layers differ" if len(unlike) > 1 else "")


def _file(facts: Facts) -> Groups:
    """With what the header keeps as facts: a number for each layer."""
    found: Groups = defaultdict(list)
    for name, stored in parameters(facts.header.tensors).items():
        found[group_of(name, facts)].append((name, stored.elements))
    beside = [(key, 1) for key in facts.entry.get("in_header", ()) if key in facts.header.facts]
    for group in [group for group in found if group != OUTSIDE]:
        found[group] += beside
    return found


def _sum(several: list[tuple[str, int]]) -> int:
    return sum(elements for _, elements in several)


def _alone(these: list[tuple[str, int]], those: list[tuple[str, int]], where: str) -> list[str]:
    left = Counter(elements for _, elements in those)
    alone = []
    for name, elements in these:
        left[elements] -= 1
        if left[elements] < 0:
            alone.append(f"{name} ({elements:,} numbers)")
    more = f" and {len(alone) - _MOST_NAMED} more" if len(alone) > _MOST_NAMED else ""
    return [f"{where}: {', '.join(alone[:_MOST_NAMED])}{more}"] if alone else []
