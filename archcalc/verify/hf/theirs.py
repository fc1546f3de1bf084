"""transformers' side of the comparison, block by block, under the same headings as archcalc's."""

from __future__ import annotations

from typing import Any

from torch import nn

from archcalc.importers.hf._helpers.weights import Shape, Weights
from archcalc.verify.hf.built import Built, needed, weights_of
from archcalc.verify.hf.forward import Forward
from archcalc.verify.hf.ours import Block, Layer
from archcalc.verify.hf.tensors import DELTA, joined_by_number, joined_name, pieces, taken_apart

RELATIVE = "relative_attention_bias"  # a table that stands in the first block, and serves all


def block_names(module: Any) -> list[str]:
    """Blocks are the layers that support gradient checkpointing, or else the items of module lists."""
    layer = needed("transformers.modeling_layers").GradientCheckpointingLayer
    found = [name for name, inner in module.named_modules() if isinstance(inner, layer)]
    if found:
        return [name for name in found if not any(name.startswith(f"{other}.") for other in found)]
    lists = [name for name, inner in module.named_modules() if type(inner) is nn.ModuleList]
    innermost = [name for name in lists if not any(other.startswith(f"{name}.") for other in lists)]
    return [name for name, _ in module.named_modules() if name.rpartition(".")[0] in innermost]


def blocks_of(built: Built, *, one_table: bool) -> list[Block]:
    """Every parameter under its block, the last one for those outside; `one_table` of relative positions for all."""
    blocks = [Block(name) for name in [*block_names(built.module), ""]]
    for name, shape in pieces(built.module).items():
        _around(name, blocks, one_table).tensors[name] = shape
    return blocks


def note_forward(blocks: list[Block], built: Built, seen: Forward, *, one_table: bool) -> None:
    """Results of a forward pass: output shapes of blocks and layers, and FLOPs of blocks."""
    for block in blocks:
        block.output, block.flops = seen.outputs.get(block.name, ()), _flops(block.name, seen)
    blocks[-1].flops -= sum(block.flops for block in blocks[:-1])
    named = {name: tuple(p.shape) for name, p in built.module.named_parameters(remove_duplicate=False)}
    kept = weights_of(built.module)
    for name, module in built.module.named_modules():
        _around(name, blocks, one_table).layers += _layers(name, module, seen, named, kept)


def _flops(name: str, seen: Forward) -> int:
    """Without what nothing reads."""
    unused = sum(flops for (inner, _), flops in seen.unused.items() if not name or f"{inner}.".startswith(f"{name}."))
    return seen.flops.get(name, 0) - unused


def _around(name: str, blocks: list[Block], one_table: bool) -> Block:
    if one_table and RELATIVE in name:
        return blocks[-1]
    return next(block for block in blocks if not block.name or f"{name}.".startswith(f"{block.name}."))


def _layers(name: str, module: Any, seen: Forward, named: dict[str, Shape], kept: list[Weights]) -> list[Layer]:
    """A module with a weight of its own that was called; one that fuses several as so many."""
    key = f"{name}.weight"
    is_expert = type(module).__name__.endswith("Experts") or ".experts." in name
    if name not in seen.outputs or joined_by_number(key, kept) or is_expert:
        return []
    output = seen.outputs[name]
    if isinstance(module, nn.Conv1d | nn.Conv2d):  # channels last
        output = (output[0], *output[2:], output[1])
    numbered = [inner for inner in named if joined_by_number(inner, kept) == name]
    if numbered:
        return [Layer(name, (len(numbered), *named[numbered[0]]), output)]
    if 0 in named.get(key, (0,)):
        return []
    if DELTA.fullmatch(key):
        return _delta(key, output, named)
    parts = taken_apart(key, named[key], named, kept)
    if len(parts) == 1:
        return [Layer(name, named[key], output, type(module).__name__.endswith("Embedding"))]
    cut = [next(size for size, full in zip(part, named[key], strict=True) if size != full) for part in parts]
    each = enumerate(zip(parts, cut, strict=True))  # the axis along which it was cut is the one that comes out
    return [Layer(f"{name}[{index}]", part, (*output[:-1], width)) for index, (part, width) in each]


def _delta(key: str, output: Shape, named: dict[str, Shape]) -> list[Layer]:
    """Merges the input projections of Gated DeltaNet under the name of the first."""
    matches = {other: joined_name(match) for other in named if (match := DELTA.fullmatch(other))}
    same = [other for other in matches if matches[other] == matches[key]]
    width = sum(named[other][0] for other in same)
    return [Layer(matches[key], (width, named[key][1]), (*output[:-1], width))] if key == same[0] else []
