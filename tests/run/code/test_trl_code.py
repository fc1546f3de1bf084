"""TRL's trainers and the releases of transformers: measured peaks, what is cast beside quantised weights, defaults."""

from __future__ import annotations

from typing import Any

import pytest

from archcalc import load
from archcalc.analyze.memory.report import MemoryReport
from archcalc.core.errors import InputError
from archcalc.run.code import code

GIB = 2**30
# github.com/foundation-model-stack/fms-acceleration 876e2ed, scripts/benchmarks/refs/a100_80gb.csv: Mistral 7B, 4,096
# tokens, rank 16 on q, k, v and o, checkpointing, TRL 0.13 with transformers 4.48; allocated
RUN: dict[str, Any] = {
    "mode": "train",
    "seq": 4096,
    "lora": 16,
    "lora_targets": "q,k,v,out",
    "recompute": "full",
    "optimizer": "adamw",
    "attention": "flash",
    "code": "trl@0.13",
}
LORA, KEPT = {"precision": "bf16"}, {"weights": "nf4_dq", "code_option": "prepared=kept"}
NORMS = {"weights": "nf4_dq"}  # bf16 is cast back by TRL of that time, except for norms


def mistral(batch: int, **options: Any) -> MemoryReport:
    return load("mistral-7b").memory(batch=batch, **{**RUN, **options})


@pytest.mark.parametrize(
    ("options", "batch", "measured", "within"),
    [
        (LORA, 4, 26_704_571_904, 0.0001),
        (LORA, 8, 38_742_912_512, 0.0001),
        (KEPT, 4, 16_373_838_336, 0.0002),
        (KEPT, 8, 28_412_178_944, 0.0002),
        (NORMS, 4, 20_669_338_112, 0.01),
        (NORMS, 8, 37_002_646_016, 0.01),
    ],
)
def test_measured_peaks_of_adapters(options: dict[str, str], batch: int, measured: int, within: float) -> None:
    assert mistral(batch, **options).allocated_bytes == pytest.approx(measured, rel=within)


def test_before_4_49_three_fp32_tensors_of_logits_stand_beside_the_models_own() -> None:
    """The fp32 copy, its shifted copy and the log-probabilities, and what the head read; each sequence is one shorter
    behind the shift."""
    tokens, vocabulary, width, layers = 4096, 32000, 4096, 32
    found = mistral(5, **LORA).allocated_bytes - mistral(4, **LORA).allocated_bytes
    logits = (2 + 4) * tokens * vocabulary + (4 + 4) * (tokens - 1) * vocabulary
    hidden = 2 * tokens * width * (layers + 1)  # checkpoints, and the head's input
    assert found == pytest.approx(logits + hidden, rel=0.025)  # and what the last norm keeps, in fp32


def test_quantised_weights_and_what_is_beside_them() -> None:
    """Embedding and head, 2 · 32,000 · 4,096 numbers, take 2 bytes each unless peft casts them; adapters of today's TRL
    are bf16."""
    kept, cast = (
        mistral(1, **NORMS, code="transformers@4.48", code_option=f"prepared={how}") for how in ("kept", "fp32")
    )
    assert cast.states["weights"] - kept.states["weights"] == pytest.approx(2 * 2 * 32000 * 4096, rel=0.01)
    today = mistral(1, **NORMS, code="trl")
    assert today.states["optimizer"] * 2 == kept.states["optimizer"]


def test_defaults_by_release() -> None:
    """Checkpointing since August 2025, a loss in chunks since June 2026."""
    usual = [code(f"trl{release}", "llama").habits for release in ("@0.21", "@0.22", "@1.6", "")]
    assert [one.usual_recompute for one in usual] == ["none", "full", "full", "full"]
    assert [one.usual_chunks > 1 for one in usual] == [False, False, False, True]
    assert [one.prepared for one in usual] == ["norms", "norms", "adapters", "adapters"]


def test_a_release_is_the_day_of_its_tag() -> None:
    assert code("transformers@4.48.1", "llama").layers == code("transformers@2025-01-10", "llama").layers
    assert code("transformers@4.49", "llama").layers["loss"] == "in_steps"
    assert code("transformers@4.48.1", "llama").words == "transformers 4.48.1"


@pytest.mark.parametrize("written", ["transformers@9.99", "torchtitan@4.48", "transformers@x"])
def test_an_unknown_release_is_refused(written: str) -> None:
    with pytest.raises(InputError, match=r"was made|no month"):
        code(written, "llama")


def test_older_classes_shifted_logits_in_their_own_format() -> None:
    assert code("transformers@4.48", "gpt_bigcode").layers["loss"] == "shifted_narrow"
    assert code("transformers", "gpt_bigcode").layers["loss"] == "in_steps"


@pytest.mark.parametrize("method", ["dpo", "grpo"])
def test_a_head_that_keeps_no_logits(method: str) -> None:
    """Since 1.16 log-probabilities are computed tile by tile; the bytes of all logits are not there any more."""
    asked: dict[str, Any] = {"mode": "train", "method": method, "batch": 2, "seq": 2048, "recompute": "full"}
    before, now = (load("llama-3.2-1b").memory(**asked, code=f"trl{of}") for of in ("@1.9", ""))
    sequences = {"dpo": 4, "grpo": 2}[method]
    assert before.parts["logits"] >= 4 * sequences * 2047 * 128_256  # in fp32, as accelerate returns them
    assert now.parts["logits"] < before.parts["logits"] / 50
    assert any("TRL 1.16" in one.text for one in now.assumptions)


# the same source: two GPUs, FSDP of the first version
SHARDED = {"dp": 2, "zero": 3}


@pytest.mark.parametrize(
    ("model", "options", "batch", "measured", "within"),
    [
        ("mistral-7b", LORA, 2, 15_144_870_400, 0.03),
        ("mistral-7b", LORA, 4, 21_959_827_968, 0.02),
        ("mistral-7b", NORMS, 4, 15_970_067_968, 0.04),
        ("llama-2-70b", NORMS, 2, 46_685_287_936, 0.01),
    ],
)
def test_measured_peaks_of_sharded_adapters(
    model: str, options: dict[str, str], batch: int, measured: int, within: float
) -> None:
    """What enters a block of frozen weights is held by a hook, and so is its gradient, until the step is done."""
    found = load(model).memory(batch=batch, **{**RUN, **SHARDED, **options})
    assert found.allocated_bytes == pytest.approx(measured, rel=within)


def test_only_reentrant_checkpoints_are_held() -> None:
    """Not since transformers 5."""
    asked = {**RUN, **SHARDED}
    old, new = (
        load("mistral-7b").memory(batch=8, **{**asked, **NORMS, "code": f"trl@{of}"}) for of in ("0.13", "0.29")
    )
    layers, tokens, width = 32, 8 * 4096, 4096
    assert old.parts["activations"] > 2 * (layers - 2) * tokens * width * 2  # inputs and gradients of nearly all blocks
    assert new.parts["activations"] < 2 * layers * tokens * width * 2
