"""How much of the experts' weights is read, where every token chooses some of them."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import NamedTuple

from archcalc.core.ir import Op, Param, Tensor


class ReadShares(NamedTuple):
    """The share of a weight that is read: `least` if all tokens choose the same experts, `largest` if they choose as
    many as they can, `expected` if every token chooses independently and all experts are equally likely."""

    expected: Fraction
    least: Fraction
    largest: Fraction


WHOLE = ReadShares(Fraction(1), Fraction(1), Fraction(1))


def shares_read(op: Op, tensor: Tensor, weight: Param) -> ReadShares:
    """Of a weight of experts, which `op` sees as `tensor`."""
    if weight.active is None:
        return WHOLE
    each = Fraction(int(weight.active), int(weight.elements))  # k of E experts, for one token
    choices = prod(int(dim.size) for dim in op.output.dims if dim not in tensor.dims)
    # The dims that an op neither gives out nor sums are those it chooses along.
    experts = prod(int(dim.size) for dim in tensor.dims if dim not in (*op.output.dims, *op.over))
    return shares_of(each, int(choices / (each * experts)))


def shares_of(each: Fraction, tokens: int) -> ReadShares:
    """Where a token reads the share `each`. An expert is chosen by none of T tokens with probability (1 − k/E)^T."""
    missed = (1 - float(each)) ** tokens
    return ReadShares(Fraction(1 - missed), each, min(Fraction(1), tokens * each))
