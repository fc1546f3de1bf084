"""A traced size is a formula of the sizes that people choose: at other sizes it is what another trace would give."""

from __future__ import annotations

import pytest
from support.unknown_activations import counted

import archcalc
from archcalc.core.count import Count, product, total
from archcalc.core.ir import Op, walk
from archcalc.model import Model
from archcalc.spec import paths
from archcalc.spec.sizes import Sizes
from archcalc.spec.workload import Longest, Workload


def test_a_count_at_other_sizes() -> None:
    batch, seq = Count.named("batch", 1), Count.named("seq", 3)
    pairs = batch * seq * (seq + 1) // 2
    assert pairs == 1 * 3 * 4 // 2
    assert pairs.at(batch=5, seq=7) == 5 * 7 * 8 // 2
    assert pairs.at(seq=7) == 1 * 7 * 8 // 2


def test_a_symbol_that_is_one_or_zero_now_is_hidden_and_not_forgotten() -> None:
    batch, context = Count.named("batch", 1), Count.named("context", 0)
    assert (batch * Count(6)).worked(names=True) == "6"
    assert (batch * Count(6)).at(batch=4) == 4 * 6
    assert product([batch, Count.named("d", 8)]).at(batch=4) == 4 * 8
    assert (context + 1).worked(names=True) == "1"
    assert (context + 1).at(context=9) == 9 + 1
    assert total([context, Count(5)]).at(context=9) == 9 + 5


def test_a_size_under_another_name_follows_the_one_that_it_is_worked_out_from() -> None:
    seq = Count.named("seq", 4)
    keys = Count.named("kv_seq", seq + 1, source=(seq + 1).formula)
    assert keys.worked(names=True) == "kv_seq"
    assert keys.at(seq=10) == 10 + 1
    assert keys.at(kv_seq=6) == 6


@pytest.mark.parametrize(("length", "kept"), [(3, 3), (8, 8), (100, 8)])
def test_a_window_is_the_smaller_of_two_sizes_at_every_length(length: int, kept: int) -> None:
    window = Count.named("window", 8).at_most(Count.named("seq", 20))
    assert window == 8
    assert window.at(seq=length) == kept


def is_list(model: Model) -> bool:
    return model.spec.family == "network"


def has_list(model: Model) -> bool:
    """Of layers: it is one, or has one for a part."""
    return is_list(model) or any(part.family == "network" for part in getattr(model.resolved, "parts", ()))


def sizes_of(limit: Longest, more: int) -> int:
    """So many positions more than a sequence must have, or as many as it can have."""
    return min(limit.least + more, limit.length or limit.least + more)


def recorded(model: Model, work: Workload) -> list[Op]:
    return [op for module, _ in walk(model.build(work)) for op in module.ops]


def traces(model: Model, batch: int, more: int) -> list[tuple[Workload, list[Op]]]:
    """A training step and a decode step, where the model has one. A list of layers is read at one length."""
    limits = {name: limit for name, limit in model.resolved.lengths.items() if not (limit.fixed or is_list(model))}
    lengths = {name: sizes_of(limit, more) for name, limit in limits.items()}
    context = {"context": list(lengths.values())[-1]} if lengths else {}
    found = []
    for mode, sizes in (("train", lengths), ("decode", context)):
        try:
            work = model.workload(batch=batch, mode=mode, **Sizes(**sizes).given())
            found.append((work, recorded(model, work)))
        except archcalc.InputError:
            continue
    return found


@pytest.mark.wide(20)
@pytest.mark.parametrize("name", sorted(paths.shipped("models")))
def test_sizes_and_flops_of_a_trace_hold_at_other_sizes(name: str) -> None:
    model = archcalc.load(name)
    one = 2 if has_list(model) else 1  # sample: what is a view of one is a copy of several where layers swap axes
    small, large = traces(model, one, 4), traces(model, 3, 69)
    assert small
    for (_, here), (work, there) in zip(small, large, strict=True):
        at = {"batch": work.batch, **work.lengths, "context": work.context}
        assert [op.output.size.at(**at) for op in here] == [int(op.output.size) for op in there]
        done = [op.traits.flops(op).at(**at) for op in counted(here)]
        assert done == [int(op.traits.flops(op)) for op in counted(there)]
        assert [op.seen and op.seen[0].at(**at) for op in here] == [op.seen and int(op.seen[0]) for op in there]


@pytest.mark.parametrize("length", [6, 7, 14])
def test_chunks_of_a_sequence_follow_its_length(length: int) -> None:
    """The last of them may not be full."""
    layers = [{"local_attention": 2, "chunk": 3, "back": 2}, {"linear": 4}]
    model = archcalc.load({"family": "network", "input": "8 × seq", "layers": layers})
    here, there = (recorded(model, model.workload(seq=seq)) for seq in (4, length))
    assert [op.output.size.at(seq=length) for op in here] == [int(op.output.size) for op in there]
    assert [op.traits.flops(op).at(seq=length) for op in here] == [int(op.traits.flops(op)) for op in there]
