"""Bit widths per module: the rules by which some methods store some layers in more bits than others."""

from __future__ import annotations

import re
from dataclasses import replace

from archcalc.storage.checkpoint import Checkpoint, Group
from archcalc.storage.format import Format, Stored
from archcalc.storage.module_names import Names
from archcalc.storage.quantization_config.layouts import Fields, grouped, layout, number, tiled

UNQUANTISED = 16  # bits of a width that is none


def packed(bits: int, group: int, beside: int, *more: Stored) -> Format:
    """Packed integers with a number of extra bits per group, named by their width."""
    return replace(layout(*tiled(bits, group, beside), *more), name=f"int{bits}, {grouped(group)}")


def told(*groups: Group) -> str:
    """Every width there is, once."""
    return " and ".join(dict.fromkeys(group.format.name for group in groups if group.format))


def gptq_layout(bits: int, group: int) -> Format:
    return packed(bits, group, 16 + bits, Stored(32, what="the group of an input", tile=(0, 1)))


def gptq_rules(dynamic: Fields, bits: int, group: int) -> tuple[Group, ...]:
    """GPTQModel's `dynamic`: expressions, the first that matches counts; a minus leaves modules as they are."""
    found = []
    for rule, other in dynamic.items():
        targets = Names((f"re:{rule.removeprefix('-:').removeprefix('+:')}",))
        if rule.startswith("-:"):
            found.append(Group(None, targets))
        else:
            kept = gptq_layout(number(other, "bits", bits), number(other, "group_size", group))
            found.append(Group(kept, targets))
    return tuple(found)


def auto_round_rules(extra: Fields, bits: int, group: int) -> tuple[tuple[Group, ...], tuple[str, ...]]:
    """AutoRound's `extra_config`, whole names before expressions; and the modules that stay as they are."""
    rules, kept = [], []
    for name in sorted(extra, key=_is_expression):
        width, target = number(extra[name], "bits", bits), f"re:.*(?:{name})" if _is_expression(name) else name
        if width >= UNQUANTISED:
            kept.append(target)
        else:
            rules.append(Group(packed(width, number(extra[name], "group_size", group), 16 + width), Names((target,))))
    return tuple(rules), tuple(kept)


def _is_expression(name: str) -> bool:
    return re.fullmatch(r"[\w.-]+", name) is None


def hqq_layout(asked: Fields) -> Format:
    """A scale and a zero of 16 bits for each group."""
    return packed(number(asked, "nbits", 4), number(asked, "group_size", 64), 32)


def hqq_rules(by_layer: Fields) -> tuple[Group, ...]:
    """HQQ's settings for layers by their names, such as `self_attn.q_proj`; layers without any stay as they are."""
    asked = {name: other.get("weight_quant_params", other) for name, other in by_layer.items() if other is not None}
    return tuple(Group(hqq_layout(other), Names((name,))) for name, other in asked.items())


def without_bits(method: str) -> Checkpoint:
    return Checkpoint(method, unknown=f"quantization_config.bits is missing, and {method} has no default width")
