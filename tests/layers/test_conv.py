"""Convolutions along the sequence, by hand: the weight as PyTorch stores it, and what a product of each group costs."""

from __future__ import annotations

import pytest

from archcalc.analyze.flops.cost import work
from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.layers.conv import conv

BATCH, SEQ, IN, OUT, KERNEL = 2, 5, 12, 6, 3


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_a_group_reads_its_own_channels(groups: int) -> None:
    """As `torch.nn.Conv1d`: out × in / groups × kernel, and so many products for each position."""
    m, seq = Module("conv"), Dim.of("seq", SEQ)
    x = Tensor(axes(Dim.of("batch", BATCH), seq, Dim.of("d_model", IN)))
    y = conv(m, x, Dim.of("out", OUT), KERNEL, groups=groups, seq=seq)
    assert m.params["weight"].shape == (OUT, IN // groups, KERNEL)
    assert int(m.params["weight"].size) == OUT * IN // groups * KERNEL
    assert [op.output.shape for op in m.ops if op.traits.contraction] == [(BATCH, SEQ, OUT)]
    assert y.shape == (BATCH, SEQ, OUT)
    assert int(work(m).forward) == 2 * BATCH * SEQ * OUT * (IN // groups) * KERNEL
