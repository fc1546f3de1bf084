"""A block: its parts one after the other, or beside each other, with the norms where the spec places them."""

from __future__ import annotations

from dataclasses import replace

from archcalc.archs.transformer.context import Context
from archcalc.archs.transformer.parts.part import Part, normed
from archcalc.core.ir import Module, Tensor
from archcalc.layers.dropout import dropped
from archcalc.layers.streams import mixed, returned


def run_block(
    m: Module, x: Tensor, context: Context, parts: list[Part], parallel: str | None = None, rounds: int = 0
) -> Tensor:
    """Sequential: x + part(x) for each part in turn; parallel: x + one part(x) + another part(x), where every part
    takes the same x, through a shared norm or its own. With `rounds`, x is several streams, mixed around each part."""
    shared = normed(m["norm"], x, parts[0].norm) if parallel == "shared" else None
    branches: list[Tensor] = []
    for index, part in enumerate(parts):
        earlier = sum(part.name == other.name for other in parts[:index])
        name = f"{part.name}_{earlier + 1}" if earlier else part.name
        mixing = mixed(m[f"{name}_streams"], x, rounds) if rounds else None
        branch = mixing.read if mixing else shared or x
        if part.norm.place in ("pre", "sandwich") and not shared:
            branch = normed(m[f"{name}_norm"], branch, part.norm)
        branch = part.run(m[name], branch, replace(context, residual=x))
        if part.layer_scale:
            scale = m[f"{name}_scale"]
            branch = scale.record("multiply", branch, scale.param("weight", x.dims[-1]))
        branch = dropped(m, branch, part.dropout, context.work, part.slot or part.name)
        if part.norm.place in ("out", "sandwich"):
            branch = normed(m[f"{name}_norm_out"], branch, part.norm)
        if mixing:
            x = returned(m[f"{name}_streams"], x, branch, mixing)
        elif parallel:
            branches.append(branch)
        elif part.norm.place == "post":
            m[f"{name}_norm"].words.title = "Add & Norm"
            x = normed(m[f"{name}_norm"], m.record("add", x, branch), part.norm)
        else:
            x = m.record("add", x, branch, name=f"{name}_add", note="residual")
    return m.record("add", x, *branches, name="add", note="residual and all branches") if parallel else x
