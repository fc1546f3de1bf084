"""Other people's cases: every figure as JSON, units as given, codes by their sources, no case that hides another."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from measured_figures import figures
from measured_readings import read
from measured_training import habits

from archcalc.run.code import code

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "accuracy.py"
GIB = 2**30
TITAN = "https://github.com/pytorch/torchtitan"

# A model that nobody has seen, in shapes alone: its head is not tied
NEW = {"layers": 4, "hidden": 512, "heads": 8, "kv_heads": 4, "head_dim": 64, "ffn": 1536, "vocab": 32000, "tie": False}
NEW_BLOCK = 2 * 512 * 512 + 2 * 512 * 256 + 3 * 512 * 1536 + 2 * 512
NEW_PARAMS = 2 * 32000 * 512 + 4 * NEW_BLOCK + 512


def trained(measured: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A case of training, laid out as the files of cases are."""
    usual = {"id": "one", "kind": "train_peak_memory", "model": "Nobody's 40M", "arch": NEW, "dtype": "bf16"}
    asked = {"batch": 2, "seq": 256, "flags": {"optimizer": "AdamW"}, "source": "https://example.org", "trust": "A"}
    return {**usual, **asked, "measured": measured, **more}


def entries(*cases: Any) -> list[dict[str, Any]]:
    return [figure.entry() for figure in figures(list(cases))]


def entry(case: Any) -> dict[str, Any]:
    (only,) = entries(case)
    return only


def test_every_figure_is_printed_as_json(tmp_path: Path) -> None:
    """Of those cases alone, with the error as a fraction of what was measured."""
    file = tmp_path / "cases.json"
    file.write_text(json.dumps([trained({"peak_allocated_gib": 1.0}), trained({"tokens_per_s": 7})]), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, SCRIPT, file, "--format", "json"], capture_output=True, text=True, check=True
    )
    peak, speed = json.loads(done.stdout)
    assert set(peak) == {"id", "class", "what", "measured", "predicted", "error", "band", "why_not"}
    assert peak["class"] == "training peak, allocated"
    assert peak["error"] == pytest.approx(peak["predicted"] / 1.0 - 1)
    assert (speed["class"], speed["predicted"], speed["error"]) == ("no class", None, None)
    assert "tokens_per_s" in speed["why_not"]


@pytest.mark.parametrize(
    "measured",
    [
        {"peak_memory_gib": 1.5},
        {"peak_memory_mib": 1536},
        {"peak_memory_gb": 1.5 * GIB / 10**9},
        {"peak_memory": 1536, "unit": "MiB"},
        {"peak_memory": 1.5 * GIB / 10**6, "unit": "MB"},
        {"peak_memory": "1.5 GiB"},
        {"peak_memory_gib_per_gpu": 1.5},
    ],
)
def test_units_are_read_as_given(measured: dict[str, Any]) -> None:
    assert entry(trained(measured))["measured"] == pytest.approx(1.5)


def test_a_figure_without_a_unit_is_not_taken_for_gigabytes() -> None:
    found = entry(trained({"peak_memory": 1.5}))
    assert (found["predicted"], found["why_not"]) == (None, "a figure without a unit")


def test_a_new_model_is_made_from_its_shapes() -> None:
    """bf16 weights, gradients and two states are 8 bytes a parameter, and all of them are there at the peak."""
    predicted = entry(trained({"peak_allocated_gib": 1.0}))["predicted"] * GIB
    assert 8 * NEW_PARAMS < predicted < 8 * NEW_PARAMS + 2**30
    words = {key: str(value) if isinstance(value, int) and key != "tie" else value for key, value in NEW.items()}
    assert entry(trained({"peak_allocated_gib": 1.0}, arch=words))["predicted"] * GIB == predicted


@pytest.mark.parametrize(
    ("measured", "source", "expected"),
    [
        ({"peak_memory_gib": 1, "metric": "peak reserved GiB"}, "", "training peak, reserved"),
        ({"peak_memory_gib": 1, "metric": "max_memory_allocated"}, "", "training peak, allocated"),
        ({"peak_memory_gib": 1}, "", "training peak, reserved or allocated is not said"),
        ({"peak_memory_gib": 1}, TITAN, "training peak, reserved"),
        ({"peak_memory_gib": 1, "metric": "peak reserved"}, f"{TITAN} commit f4614f333 (#3975)", "is not said"),
        ({"peak_memory_gib": 1}, f"{TITAN} commit db52d57ca (#1351)", "training peak, reserved, of the first step"),
    ],
)
def test_like_is_compared_with_like(measured: dict[str, Any], source: str, expected: str) -> None:
    """As the figure says, else as its source does, and the source is read where it says otherwise."""
    assert entry(trained(measured, source=source))["class"].endswith(expected)


def test_reserved_and_in_use_are_two_figures() -> None:
    both = entries(trained({"peak_active_gib": 1, "peak_memory_gib": 2}, source=TITAN))
    assert {(one["class"], one["measured"]) for one in both} == {
        ("training peak, allocated", 1.0),
        ("training peak, reserved", 2.0),
    }


def test_the_first_step_runs_before_the_states_exist() -> None:
    """AdamW's two fp32 states, of a GPU's part of the parameters, are reserved after it; what lies free between them
    may be as much again."""
    run = {"source": TITAN, "parallelism": {"fsdp": 8}, "batch": 32, "flags": {"recompute": "none"}}
    first, later = entries(trained({"peak_memory_gib": 1, "step1_gib": 1}, **run))[::-1]
    assert "of the first step" in first["class"]
    states = 2 * 4 * NEW_PARAMS / 8
    assert 0.5 * states < (later["predicted"] - first["predicted"]) * GIB < 2 * states


def test_a_case_is_read_by_its_source_and_not_by_its_name() -> None:
    """Under any id."""
    run = {"source": f"{TITAN} (#822)", "flags": {"compile": True}}
    first, second = entries(*(trained({"peak_memory_gib": 1}, id=name, **run) for name in ("tt-822", "anything")))
    assert first["predicted"] == second["predicted"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f"{TITAN} commit 5940ddeb5 (#822)", "adamw"),
        (f"{TITAN} commit 069bae286 (#808)", "adamw-fused"),  # since 24 February 2025
        ("https://github.com/pytorch/torchtune bd2a0fc README.md", "adamw-fused"),  # in its configs
        ("https://github.com/Lightning-AI/litgpt 2685705 config_hub/finetune/README.md", "adamw"),
    ],
)
def test_the_optimizer_is_as_the_code_runs_it(source: str, expected: str) -> None:
    asked = habits(read(trained({}, source=source)))
    assert asked["optimizer"] is None
    assert code(asked["code"]).habits.optimizer == expected


def cached(measured: dict[str, Any], arch: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A log of llama.cpp."""
    return {"id": "log", "kind": "llamacpp_load_log", "model": "one", "arch": arch, "measured": measured, **more}


def test_a_cache_is_in_the_format_that_the_case_names() -> None:
    """A block of q8_0 is 32 numbers in 34 bytes: 16 layers, 16 heads of 128, keys and values, 8192 tokens."""
    arch = {"layers": 16, "kv_heads": 16, "head_dim": 128, "hidden": 2048}
    numbers = 2 * 16 * 16 * 128 * 8192
    asked = {"kv_cache_mib": numbers * 34 / 32 / 2**20}
    assert entry(cached(asked, arch, seq=8192, kv_cache_dtype="q8_0"))["error"] == 0
    assert entry(cached(asked, arch, seq=8192))["error"] == pytest.approx(2 / (34 / 32) - 1)


def test_a_latent_cache_is_one_vector_a_token() -> None:
    """Of DeepSeek's 512 numbers and 64 rotated ones, in f16, and not 128 heads of 192 and 128."""
    arch = {"arch": "deepseek2", "layers": 61, "hidden": 7168, "heads": 128, "kv_heads": 128, "head_dim_k": 192}
    asked = {"kv_cache_mib": 61 * (512 + 64) * 2 * 32768 / 2**20}
    log = {"seq": 32768, "flags": {"kv_types": "c^KV (f16): 2196.00 MiB, kv^T: not used"}}
    assert entry(cached(asked, {**arch, "head_dim_v": 128}, **log))["error"] == 0


PEAK = {"peak_memory_gib": 1}
BROKEN: list[Any] = [None, 5, "text", [], {}, {"id": 7}, trained({"peak_memory_gib": [1]}), trained({}, arch="none")]
BROKEN += [trained(PEAK, arch={"layers": "many"}), trained(PEAK, parallelism="some"), trained(PEAK, arch=None)]
BROKEN += [trained(PEAK, batch=None), trained(PEAK, seq="long"), trained({"peak_memory_gib": 0})]


def test_a_broken_case_hides_no_other() -> None:
    """Each has a line of its own, with a reason and no number."""
    found = entries(*BROKEN, trained({"peak_memory_gib": 1.0}))
    assert len(found) == len(BROKEN) + 1
    assert all(one["predicted"] is None and one["why_not"] for one in found[:-1])
    assert found[-1]["predicted"] is not None


def test_what_is_inferred_is_not_held_against_a_promise() -> None:
    """A case of trust B is named, and does not count in a class that has a target."""
    log = cached({"kv_cache_mib": 1.0}, {"layers": 1, "kv_heads": 1, "head_dim": 64, "hidden": 64}, seq=8, trust="B")
    assert "one thing is inferred" in entry(log)["why_not"]
