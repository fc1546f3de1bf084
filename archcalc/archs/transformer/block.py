"""A block: its parts one after the other, or beside each other, with the norms where the spec places them."""

from __future__ import annotations

from archcalc.archs.transformer.context import Context
from archcalc.archs.transformer.parts.part import Part, normed
from archcalc.core.ir import Module, Tensor
from archcalc.layers.dropout import dropped


def run_block(m: Module, x: Tensor, context: Context, parts: list[Part], parallel: str | None = None) -> Tensor:
    """Sequential: x + part(x) for each part in turn; parallel: x + one part(x) + another part(x)."""
    names = [_name(parts, index) for index in range(len(parts))]
    if parallel:
        return _in_parallel(m, x, context, dict(zip(names, parts, strict=True)), parallel)
    for name, part in zip(names, parts, strict=True):
        branch = normed(m[f"{name}_norm"], x, part.norm) if part.norm.place in ("pre", "sandwich") else x
        x = _added(m, x, _branch(m, name, branch, context, part), name, part)
    return x


def _name(parts: list[Part], index: int) -> str:
    """`ffn`, and `ffn_2` if the same part occurs twice."""
    earlier = sum(parts[index].name == other.name for other in parts[:index])
    return f"{parts[index].name}_{earlier + 1}" if earlier else parts[index].name


def _branch(m: Module, name: str, x: Tensor, context: Context, part: Part) -> Tensor:
    branch = part.run(m[name], x, context)
    if part.layer_scale:
        scale = m[f"{name}_scale"]
        branch = scale.record("multiply", branch, scale.param("weight", x.dims[-1]))
    branch = dropped(m, branch, part.dropout, context.work, part.slot or part.name)
    return normed(m[f"{name}_norm_out"], branch, part.norm) if part.norm.place in ("out", "sandwich") else branch


def _added(m: Module, x: Tensor, branch: Tensor, name: str, part: Part) -> Tensor:
    if part.norm.place != "post":
        return m.record("add", x, branch, name=f"{name}_add", note="residual")
    m[f"{name}_norm"].words.title = "Add & Norm"
    return normed(m[f"{name}_norm"], m.record("add", x, branch), part.norm)


def _in_parallel(m: Module, x: Tensor, context: Context, parts: dict[str, Part], parallel: str) -> Tensor:
    """Every parallel part takes the same x, through a shared norm or its own."""
    shared = normed(m["norm"], x, next(iter(parts.values())).norm) if parallel == "shared" else None
    branches = [
        _branch(m, name, shared or normed(m[f"{name}_norm"], x, part.norm), context, part)
        for name, part in parts.items()
    ]
    return m.record("add", x, *branches, name="add", note="residual and all branches")
