"""The header of a safetensors file: every tensor's name, format and shape, without reading a weight.

Eight bytes say how long the header is, then comes JSON, then the numbers. Whatever a header claims is checked against
the file before it is believed: lengths, shapes, and that tensors lie side by side without gaps or overlaps.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

from archcalc.core.errors import InputError
from archcalc.importers import weight_names
from archcalc.spec.stored_tensors import BITS, Stored, each_once

LONGEST = 100_000_000  # bytes of a header; the format itself allows no more
AXES = 64  # more than any library gives a tensor
FORMATS = {  # every Dtype of safetensors/src/tensor.rs
    "F64": "fp64",
    "F32": "fp32",
    "F16": "fp16",
    "BF16": "bf16",
    "F8_E4M3": "fp8",
    "F8_E5M2": "fp8_e5m2",
    "F8_E4M3FNUZ": "fp8_e4m3fnuz",
    "F8_E5M2FNUZ": "fp8_e5m2fnuz",
    "F8_E8M0": "fp8_e8m0",
    "F6_E2M3": "fp6_e2m3",
    "F6_E3M2": "fp6_e3m2",
    "F4": "fp4",
    "C64": "complex64",
    "BOOL": "bool",
    **{f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"U{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}

Tensors = dict[str, Stored]


def read(file: Path) -> Tensors:
    with file.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        weight_names.check_fetched(stream.read(FIRST))
        stream.seek(0)
        found = header(stream, size)
        return _with_shapes(tensors(found, size), found, stream)


FIRST = 64  # bytes, which tell what a file is


def is_pointer(file: Path) -> bool:
    """Whether Git LFS has left its pointer in the place of a file."""
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return stream.read(FIRST).startswith(weight_names.POINTER)


_SHAPE, _PACKED = ".weight_shape", ".weight_packed"  # of compressed-tensors: two int64, and the words they describe


def _with_shapes(held: Tensors, found: tuple[dict[str, Any], int], stream: BinaryIO) -> Tensors:
    """Packed tensors with the number of weights that their file says in 16 bytes beside them."""
    entries, start = found
    packed = dict(held)
    for name, shape in held.items():
        whole = name.removesuffix(_SHAPE) + _PACKED
        if name.endswith(_SHAPE) and shape.format == "int64" and shape.shape == (2,) and whole in held:
            stream.seek(start + entries[name]["data_offsets"][0])
            rows, columns = (int.from_bytes(stream.read(8), "little", signed=True) for _ in range(2))
            weights, bits = rows * columns, 8 * held[whole].bytes
            if rows > 0 and columns > 0 and weights <= bits <= 16 * weights:  # a bit to 16 for each, or not believed
                packed[whole] = replace(held[whole], weights=weights)
    return packed


def header(stream: BinaryIO, size: int) -> tuple[dict[str, Any], int]:
    """The JSON object at the start of a file of `size` bytes, and where the numbers begin."""
    length = int.from_bytes(stream.read(8), "little")
    if not 2 <= length <= min(LONGEST, size - 8):
        raise _broken(f"its header claims to be {length:,} bytes long, and the file has {size:,}")
    raw = stream.read(length)
    if len(raw) < length:
        raise _broken("it was cut while it was read")
    try:
        found = json.loads(raw, object_pairs_hook=lambda pairs: each_once(pairs, _broken))
    except (ValueError, RecursionError):
        raise _broken("its header is not JSON") from None
    if not isinstance(found, dict):
        raise _broken("its header is not a JSON object")
    return found, length + 8


def tensors(found: tuple[dict[str, Any], int], size: int | None = None) -> Tensors:
    """What a header lists, in the order of the file; `size` is the whole file's, where it is known."""
    entries, start = found
    spans = {name: _span(name, entry) for name, entry in entries.items() if name != "__metadata__"}
    reached = 0
    for name in sorted(spans, key=lambda name: spans[name]):
        begin, end = spans[name]
        if begin != reached:
            raise _broken(f"{name} begins at {begin:,}, where {reached:,} was expected")
        reached = end
    if size is not None and start + reached != size:
        raise _broken(f"its tensors end at byte {start + reached:,}, the file at {size:,}")
    return {name: _stored(name, entries[name], spans[name]) for name in spans}


def _span(name: str, entry: Any) -> tuple[int, int]:
    offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
    if not (isinstance(offsets, list) and len(offsets) == 2 and all(_is_count(offset) for offset in offsets)):
        raise _broken(f"{name} has no data_offsets")
    begin, end = offsets
    if begin > end:
        raise _broken(f"{name} ends before it begins")
    return begin, end


def _stored(name: str, entry: dict[str, Any], span: tuple[int, int]) -> Stored:
    kind, shape = entry.get("dtype"), entry.get("shape")
    if not isinstance(kind, str):
        raise _broken(f"{name} has no dtype")
    if kind not in FORMATS:
        raise InputError(f"{name} has the unknown dtype {kind[:40]}")
    if not (isinstance(shape, list) and len(shape) <= AXES and all(_is_count(size) for size in shape)):
        raise _broken(f"{name} has no shape")
    taken = span[1] - span[0]
    bits = prod(shape) * BITS[FORMATS[kind]]
    if bits != 8 * taken:
        wanted = f"{bits // 8:,}" if bits < 2**64 else "more than any file has"
        raise _broken(f"{name} takes {taken:,} bytes, but {shape} of {kind} takes {wanted}")
    return Stored(FORMATS[kind], tuple(shape), taken)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _broken(why: str) -> InputError:
    return InputError(f"not a whole safetensors file: {why}", "download it again")


def sharded(index: Mapping[str, Any], folder: Path) -> Tensors:
    """All shards that an index names, each by its own header."""
    return joined(index, lambda shard: read(_inside(folder, shard)))


def _inside(folder: Path, shard: str) -> Path:
    if not (folder / shard).is_file():
        raise InputError(f"the shard {shard} is missing", f"download it into {folder}")
    return folder / shard


def shards(index: Mapping[str, Any]) -> list[str]:
    """The files that an index names. They stand beside it: an index must not lead elsewhere."""
    listed = index.get("weight_map")
    if not isinstance(listed, dict) or not all(isinstance(shard, str) for shard in listed.values()):
        raise InputError("the index has no weight_map", "download it again")
    for shard in set(listed.values()):
        if Path(shard).name != shard:
            fact = f"the index names {shard}, which is not beside it"
            raise InputError(fact, "shards and index belong in one folder")
    return sorted(set(listed.values()))


def joined(index: Mapping[str, Any], held_by: Callable[[str], Tensors]) -> Tensors:
    """What the shards hold together, which must be what the index lists."""
    names = shards(index)
    for name in names:  # an index may list pickles
        if not name.endswith(".safetensors") and (kind := weight_names.kind(name)):
            raise InputError(f"the index lists {name}, {kind}", weight_names.CONVERT)
    found = together(names, held_by)
    missing = sorted(set(index["weight_map"]) - set(found))
    if missing:
        raise InputError(f"the index lists {missing[0]}, which no shard holds", "download the shards again")
    return found


def together(names: Sequence[str], held_by: Callable[[str], Tensors]) -> Tensors:
    """What several files hold, each tensor in one of them."""
    found: Tensors = {}
    for name in names:
        held = held_by(name)
        if twice := found.keys() & held.keys():
            raise InputError(f"{min(twice)} lies in {name} and in another shard", "download the shards again")
        found.update(held)
    return found
