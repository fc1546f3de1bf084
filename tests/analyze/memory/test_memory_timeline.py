"""The fullest instant of a training step, against the storages that PyTorch really keeps alive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from support.alive import Alive
from support.unknown_activations import check_refused, has_unknown
from torch.nn.functional import cross_entropy

from archcalc import load
from archcalc.analyze.memory.activations import saved_activations
from archcalc.analyze.memory.answer import Memory
from archcalc.analyze.memory.peak import peak
from archcalc.core.errors import InputError
from archcalc.core.ir import walk
from archcalc.reference.transformer import Transformer
from archcalc.simulate.events import Repeated
from archcalc.spec.paths import presets
from archcalc.spec.sizes import Sizes
from archcalc.verify.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from archcalc.model import Model
    from archcalc.simulate.events import Event

RECOMPUTE = {"none": "none", "selective": "core", "ops": "ops", "full": "block"}
SMALL = ["decoder=2", "vocab=1000", "d_model=256", "heads=4", "ffn.width=1024"]
MODELS = {
    "gpt2": SMALL,
    "llama-3-8b": [*SMALL, "kv_heads=2"],
    "textbook": ["encoder=3", "decoder=2", "vocab=500", "d_model=128", "ffn.width=256", "head_dim=32"],
}


def network(model: Model, recompute: str) -> torch.nn.Module:
    return Transformer(plain(model.resolved), {"attention": "eager", "recompute": RECOMPUTE[recompute]})


def peak_of_step(model: Model, batch: int, seq: int, recompute: str) -> int:
    """Forward, loss and backward in fp32; the logits are let go of behind the loss."""
    with torch.device("meta"):
        net = network(model, recompute)
        ids = [torch.zeros(batch, seq, dtype=torch.long) for _ in model.resolved.lengths]
        targets = torch.zeros(batch * seq, dtype=torch.long)
    with Alive(*net.parameters(), *ids, targets) as alive:
        loss: Any = cross_entropy(net(*ids).flatten(0, 1), targets)
        loss.backward()
    return int(alive.peak)


@pytest.mark.parametrize("seq", [256, 64])
@pytest.mark.parametrize("recompute", RECOMPUTE)
@pytest.mark.parametrize("name", MODELS)
def test_the_peak_is_what_pytorch_keeps_alive(name: str, recompute: str, seq: int) -> None:
    """To the byte, but for the ids and targets that the caller holds longer than the step needs them, and a scalar."""
    model = load(name, set=MODELS[name])
    options: dict[str, Any] = {"precision": "fp32", "attention": "eager", "optimizer": "sgd", "overhead": 0}
    ours = model.memory(mode="train", code="plain", batch=4, seq=seq, recompute=recompute, **options)
    truth = peak_of_step(model, 4, seq, recompute)
    held = 8 * 4 * seq * (1 + len(model.resolved.lengths))
    assert 0 <= truth - ours.total_bytes <= held + 8


def test_selective_recompute_keeps_no_scores_at_the_peak() -> None:
    """Two blocks of four heads: what is saved is two softmaxes of 4 × 4 × 256 × 256 and their masks of dropout."""
    model = load("gpt2", set=[*SMALL, "dropout=0"])
    truth = [peak_of_step(model, 4, 256, recompute) for recompute in ("none", "selective")]
    ask: dict[str, Any] = {"mode": "train", "code": "plain", "batch": 4, "seq": 256, "optimizer": "sgd", "overhead": 0}
    ask["attention"] = "eager"
    ours = [model.memory(recompute=recompute, **ask).total_bytes for recompute in ("none", "selective")]
    assert truth[0] - truth[1] == ours[0] - ours[1] == 2 * 4 * (4 * 4 * 256 * 256)


@pytest.mark.parametrize(("optimizer", "seq"), [("sgd", 256), ("adamw", 256), ("adamw", 1)])
def test_mem_tracker_sees_the_same_peak(optimizer: str, seq: int) -> None:
    """PyTorch's own tracker, on fake tensors; it also counts Adam's step numbers, four bytes for each parameter.

    At a length of 1 the fullest instant is the optimizer's step, which needs one update of all parameters."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.distributed._tools.mem_tracker import MemTracker

    model = load("gpt2", set=[*SMALL, "dropout=0"])
    kinds = {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}
    with FakeTensorMode(allow_non_fake_inputs=True):
        net = network(model, "none")
        steps = kinds[optimizer](net.parameters(), lr=0.1, foreach=True)
        ids, targets = torch.zeros(4, seq, dtype=torch.long), torch.zeros(4 * seq, dtype=torch.long)
        tracker = MemTracker()
        tracker.track_external(net, steps, ids, targets)
        with tracker:
            for _ in range(2):
                loss: Any = cross_entropy(net(ids).flatten(0, 1), targets)
                loss.backward()
                del loss
                steps.step()
                steps.zero_grad(set_to_none=True)
                tracker.reset_mod_stats()
        peak = tracker.get_tracker_snapshot("peak")
    ask: dict[str, Any] = {"code": "plain", "optimizer": optimizer, "attention": "eager", "overhead": 0}
    ours = model.memory(mode="train", batch=4, seq=seq, **ask).total_bytes
    truth = sum(int(number) for part, number in next(iter(peak.values())).items() if "otal" in str(part))
    assert 0 <= truth - ours <= 4 * len(list(net.parameters())) + 2 * 8 * 4 * seq + 8


def test_the_step_of_a_foreach_optimizer_needs_one_more_copy() -> None:
    """AdamW at a length where nothing else counts: weights, gradients, two states, and one update at once."""
    model = load("gpt2", set=[*SMALL, "dropout=0"])
    report = model.memory(mode="train", code="plain", batch=1, seq=1, optimizer="adamw", overhead=0)
    parameters = int(model.params().total)
    assert (report.peak.phase, report.total_bytes) == ("step", 5 * 4 * parameters)


@pytest.mark.parametrize("attention", ["eager", "flash"])
@pytest.mark.parametrize("recompute", RECOMPUTE)
@pytest.mark.parametrize("name", ["gpt2", "llama-3-8b", "t5-small", "textbook", "vit-b-16", "bert-base"])
def test_what_is_alive_after_the_forward_pass_is_what_is_saved(name: str, recompute: str, attention: str) -> None:
    """What `verify` compares with PyTorch is what `memory` simulates, and what its rows share out among layers."""
    model = load(name)
    ask = Memory(model, mode="train", code="plain", precision="fp32", recompute=recompute, attention=attention)
    whole = ask.at(2).rows[0].parts
    root = model.build(model.workload(batch=2, attention=attention))
    saved = saved_activations(root, "fp32", recompute=RECOMPUTE[recompute]).bytes
    assert whole["activations"] + whole["logits"] == after_forward(peak(ask.deployment, Sizes(2)).step.changes) == saved


def after_forward(changes: Iterable[Event]) -> int:
    """Bytes of activations and logits when the backward pass begins."""
    level = 0
    for one in changes:
        if isinstance(one, Repeated):
            level += one.times * after_forward(one.changes)
        elif one.phase in ("forward", "loss") and one.part in ("activations", "logits"):
            level += one.bytes
    return level


@pytest.mark.wide(47)
@pytest.mark.parametrize("name", sorted(presets()))
def test_every_preset_plays_to_what_it_saves(name: str) -> None:
    """Mixed stacks, experts, states that steps hand over, layers that share weights. What hyper-connections keep is not
    counted, which both say."""
    model = load(name)
    ask = Memory(model, mode="train", precision="fp32", code="plain")
    root = model.build(model.workload(batch=2, attention="flash"))
    if any(op.kind == "sinkhorn" for module, _ in walk(root) for op in module.ops):
        for kept in (lambda: peak(ask.deployment, Sizes(2)).step, lambda: saved_activations(root, "fp32").bytes):
            with pytest.raises(InputError, match="what a training step keeps of hyper-connections"):
                kept()
        return
    if has_unknown(model):
        check_refused(lambda: peak(ask.deployment, Sizes(2)).step, lambda: saved_activations(root, "fp32").bytes)
        return
    assert after_forward(peak(ask.deployment, Sizes(2)).step.changes) == saved_activations(root, "fp32").bytes


def test_parts_add_up_at_every_instant() -> None:
    """And the fullest of them is the answer."""
    report = load("llama-3-8b").memory(mode="train", batch=2, seq=4096, recompute="full", dp=8, zero=3)
    assert all(sum(instant.parts.values()) == instant.bytes for instant in report.instants)
    assert report.total_bytes == max(instant.bytes for instant in report.instants)
    assert [instant.phase for instant in report.instants][-1] == "step"
    assert min(size for instant in report.instants for size in instant.parts.values()) == 0
