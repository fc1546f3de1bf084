"""Parameters of a transformers class by name, with fused tensors split as in archcalc.

Implementations differ in what they keep as one tensor (q, k and v; gate and up), in which way a matrix lies, and in
axes of one. So a fused tensor becomes its pieces, and shapes are compared sorted, without ones.
"""

from __future__ import annotations

import math
import re
from typing import Any

from archcalc.importers.hf._helpers.weights import Shape, Shapes, Weights
from archcalc.verify.hf.built import weights_of

_QKV = re.compile(r"(.*)\.(qkv_proj|query_key_value|c_attn|Wqkv|qkv)\.(weight|bias)")
_OUT = ("o_proj", "dense", "c_proj", "Wo", "out_proj", "proj")
_TWO = re.compile(r".*(gate_up_proj|\.Wi\.|gate_up_proj_bias|weights_in\.|input_linear\.).*")
DELTA = re.compile(r"(.*linear_attn)\.(in_proj_qkv|in_proj_z|in_proj_b|in_proj_a|[qkvgab]_proj)\.weight")
_WIDE = ("in_proj_qkv", "in_proj_z", "q_proj", "k_proj", "v_proj", "g_proj")


def pieces(module: Any) -> Shapes:
    """Every parameter once, tied ones included once; a fused one as `….qkv_proj.weight[0]`, `[1]`, `[2]`."""
    kept = weights_of(module)
    named = _joined({name: tuple(parameter.shape) for name, parameter in module.named_parameters()}, kept)
    found: Shapes = {}
    for name, shape in named.items():
        parts = taken_apart(name, shape, named, kept)
        labels = [name] if len(parts) == 1 else [f"{name}[{index}]" for index in range(len(parts))]
        found |= {label: part for label, part in zip(labels, parts, strict=True) if 0 not in part}
    return found  # some classes keep tables of no rows


def plain(shape: Shape) -> Shape:
    """A matrix equals its transpose; axes of size 1 are ignored; a convolution counts as a matrix."""
    if len(shape) >= 4:
        shape = (shape[0], math.prod(shape[1:]))
    return tuple(sorted(size for size in shape if size != 1))


def _joined(named: Shapes, kept: list[Weights]) -> Shapes:
    """Merges tensors that archcalc has as one."""
    found: Shapes = {}
    for name, shape in named.items():
        together = joined_by_number(name, kept) or name
        found[together] = shape if together == name else (found.get(together, (0,))[0] + 1, *shape)
    for first, second in (weights.together for weights in kept if weights.together):
        for name in [name for name in found if name.endswith(second)]:
            del found[f"{name.removesuffix(second)}{first}"]
            found[name] = (2, *found[name])
    # The input projections of Gated DeltaNet, which classes store in one, two, four or six tensors.
    joined: Shapes = {}
    for name, shape in found.items():
        if match := DELTA.fullmatch(name):
            name = joined_name(match)
            shape = (shape[0] + joined.get(name, (0,))[0], shape[1])
        joined[name] = shape
    return joined


def joined_by_number(name: str, kept: list[Weights]) -> str | None:
    """Under which a numbered tensor stands with its like; None for one that has no number."""
    patterns = (weights.numbered for weights in kept if weights.numbered)
    return next((re.sub(pattern, "", name) for pattern in patterns if re.search(pattern, name)), None)


def joined_name(match: re.Match[str]) -> str:
    """Under which a projection of a delta net stands with its neighbours."""
    return f"{match[1]}.joined_{'wide' if match[2] in _WIDE else 'narrow'}"


def taken_apart(name: str, shape: Shape, named: Shapes, kept: list[Weights]) -> list[Shape]:
    """Splits a fused tensor into archcalc's pieces; returns others unchanged."""
    for weights in kept:  # as a family says itself
        number = next((number for pattern, number in weights.fused.items() if re.fullmatch(pattern, name)), 0)
        if number:
            return equal_pieces(shape, number)
        if weights.split and (parts := weights.split(name, shape, named)):
            return parts
    if match := _QKV.fullmatch(name):
        return _queries_keys_values(match[1], match[3], shape, named)
    if name.endswith(("in_proj_weight", "in_proj_bias")):  # of torch.nn.MultiheadAttention
        return equal_pieces(shape, 3)
    return _halves(name, shape, named) if _TWO.fullmatch(name) else [shape]


def equal_pieces(shape: Shape, number: int) -> list[Shape]:
    """Of one size, one above the other."""
    return [(shape[0] // number, *shape[1:])] * number


def _queries_keys_values(module: str, kind: str, shape: Shape, named: Shapes) -> list[Shape]:
    """Queries have the input width of the output projection; keys and values share the rest."""
    out = next(named[f"{module}.{name}.weight"] for name in _OUT if f"{module}.{name}.weight" in named)
    axis, weight = 0, named.get(f"{module}.c_attn.weight")
    if kind == "weight" and module.endswith(("attn", "attention")) and weight:
        # A c_attn is a Linear (out, in), or a Conv1D (in, out), which is as wide as its bias at the end.
        bias = named.get(f"{module}.c_attn.bias", (0,))
        axis = int(weight[0] != bias[0] or weight[1] == bias[0])
    queries = out[0] if axis else out[1]
    fused = shape[axis] if kind == "weight" else shape[0]
    both = fused == 2 * queries and "cross" in module
    widths = [queries, queries] if both else [queries, (fused - queries) // 2, (fused - queries) // 2]
    rest = () if kind == "bias" else (shape[1 - axis],)
    return [(width, *rest) for width in widths]


def _halves(name: str, shape: Shape, named: Shapes) -> list[Shape]:
    """Gate and up stand in one tensor, one above the other, or side by side where experts are kept transposed."""
    down = named.get(name.replace("gate_up_proj", "down_proj"), ())
    beside = name.endswith("_bias") or (len(shape) == 3 and shape[-1] == 2 * down[-2] and shape[-2] == down[-1])
    axis = len(shape) - 1 if beside else max(len(shape) - 2, 0)
    half = (*shape[:axis], shape[axis] // 2, *shape[axis + 1 :])
    return [half, half]
