"""States along a sequence: the references' own backward passes, and chunks against one position after the other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("torch")

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor
from torch.autograd import gradcheck
from torch.utils.flop_counter import FlopCounterMode

from archcalc.reference import delta, mamba
from archcalc.reference.conv import ByChannel
from archcalc.reference.scan import Scan

BATCH, SEQ, HEADS, KEY, VALUE, TAPS = 2, 7, 3, 4, 5, 3


def drawn(*shape: int) -> Tensor:
    """Random numbers that want gradients, in double precision."""
    return torch.randn(*shape, dtype=torch.float64).requires_grad_()


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    torch.manual_seed(0)


def test_gradients_of_a_convolution_by_channel() -> None:
    """Written out, they are those that PyTorch finds by differences."""
    before = torch.randn(BATCH, KEY, TAPS - 1, dtype=torch.float64)
    given = (drawn(BATCH, SEQ, KEY), drawn(KEY, 1, TAPS), drawn(KEY))
    assert gradcheck(lambda x, w, b: ByChannel.apply(x, w, b, before * 0), given)
    assert gradcheck(lambda x, w: ByChannel.apply(x, w, None, before * 0), given[:2])


def test_a_convolution_by_channel_is_pytorchs() -> None:
    """Its values too; its backward pass costs twice its forward pass, which PyTorch's own counter gets wrong."""
    x, weight, bias = drawn(BATCH, SEQ, KEY), drawn(KEY, 1, TAPS), drawn(KEY)
    before = torch.zeros(BATCH, KEY, TAPS - 1, dtype=torch.float64)
    counter = FlopCounterMode(display=False)
    with counter:
        found = ByChannel.apply(x, weight, bias, before)
        forward = counter.get_total_flops()
        found.sum().backward()
    padded = F.pad(x.transpose(1, 2), (TAPS - 1, 0))
    assert torch.allclose(found, F.conv1d(padded, weight, bias, groups=KEY).transpose(1, 2))
    assert forward == 2 * BATCH * SEQ * KEY * TAPS
    assert counter.get_total_flops() == 3 * forward


def test_gradients_of_a_scan() -> None:
    """Of decays and of what is added."""
    given = (drawn(BATCH, SEQ, KEY), drawn(BATCH, SEQ, KEY))
    assert gradcheck(lambda decay, added: Scan.apply(decay, added, None), given)


def test_a_scan_goes_from_position_to_position() -> None:
    """In doublings, the states are those of a plain loop."""
    decay, added, state = drawn(BATCH, SEQ, KEY), drawn(BATCH, SEQ, KEY), drawn(BATCH, KEY)
    for place, found in enumerate(Scan.apply(decay, added, state).unbind(1)):
        state = decay[:, place] * state + added[:, place]
        assert torch.allclose(found, state)


def one_by_one(step: Callable[..., tuple[Tensor, Tensor]], state: Tensor, *given: Tensor) -> tuple[Tensor, Tensor]:
    """All positions, one after the other."""
    found = []
    for place in range(SEQ):
        one, state = step(*(tensor[:, place : place + 1] for tensor in given), state, 1)
        found.append(one)
    return torch.cat(found, dim=1), state


@pytest.mark.parametrize("chunk", [1, 3, 7, 10])
def test_mamba_2_in_chunks(chunk: int) -> None:
    """Outputs, last state and gradients are those of stepping through the sequence."""
    values, b, c = drawn(BATCH, SEQ, HEADS, VALUE), drawn(BATCH, SEQ, HEADS, KEY), drawn(BATCH, SEQ, HEADS, KEY)
    given = (values, b, c, -drawn(BATCH, SEQ, HEADS).abs().detach().requires_grad_())
    start = drawn(BATCH, HEADS, VALUE, KEY)
    same(mamba.in_chunks(*given, start, chunk), one_by_one(mamba.one_step, start, *given), (*given[:3], start))


@pytest.mark.parametrize("chunk", [1, 3, 7, 10])
def test_a_delta_net_in_chunks(chunk: int) -> None:
    """The triangular system of a chunk corrects as one token after the other does."""
    q, k, v = drawn(BATCH, SEQ, HEADS, KEY), drawn(BATCH, SEQ, HEADS, KEY), drawn(BATCH, SEQ, HEADS, VALUE)
    rate, decay = torch.sigmoid(drawn(BATCH, SEQ, HEADS)), -drawn(BATCH, SEQ, HEADS).abs()
    start = drawn(BATCH, HEADS, KEY, VALUE)
    given = (q, k, v, rate, decay)
    same(delta.in_chunks(*given, start, chunk), one_by_one(delta.one_step, start, *given), (q, k, v, start))


def same(ours: tuple[Tensor, Tensor], theirs: tuple[Tensor, Tensor], wanted: tuple[Tensor, ...]) -> None:
    """Both tensors, and the gradients of a sum that weighs every element differently."""
    gradients = []
    for found in (ours, theirs):
        total = torch.stack([(one * torch.arange(one.numel()).view(one.shape)).sum() for one in found]).sum()
        gradients.append(torch.autograd.grad(total, wanted, retain_graph=True))
    for one, other in zip((*ours, *gradients[0]), (*theirs, *gradients[1]), strict=True):
        assert torch.allclose(one, other)
