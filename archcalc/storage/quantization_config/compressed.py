"""compressed-tensors: groups of modules, each with a width, a strategy for its scales and a way to pack."""

from __future__ import annotations

from archcalc.storage.checkpoint import Checkpoint, Group
from archcalc.storage.format import Stored
from archcalc.storage.module_names import Names
from archcalc.storage.named_formats import weight_format
from archcalc.storage.quantization_config.layouts import INPUTS, Fields, float8, layout, number, words


def compressed(config: Fields) -> Checkpoint:
    """Targets are `Linear`, names, or expressions; the head is quantised unless it is ignored."""
    groups, told = [], []
    for group in (config.get("config_groups") or {}).values():
        asked = group.get("weights")
        if not asked:
            continue
        name, stores = _weights(asked, str(group.get("format") or config.get("format") or ""))
        told.append(name)
        if not stores:
            return Checkpoint(f"compressed-tensors {name}", unknown=f"archcalc does not know how it stores {name}")
        inputs = group.get("input_activations")
        is_static = isinstance(inputs, dict) and inputs.get("dynamic") is not True
        made = layout(*stores, *((INPUTS,) if is_static else ()))
        groups.append(Group(made, Names(words(group.get("targets")) or ("Linear",))))
    name = f"compressed-tensors {' and '.join(dict.fromkeys(told)) or 'without quantised weights'}"
    return Checkpoint(name, tuple(groups), Names(words(config.get("ignore"))), head=True)


def _weights(asked: Fields, packing: str) -> tuple[str, tuple[Stored, ...]]:
    """Its name for users, and the stored layout; None if the layout is unknown."""
    bits, kind = number(asked, "num_bits", 8), str(asked.get("type", "int"))
    strategy, group = str(asked.get("strategy") or "tensor"), number(asked, "group_size", 0)
    if kind == "float" and bits == 4:
        for name, size in (("nvfp4", 16), ("mxfp4", 32)):
            if packing.startswith(name):
                return f"{name}, group {size}", weight_format(name).stores
        return "fp4", ()
    if kind == "float" and bits == 8 and strategy in ("tensor", "channel", "block"):
        stores, told = float8(strategy, 16, asked.get("block_structure"))
        return f"fp8, {told}", stores
    if kind == "int" and strategy in ("tensor", "channel", "group"):
        return _integers(asked, bits, strategy, group)
    return f"{kind}{bits} by {strategy}", ()


def _integers(asked: Fields, bits: int, strategy: str, group: int) -> tuple[str, tuple[Stored, ...]]:
    """Packed into words below 8 bits, with the shape beside them; a zero for each scale unless symmetric."""
    tile = {"tensor": (0, 0), "channel": (1, 0), "group": (1, group)}[strategy]
    beside = 16 + (0 if asked.get("symmetric", True) else bits)
    shape = (Stored(128, what="the shape", tile=(0, 0)),) if bits < 8 else ()
    index = (Stored(32, what="the group of an input", tile=(0, 1)),) if asked.get("actorder") == "group" else ()
    told = {"tensor": "one scale per matrix", "channel": "one scale per row", "group": f"group {group}"}[strategy]
    stores = (Stored(bits, what="the weight"), Stored(beside, what="scale and zero", tile=tile), *shape, *index)
    return f"int{bits}, {told}", stores
