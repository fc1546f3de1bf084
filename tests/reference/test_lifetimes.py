"""What a dispatch mode notes on the meta device is what PyTorch's allocator does with real tensors, without a mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from support.real_memory import allocations, kernels_of, sizes_of
from torch import Tensor
from torch.nn.functional import linear

from archcalc.reference.lifetimes import Birth, Death, Lifetimes, peaks

WIDTH = 16
held: list[Tensor] = []


def several_readers(x: Tensor, w: Tensor) -> Tensor:
    y = x * 2
    return y.exp() + y.tanh() + y.sin()


def a_residual_stream(x: Tensor, w: Tensor) -> Tensor:
    y = x * 2
    y = y + (y @ w).tanh()
    return y + (y @ w).tanh()


def readers_by_views(x: Tensor, w: Tensor) -> Tensor:
    """The gradient of a view holds the gradient that it is a view of."""
    y = (x * 2).view(2, 4, WIDTH)
    return (y @ w + y @ w + y @ w).view(8, WIDTH)


def a_gradient_that_someone_keeps(x: Tensor, w: Tensor) -> Tensor:
    y = x * 2
    first = y.exp()
    first.register_hook(held.append)
    return first + (y + first).tanh()


def a_gradient_in_many_places(x: Tensor, w: Tensor) -> Tensor:
    y = x * 2
    return y.sum(0, keepdim=True) + y.exp() + y.mean() + x.expand(8, WIDTH)


def two_leaves_with_one_gradient(x: Tensor, w: Tensor) -> Tensor:
    return (x[:1] @ (w + w.t()) + x @ w).tanh()


def values_of_places(x: Tensor, w: Tensor) -> Tensor:
    """Their gradients fill zeros."""
    y, rows = x * 2, torch.zeros(8, dtype=torch.long, device=x.device)
    places = torch.zeros(8, WIDTH, dtype=torch.long, device=x.device)
    return y.topk(WIDTH).values + y.gather(1, places) + y[rows] + y.index_select(0, rows)


def a_gradient_that_is_cut(x: Tensor, w: Tensor) -> Tensor:
    """A formula that leaves its gradient as it is, and makes another."""
    places = torch.zeros(8, WIDTH, dtype=torch.long, device=x.device)
    return (x * 2).scatter(1, places, x * 3) + (x * 2).masked_fill(places.bool(), 0)


def a_bias_behind_a_transposed_input(x: Tensor, w: Tensor) -> Tensor:
    return linear((x * 2).view(2, 4, WIDTH).transpose(0, 1), w, w[0]).reshape(8, WIDTH)


def a_sum_inside_a_formula(x: Tensor, w: Tensor) -> Tensor:
    spread, middle = torch.var_mean(x * 2, -1, keepdim=True)
    return x * spread + middle


GRAPHS: list[Callable[[Tensor, Tensor], Tensor]] = [
    several_readers,
    a_residual_stream,
    readers_by_views,
    a_gradient_that_someone_keeps,
    a_gradient_in_many_places,
    two_leaves_with_one_gradient,
    values_of_places,
    a_gradient_that_is_cut,
    a_bias_behind_a_transposed_input,
    a_sum_inside_a_formula,
]


def leaves(device: str) -> tuple[Tensor, Tensor]:
    x, w = (torch.zeros(rows, WIDTH, device=device, requires_grad=True) for rows in (8, WIDTH))
    return x, w


def trained(graph: Callable[..., Tensor], given: tuple[Tensor, Tensor], begin: Callable[[str, int], Any]) -> None:
    """Backward twice: gradients are there already the second time."""
    for step in range(2):
        begin("forward", step)
        loss: Any = graph(*given).mul(2).sum()
        begin("backward", step)
        loss.backward()
        del loss
        held.clear()


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.__name__)
def test_storages_live_as_on_real_tensors(graph: Callable[..., Tensor]) -> None:
    given, real = leaves("meta"), leaves("cpu")
    mode = Lifetimes()
    for tensor in given:
        mode.add(tensor, "leaf")
    with mode:
        trained(graph, given, mode.begin)
    assert sizes_of(mode.events) == allocations(lambda begin: trained(graph, real, begin), kernels_of(mode.events))


def test_a_storage_is_noted_once_with_what_made_it() -> None:
    x = torch.zeros(4, 4, device="meta")
    with Lifetimes() as mode:
        mode.begin("forward")
        y = x.view(16).exp()
        z = y.view(2, 8).t()
        del y, z
    (_, birth, death) = mode.events
    assert isinstance(birth, Birth) and isinstance(death, Death)
    assert birth.storage == death.storage
    assert (birth.storage.bytes, birth.storage.op, birth.storage.shape) == (16 * 4, "aten.exp.default", (16,))


def test_a_peak_is_what_is_alive_at_once() -> None:
    with Lifetimes() as mode:
        mode.begin("first")
        x = torch.empty(8, device="meta")
        y = x.exp()
        mode.begin("second")
        del y
        y = x.exp()
        x = y.exp().exp()
    found = {peak.phase.name: (peak.bytes, [one.op for one in peak.alive]) for peak in peaks(mode.events)}
    assert found["first"] == (2 * 32, ["aten.empty.memory_format", "aten.exp.default"])
    assert found["second"] == (4 * 32, ["aten.empty.memory_format", *3 * ["aten.exp.default"]])


def test_what_is_on_the_host_is_left_out() -> None:
    with Lifetimes("meta") as mode:
        kept = torch.zeros(4), torch.zeros(4, device="meta")
    assert [storage.bytes for storage in mode.alive()] == [kept[1].numel() * 4]
