"""What a network takes for fields that its spec leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from archcalc.spec.defaults import Default

if TYPE_CHECKING:
    from archcalc.archs.network.resolve import Network
    from archcalc.archs.network.spec import Spec

BIASED = {"conv": "convolutions", "transposed_conv": "transposed convolutions", "linear": "linear layers"}


def defaults(spec: Spec, net: Network) -> Iterator[Default]:
    words = "no training loss" if net.loss == "none" else f"{net.loss.replace('_', ' ')} as the training loss"
    yield Default(("loss",), net.loss, words)
    written = [spec.layers, *(block.layers for block in spec.blocks.values()), *spec.heads.values()]
    for kind, called in BIASED.items():
        silent = "bias" not in spec.defaults.get(kind, {})  # about the bias of a layer of that kind
        if silent and any(kind in item and "bias" not in item for item in _inside(written)):
            yield Default(("defaults", kind, "bias"), True, f"{called} with bias")
    yield Default(("precision",), "fp32")


def _inside(value: Any) -> Iterator[dict[str, Any]]:
    """Every layer as written, in blocks, branches and heads too."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from _inside(inner)
