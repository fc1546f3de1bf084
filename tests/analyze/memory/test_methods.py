"""What DPO and GRPO take beside a supervised step: a reference model, pairs of sequences, an engine that generates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from archcalc import InputError, load
from archcalc.run import methods
from archcalc.run.option_words import METHODS
from archcalc.run.options import Options
from archcalc.spec.paths import presets

if TYPE_CHECKING:
    from archcalc.analyze.memory.report import MemoryReport

BF16, FP32 = 2, 4
SMALL = ["decoder=2", "vocab=4096", "d_model=256", "heads=4", "kv_heads=2", "ffn.width=512"]


def memory(method: str, **options: Any) -> MemoryReport:
    asked: dict[str, Any] = {"mode": "train", "batch": 2, "seq": 64, "overhead": 0, **options}
    return load("llama-3-8b", set=SMALL).memory(method=method, **asked)


def weights() -> int:
    return int(load("llama-3-8b", set=SMALL).params().total)


def test_every_method_is_a_file() -> None:
    assert set(presets("methods")) == set(METHODS)
    assert all(methods.method(Options.of("memory", {"mode": "train", "method": name})).source for name in METHODS)


def test_supervised_fine_tuning_is_the_usual_step() -> None:
    assert (
        memory("sft").record()
        == load("llama-3-8b", set=SMALL).memory(mode="train", batch=2, seq=64, overhead=0).record()
    )


# The reference model


@pytest.mark.parametrize(("precision", "width"), [("mixed", FP32), ("master", BF16), ("bf16", BF16), ("fp32", FP32)])
def test_a_reference_model_has_the_policys_number_format(precision: str, width: int) -> None:
    assert memory("dpo", precision=precision).parts["reference"] == width * weights()


def test_zero_divides_the_reference_from_stage_3_on() -> None:
    """TRL: prepare_deepspeed divides a model that is only evaluated by stage 3, and not below."""
    assert memory("dpo", dp=4, zero=2).parts["reference"] == BF16 * weights()
    shard = FP32 * weights() // 4
    assert memory("dpo", dp=4, zero=3).parts["reference"] == shard


def test_with_adapters_the_reference_is_the_policy_without_them() -> None:
    report = memory("dpo", lora=8)
    assert report.parts["reference"] == 0
    assert any(instant.phase == "reference" for instant in report.instants)


def test_without_a_reference_there_is_no_second_pass() -> None:
    report = memory("dpo", reference="none")
    assert report.parts["reference"] == 0
    assert not any(instant.phase == "reference" for instant in report.instants)


def test_grpo_has_no_reference_unless_it_is_asked_for() -> None:
    """beta is 0 in TRL's GRPOConfig."""
    assert memory("grpo").parts["reference"] == 0
    assert memory("grpo", reference="same").parts["reference"] == FP32 * weights()


# Sequences and logits


def test_a_batch_of_pairs_is_twice_as_many_sequences() -> None:
    """Layers save what a batch of twice the size does; logits have another loss."""
    pairs, sequences = memory("dpo", batch=2, reference="none"), memory("grpo", batch=4)
    assert pairs.batch == 2
    saved = [row.parts["activations"] for row in pairs.rows if row.path.startswith("decoder")]
    assert saved == [row.parts["activations"] for row in sequences.rows if row.path.startswith("decoder")]


@pytest.mark.parametrize(("precision", "width"), [("master", BF16), ("fp32", FP32), ("mixed", FP32)])
def test_the_loss_keeps_one_tensor_of_logits(precision: str, width: int) -> None:
    """Logarithms in 16 bits, or the fp32 logits themselves with a sum for each token; an SFT step keeps fp32 ones."""
    report = memory("grpo", precision=precision, batch=3, code="plain")
    tokens, vocab = 3 * 64, 4096
    kept = 3 * 63 * vocab * width if width == BF16 else tokens * vocab * width + 3 * 63 * FP32
    assert report.rows[0].parts["logits"] == kept


# Who generates


def engine(**options: Any) -> MemoryReport:
    return load("llama-3-8b", set=SMALL).memory(batch=2, seq=64, overhead=0, **options)


def test_an_engine_on_the_same_gpus_is_a_second_copy_and_a_cache() -> None:
    report = memory("grpo", rollout="same")
    assert report.parts["rollout"] == BF16 * weights()
    assert report.parts["rollout_cache"] == engine().parts["kv_cache"]
    assert report.total_bytes - memory("grpo").total_bytes == report.parts["rollout"] + report.parts["rollout_cache"]


def test_completions_of_all_micro_batches_are_generated_together() -> None:
    """TRL: steps_per_generation is gradient_accumulation_steps."""
    assert memory("grpo", rollout="same", accumulate=4).parts["rollout_cache"] == 4 * engine().parts["kv_cache"]


def test_an_engine_takes_what_it_is_given() -> None:
    report = memory("grpo", rollout="same", rollout_memory="1GB")
    assert report.parts["rollout"] + report.parts["rollout_cache"] == 10**9


def test_an_engine_that_sleeps_and_the_step_take_turns() -> None:
    """The larger of both counts, not the sum."""
    states = sum(memory("grpo").states.values()) - memory("grpo").states["gradients"]
    asleep = memory("grpo", rollout="sleep", rollout_memory="1GB")
    assert (
        asleep.total_bytes
        == asleep.required_bytes
        == states
        + 10**9
        + load("llama-3-8b", set=SMALL).memory(mode="train", batch=1, seq=1, overhead=0).parts["buffers"]
        + (asleep.parts["weights"] - memory("grpo").states["weights"])
    )
    assert memory("grpo", rollout="sleep").required_bytes == memory("grpo").required_bytes


def test_an_engine_on_other_gpus_is_told_apart() -> None:
    report = memory("grpo", rollout="other", dp=2)
    assert report.parts == memory("grpo", dp=2).parts
    cache = 2 * engine().parts["kv_cache"]  # of the sequences of both GPUs that train
    assert report.record()["elsewhere"] == {"rollout engine": BF16 * weights() + cache}


def test_a_policy_that_zero_3_divides_is_gathered_to_generate() -> None:
    """ds3_gather_for_generation."""
    report = memory("grpo", dp=2, zero=3)
    rollout = next(instant for instant in report.instants if instant.phase == "rollout")
    assert rollout.parts["rollout"] == BF16 * weights()
    whole = next(instant for instant in memory("grpo").instants if instant.phase == "rollout")
    assert whole.parts["rollout"] == 0


# Refusals


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "sft", "reference": "same"}, "is about DPO and GRPO"),
        ({"rollout": "same"}, "is about DPO and GRPO"),
        ({"method": "dpo", "rollout": "same"}, "DPO generates nothing"),
        ({"method": "grpo", "rollout_memory": "1GB"}, "the policy itself generates"),
        ({"method": "grpo", "rollout": "same", "rollout_memory": "1kB"}, "the weights alone take"),
        ({"method": "dpo", "loss_chunks": 4}, "does not know how DPO computes its loss so"),
        ({"method": "dpo", "cp": 2}, "does not know how DPO computes its loss so"),
        ({"method": "dpo", "compile": "all"}, "does not know how DPO computes its loss so"),
        ({"method": "dpo", "code": "megatron"}, "as TRL computes it"),
    ],
)
def test_what_has_no_effect_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        load("llama-3-8b", set=SMALL).memory(mode="train", **options)


@pytest.mark.parametrize("model", ["bert-base", "vit-b-16", "word2vec-cbow"])
def test_only_a_language_model_is_trained_so(model: str) -> None:
    with pytest.raises(InputError, match="language model"):
        load(model).memory(mode="train", method="dpo")


def test_no_band_of_supervised_runs_is_claimed() -> None:
    asked: dict[str, Any] = {"mode": "train", "code": "torchtitan", "dp": 8, "zero": 3}
    assert load("llama-3-8b").memory(**asked).band is not None
    report = memory("dpo")
    assert report.band is None
    assert any("no measured run" in reason for reason in report.estimates)
