"""FLOPs: what every op costs, forward, backward and recomputed, summed over the tree.

    done = work(root)                       a training step; `trainable=never` for inference
    done.forward, done.backward             matrix products, by the convention of PyTorch's FlopCounterMode
    done.recompute                          matrix products that recomputation adds to the backward pass; what a kernel
                                            computes again going back, as flash attention does, is part of `backward`
    done.elementwise, .elementwise_backward everything else, by the convention stated in `archcalc.core.ops`
    done.pieces                             the same op by op: module, op, times and the Counts, with their working
    done.of(module)                         the share of one module and all below it

Sums are exact ints with their working. A thousand equal blocks cost what one costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from archcalc.core.count import Count, total
from archcalc.core.execution import Run, Trainable, by_spec, runs
from archcalc.core.ir import Module, Op, Tensor
from archcalc.core.op_kind import backward


@dataclass(frozen=True)
class Piece:
    """One op's share of the work, all its runs together."""

    module: Module
    op: Op
    times: Count
    matrix: bool
    forward: Count
    backward: Count
    recompute: Count


@dataclass(frozen=True)
class Work:
    """The work of a model, or of a part of it."""

    pieces: tuple[Piece, ...]

    @cached_property
    def forward(self) -> Count:
        return total(piece.forward for piece in self.pieces if piece.matrix)

    @cached_property
    def backward(self) -> Count:
        return total(piece.backward for piece in self.pieces if piece.matrix)

    @cached_property
    def recompute(self) -> Count:
        return total(piece.recompute for piece in self.pieces if piece.matrix)

    @cached_property
    def elementwise(self) -> Count:
        return total(piece.forward for piece in self.pieces if not piece.matrix)

    @cached_property
    def elementwise_backward(self) -> Count:
        return total(piece.backward for piece in self.pieces if not piece.matrix)

    def of(self, module: Module) -> Work:
        """The share of a module and of all it holds."""
        return Work(tuple(self._within.get(module, ())))

    @cached_property
    def _within(self) -> dict[Module, list[Piece]]:
        """By every module around a piece: a model of many layers asks for the share of each."""
        found: dict[Module, list[Piece]] = {}
        for piece in self.pieces:
            for module in piece.module.ancestry:
                found.setdefault(module, []).append(piece)
        return found


NOTHING = Count(0)
Local = Callable[[Op], Op]  # an op as one GPU computes it, its inputs in the same order


def work(
    root: Module,
    *,
    trainable: Trainable = by_spec,
    recompute: str = "none",
    causal: str = "full",
    local: Local = lambda op: op,
    elementwise: bool = True,
) -> Work:
    """`causal="half"` counts only the pairs that a mask leaves: S(S+1)/2 of S², windows likewise. Without `elementwise`
    of matrix products alone, which are known also where an activation is not."""
    every = runs(root, trainable=trainable, recompute=recompute)
    found = [run for run in every if elementwise or run.op.traits.matrix]
    goes_back = any(run.wanting for run in found)  # in inference nothing does
    each = (_pieces(run, local(run.op), goes_back, causal == "half") for run in found)
    return Work(tuple(chain.from_iterable(each)))


def _pieces(run: Run, here: Op, goes_back: bool, seen_only: bool) -> Iterator[Piece]:
    op, times, nothing = run.op, run.times, NOTHING
    wants = _wanting(run, here)
    forward, gradients = op.traits.flops(here), backward(here, wants) if goes_back else nothing
    if seen_only and op.seen is not None:
        # Every FLOP of attention belongs to one (query, key) pair, so the share of pairs is the share of FLOPs.
        seen, pairs = map(int, op.seen)
        forward, gradients = (Count(int(flops) * seen // pairs) for flops in (forward, gradients))
    gradients = gradients + forward if run.within else gradients
    done = times * forward
    going_back = times * gradients if gradients is not nothing else nothing
    yield Piece(run.module, op, times, op.traits.matrix, done, going_back, done if run.again else nothing)
    if op.traits.products:
        yield Piece(run.module, op, times, True, nothing, times * op.traits.products(here, wants), nothing)


def _wanting(run: Run, here: Op) -> Callable[[Tensor], bool]:
    """Which of its inputs want a gradient, as one GPU has them."""
    return lambda tensor: run.wants(
        next(of for own, of in zip(here.inputs, run.op.inputs, strict=True) if own is tensor)
    )
