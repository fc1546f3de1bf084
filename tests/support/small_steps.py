"""A network of a few ops, and what its step makes of passes: to be worked out by hand."""

from __future__ import annotations

from collections.abc import Iterable

from archcalc.core.count import Count
from archcalc.core.execution import by_spec
from archcalc.core.ir import Dim, Module, Param, Region, axes
from archcalc.core.mesh import Plan
from archcalc.core.precision import Policy
from archcalc.layers.linear import linear
from archcalc.layers.loss import cross_entropy
from archcalc.run.precision_recipes import Recipe
from archcalc.simulate.build import FIRST, TensorBytes, schedule
from archcalc.simulate.events import Change, Event
from archcalc.simulate.levels import Levels, Snapshot
from archcalc.simulate.schedule import Pass, Schedule
from archcalc.simulate.simulation import simulate
from archcalc.storage.places import Place

BATCH, WIDTH, INNER, VOCAB, LAYERS = 3, 8, 32, 50, 2
HIDDEN, WIDE, LOGITS = BATCH * WIDTH, BATCH * INNER, BATCH * VOCAB  # numbers of an activation
MATRIX, HEAD = WIDTH * INNER, WIDTH * VOCAB  # weights: two matrices a layer, and one behind them
FP32, BF16 = 4, 2
RECIPE = Recipe("own", "own", "own", weights="fp32", gradients="fp32", states="fp32", activations="fp32", frozen="fp32")


def network(layers: int = LAYERS, *, has_head: bool = True) -> Module:
    """h + W₂·gelu(W₁·h) in each layer, then logits and their loss, unless the model ends with its blocks."""
    root = Module("model")
    batch, width, inner, vocab = (
        Dim.of(name, size) for name, size in (("batch", BATCH), ("width", WIDTH), ("inner", INNER), ("vocab", VOCAB))
    )
    x = root.record("input", to=axes(batch, width))
    block = root.child("blocks", repeat=Count(layers))
    block.region = Region.BLOCK
    wide = block.record("gelu", linear(block["up"], x, inner, bias=False))
    y = block.record("add", x, linear(block["down"], wide, width, bias=False))
    block.carries.append((x, y))
    if has_head:
        cross_entropy(root, linear(root["head"], y, vocab, bias=False))
    return root


def step(
    *passes: Pass, layers: int = LAYERS, precision: str = "fp32", first: int = FIRST, has_head: bool = True
) -> Schedule:
    """The schedule of the network after passes."""
    policy = Policy(precision)
    return schedule(network(layers, has_head=has_head), policy, by_spec, TensorBytes(Plan(), policy), passes, first)


def peak(step: Schedule) -> Snapshot:
    """When a step on top of nothing has the most."""
    return levels(step).peak


def levels(step: Schedule) -> Levels:
    parts = ("weights", "gradients", "activations", "logits", "temporary")
    return Levels(dict.fromkeys(parts, 0)).play(simulate(step))


def sizes(events: Iterable[Event], phase: str, part: str = "") -> list[int]:
    """Bytes that are allocated in a phase, in order."""
    changes = [one for one in events if isinstance(one, Change)]
    return [one.bytes for one in changes if one.phase == phase and one.bytes > 0 and part in ("", one.part)]


class Trained:
    """Parameters that are all trained and in fp32, but for quantised ones, by the name of their layer."""

    def __init__(self, *quantised: str) -> None:
        self.names = quantised

    def quantised(self, param: Param) -> bool:
        return param.owner.name in self.names

    def trained(self, param: Param) -> bool:
        return not self.quantised(param)

    def weights(self, place: Place, elements: int) -> int:
        return place.copies * elements // 2
