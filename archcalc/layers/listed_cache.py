"""A cache of known size without a known forward pass: keys, values and recurrent states of some layers."""

from __future__ import annotations

from archcalc.core.ir import Count, Dim, Module, Region, axes
from archcalc.core.positions import Positions
from archcalc.layers.attention_mask import Sight
from archcalc.layers.dims import kv_heads_of
from archcalc.spec.node import Node, Size, field
from archcalc.spec.workload import Workload


class Kept(Node):
    """What each of some layers keeps of a sequence: keys and values of `heads` heads for every position, or for those
    in a window, and a state of so many numbers whatever the length."""

    layers: Size = field(..., "How many layers keep this.", example=32)
    heads: Size = field(1, "Heads that have keys and values of their own.", example=8)
    k_dim: Size | None = field(None, "The width of a head's keys.", example=128, unset="no keys")
    v_dim: Size | None = field(None, "The width of a head's values.", example=128, unset="no values")
    window: Size | None = field(None, "Positions that are kept.", example=4096, unset="all")
    state: Size | None = field(
        None, "Numbers of a state that does not grow with the sequence.", example=65_536, unset="none"
    )


def keep(root: Module, cache: tuple[Kept, ...], work: Workload) -> None:
    """Records it, for a workload with a cache, of whatever it is computed from."""
    if not cache or not work.keeps_cache:
        return
    name, taken = "cache", {child.name for child in root.children}
    while name in taken:  # a file may hold tensors of any name
        name += "_"
    m = root.child(name, title="KV cache")
    length = work.positions if work.decodes else Count.named("seq", work.lengths["seq"])
    batch, before = Dim.of("batch", work.batch), Dim.of("kv_seq", length, positions=Positions.PAST)
    for number, kept in enumerate(cache):
        title = f"{kept.layers} layers" if kept.layers > 1 else "1 layer"
        layer = m.child(str(number), repeat=Count(kept.layers), title=title)
        layer.region = Region.BLOCK
        past, heads = Sight(window=kept.window).kept(before), kv_heads_of(kept.heads)
        for name, width, kind in (("keys", kept.k_dim, "append"), ("values", kept.v_dim, "append_values")):
            if width:
                layer.record(kind, to=axes(batch, heads, past, Dim.of("head_dim", width)), name=name)
        if kept.state:
            layer.record("append", to=axes(batch, Dim.of("state", kept.state)), name="state")
