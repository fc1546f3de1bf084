"""Steps of DPO and GRPO are simulated as PyTorch runs them: traced on transformers' own classes."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest
from support.hf_small import small
from support.preference_training import GroupTraining, PairTraining, traced

from archcalc.analyze.memory import training
from archcalc.analyze.memory.answer import Memory
from archcalc.analyze.memory.peak import peak, residents
from archcalc.analyze.memory.residents import passing
from archcalc.importers.hf._helpers.imported import document
from archcalc.model import Model
from archcalc.reference.lifetimes import Phase
from archcalc.run import tree_changes
from archcalc.simulate.events import Change
from archcalc.spec.sizes import Sizes
from archcalc.verify.hf.training import Setting

SEQ, VOCAB = 40, 4000
SECOND = 1  # step
A_TOKEN = 12  # bytes of numbers that a loss makes for each token, and that archcalc leaves out
CLASSES = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM"}
WIDTHS = {"bf16": 2, "fp32": 4}


def config_of(model_type: str) -> dict[str, Any]:
    return {**small(model_type, CLASSES[model_type]), "vocab_size": VOCAB}


def peaks(config: dict[str, Any], sequences: int, **options: Any) -> Counter[str]:
    """The most bytes of each phase."""
    memory = Memory(
        Model.from_document(document(config, "config.json"), "model"),
        mode="train",
        overhead=0,
        code="transformers",
        attention="flash",
        optimizer="adamw-fused",
        **options,
    )
    ours, sizes = memory.deployment, Sizes(sequences, SEQ)
    work = ours.workload(sizes)
    root = tree_changes.traced(ours.network, ours.run, work)
    changes = training.unrolled(partial(training.step_schedule, root, ours.run, ours.keeping))
    level = sum(peak(ours, sizes).step.start.values())
    found: Counter[str] = Counter()
    for change in passing(changes, residents(ours, work, is_unrolled=True)):
        assert isinstance(change, Change)
        level += change.bytes
        found[change.phase] = max(found[change.phase], level)
    return found


def setting(sequences: int, precision: str, recompute: str) -> Setting:
    return Setting(
        sequences,
        SEQ,
        precision=precision,
        attention="flash",
        optimizer="adamw-fused",
        recompute=recompute == "full",
    )


@pytest.mark.wide(4)
@pytest.mark.parametrize("model_type", CLASSES)
@pytest.mark.parametrize("precision", WIDTHS)
@pytest.mark.parametrize("recompute", ["none", "full"])
@pytest.mark.parametrize("sequences", [1, 2, 5])
def test_a_step_of_grpo(model_type: str, precision: str, recompute: str, sequences: int) -> None:
    config = config_of(model_type)
    ours = peaks(config, sequences, precision=precision, recompute=recompute, method="grpo")
    theirs = traced(GroupTraining(config, setting(sequences, precision, recompute))).peaks
    small_change = A_TOKEN * sequences * SEQ
    in_kernel = VOCAB * (SEQ - 1) * 4 if precision == "fp32" else 0  # what logsumexp computes in, unseen by a trace
    assert 0 <= ours["loss"] - theirs[Phase("forward", SECOND)].bytes + small_change <= in_kernel + 2 * small_change
    assert abs(ours["backward"] - theirs[Phase("backward", SECOND)].bytes) <= small_change
    assert abs(ours["step"] - theirs[Phase("step", SECOND)].bytes) <= small_change


@pytest.mark.wide(3)
@pytest.mark.parametrize("model_type", CLASSES)
@pytest.mark.parametrize("precision", WIDTHS)
@pytest.mark.parametrize("recompute", ["none", "full"])
@pytest.mark.parametrize("pairs", [1, 3])
def test_a_step_of_dpo(model_type: str, precision: str, recompute: str, pairs: int) -> None:
    """The forward pass ends with that of the reference model, while the policy's logits and graph are there."""
    config = config_of(model_type)
    ours = peaks(config, pairs, precision=precision, recompute=recompute, method="dpo")
    theirs = traced(PairTraining(config, setting(2 * pairs, precision, recompute))).peaks
    small_change = A_TOKEN * 2 * pairs * SEQ
    assert abs(ours["reference"] - theirs[Phase("forward", SECOND)].bytes) <= small_change
    assert abs(ours["backward"] - theirs[Phase("backward", SECOND)].bytes) <= small_change
    assert abs(ours["step"] - theirs[Phase("step", SECOND)].bytes) <= small_change
