"""Layouts shared by several quantisation methods: groups along the inputs, scales of rows, tiles or matrices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from archcalc.storage.checkpoint import Checkpoint, Group
from archcalc.storage.format import Format, Stored
from archcalc.storage.module_names import Names

Fields = dict[str, Any]
INPUTS = Stored(32, what="a scale of the inputs", tile=(0, 0))  # of activations, if static quantisation stores one

PACKED = 8  # bits of the widest integers that are packed
GROUP = 8  # numbers: every group of a checkpoint is some of them, 16 to 1,024 in GPTQModel, 8 and more in HQQ


def made(name: str, stores: tuple[Stored, ...], config: Fields, **more: Any) -> Checkpoint:
    """Every linear layer stored in the same format, but for those that the config excludes."""
    return Checkpoint(name, (Group(layout(*stores)),), **{"skipped": skipped(config), **more})


def layout(*stores: Stored) -> Format:
    return Format("stored", stores, "linear")


def tiled(bits: int, group: int, beside: int) -> tuple[Stored, ...]:
    """Packed weights, and a number of bits for each group of inputs; without a group size, all inputs are one group."""
    if not 1 <= bits <= PACKED:
        raise ValueError(f"{bits} bits, where packed integers have 1 to {PACKED}")
    if group > 0 and group % GROUP:
        raise ValueError(f"groups of {group}, where kernels read whole groups of {GROUP}")
    return Stored(bits, what="the weight"), Stored(beside, what="scale and zero", tile=(1, max(group, 0)))


def grouped(group: int) -> str:
    return f"group {group}" if group > 0 else "one scale per row"


def float8(strategy: str, bits: int, block: Any = None) -> tuple[tuple[Stored, ...], str]:
    """Eight bits and a scale: of a matrix, a row, or a tile; with the words for it."""
    rows, columns = block or (0, 0)
    if block and not all(isinstance(side, int) and side > 0 for side in (rows, columns)):
        raise ValueError(f"blocks of {rows} × {columns}")
    tiles = {"tensor": (0, 0), "channel": (1, 0), "block": (int(rows), int(columns))}
    told = {"tensor": "one scale per matrix", "channel": "one scale per row", "block": f"blocks of {rows} × {columns}"}
    return (Stored(8, what="the weight"), Stored(bits, what="a scale", tile=tiles[strategy])), told[strategy]


WIDEST = 64  # bits of one number
LARGEST = 2**20  # of a group


def number(config: Fields, key: str, otherwise: int, *, least: int = -1) -> int:
    """Widths are of a few bits; a group of −1 is a whole row."""
    value = config.get(key)
    if value is None:
        return otherwise
    least, most = (0, WIDEST) if "bit" in key else (least, LARGEST)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{key}: {value!s:.40}")
    return value


def words(value: Any) -> tuple[str, ...]:
    """A list of names, or one name."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(str(word) for word in value)


def skipped(config: Fields) -> Names:
    """Modules excluded from quantisation, under the field names that methods use for the list."""
    keys = ("modules_to_not_convert", "llm_int8_skip_modules", "ignore", "ignored_layers", "exclude_modules", "exclude")
    return Names(tuple(word for key in keys for word in words(config.get(key))))


def packed(bits: int, group: int, beside: int, *more: Stored) -> Format:
    """Packed integers with a number of extra bits per group, named by their width."""
    return replace(layout(*tiled(bits, group, beside), *more), name=f"int{bits}, {grouped(group)}")


def told(*groups: Group) -> str:
    """Every width there is, once."""
    return " and ".join(dict.fromkeys(group.format.name for group in groups if group.format))


def gptq_layout(bits: int, group: int) -> Format:
    return packed(bits, group, 16 + bits, Stored(32, what="the group of an input", tile=(0, 1)))


def hqq_layout(asked: Fields) -> Format:
    """A scale and a zero of 16 bits for each group."""
    return packed(number(asked, "nbits", 4), number(asked, "group_size", 64), 32)


def without_bits(method: str) -> Checkpoint:
    return Checkpoint(method, unknown=f"quantization_config.bits is missing, and {method} has no default width")
