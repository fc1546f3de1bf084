"""benchmarks/accuracy.py: two columns for a few measured figures, rows as JSON, and that it can say no."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from measured_names import Configs
from measured_rows import rows

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "accuracy.py"
CASES: list[dict[str, Any]] = [
    {"id": "llama-3-8b", "kind": "param_count", "model": "llama-3-8b", "measured": {"params": 8_030_261_248}},
    # llama.cpp with a LLaMA v2 7B in F16: 32 layers, keys and values of 4,096 numbers in 16 bits, 2,048 tokens
    {
        "id": "cache",
        "kind": "llamacpp_load_log",
        "model": "llama-2-7b",
        "seq": 2048,
        "measured": {"kv_cache_mib": 1024.0},
    },
    # NeMo 24.07 on 8 H100, docs.nvidia.com
    {
        "id": "nemo-8b",
        "kind": "train_throughput",
        "model": "llama-3-8b",
        "seq": 8192,
        "measured": {"tokens_per_s_per_gpu": 12_036, "model_tflops": 697},
    },
]


def ran(folder: Path, cases: list[dict[str, Any]], *more: str) -> subprocess.CompletedProcess[str]:
    """The script, as a user runs it."""
    file = folder / "cases.json"
    file.write_text(json.dumps(cases), encoding="utf-8")
    asked = [sys.executable, str(SCRIPT), str(file), *more, "--processes", "1", "--alone"]
    return subprocess.run(asked, capture_output=True, text=True, check=False)


def test_figures_are_printed_with_facts_and_as_typed(tmp_path: Path) -> None:
    done = ran(tmp_path, CASES)
    assert "| parameters | 1 | 0 | 0 | 0 | 0 | 0 | 0 | exact ✓ |" in done.stdout, done.stderr
    assert "| KV cache, llama.cpp | 1 | 0 | 0 | 0 | 0 | 0 | 0 | exact ✓ |" in done.stdout
    assert "answers with a band: – of 0" in done.stdout


def test_figures_of_engines_are_printed_by_device_and_by_version(tmp_path: Path) -> None:
    on_a_device = {**CASES[1], "gpu": "RTX 3090", "flags": {"build": "b9010"}}
    done = ran(tmp_path, [*CASES, on_a_device])
    assert "| KV cache, llama.cpp | consumer | one | 1 | 0 | 100 % |" in done.stdout, done.stderr
    assert "| KV cache, llama.cpp | unnamed | one | 1 | 0 | 100 % |" in done.stdout
    assert "| KV cache, llama.cpp | b9000 on | 1 | 0 | 100 % |" in done.stdout
    assert "| KV cache, llama.cpp | not said | 1 | 0 | 100 % |" in done.stdout


def test_a_wrong_figure_is_noticed(tmp_path: Path) -> None:
    """A cache of 33 layers and not of 32: the class misses its target, and the case is named with its command."""
    wrong = {**CASES[1], "measured": {"kv_cache_mib": 1024.0 * 33 / 32}}
    done = ran(tmp_path, [wrong])
    assert done.returncode == 1
    assert "| KV cache, llama.cpp | 1 | 3.03 % | 3.03 % | 3.03 % | 3.03 % | 3.03 % | 3.03 % | exact ✗ |" in done.stdout
    assert "cache: KV cache, llama.cpp, 1,056 measured, 1,024 here (-3.0%)" in done.stdout
    assert "archcalc memory llama-2-7b --seq 2048 --engine llama.cpp" in done.stdout


def test_every_figure_is_printed_as_json(tmp_path: Path) -> None:
    """Of several files, with the command that a user would type."""
    (tmp_path / "more.json").write_text(json.dumps({"cases": CASES[:1]}), encoding="utf-8")
    done = ran(tmp_path, CASES, str(tmp_path / "more.json"), "--format", "json")
    found = json.loads(done.stdout)
    assert [one["id"] for one in found] == ["llama-3-8b", "cache", "nemo-8b", "llama-3-8b"]
    wanted = {"id", "class", "what", "measured", "predicted", "error", "band", "why_not", "run", "source", "as_typed"}
    wanted.add("today")
    assert set(found[2]) == wanted
    assert found[2]["as_typed"]["command"] == "archcalc flops llama-3-8b --mode train --batch 1 --seq 8192"
    assert found[2]["as_typed"]["error"] == pytest.approx(0, abs=0.001)
    assert set(found[2]["as_typed"]) == {"command", "predicted", "error", "band"}


def test_a_file_that_is_no_list_of_cases_is_told(tmp_path: Path) -> None:
    file = tmp_path / "cases.json"
    file.write_text("{", encoding="utf-8")
    done = subprocess.run([sys.executable, SCRIPT, tmp_path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{file}: no list of cases\n"


PEAK = {"peak_memory_gib": 1.0}
TRAINED = {"id": "one", "kind": "train_peak_memory", "model": "llama-3.2-1b", "batch": 1, "seq": 128, "measured": PEAK}
BROKEN: list[Any] = [None, 5, "text", [], {}, {"id": 7}, {**TRAINED, "measured": {"peak_memory_gib": [1]}}]
BROKEN += [{**TRAINED, "model": "nobody's"}, {**TRAINED, "parallelism": "some"}, {**TRAINED, "batch": None}]
BROKEN += [
    {**TRAINED, "seq": "long"},
    {**TRAINED, "measured": {"peak_memory": 1.5}},
    {**TRAINED, "flags": {"method": []}},
]


def test_a_broken_case_hides_no_other() -> None:
    """Each has a row of its own, with a reason and no number."""
    asking = Configs({})
    found = [rows(case, asking) for case in [*BROKEN[:-1], TRAINED]]
    assert [len(each) for each in found] == [1] * len(BROKEN)
    assert all(row.typed.refused and row.typed.predicted is None for each in found[:-1] for row in each)
    (last,) = found[-1]
    assert last.typed.predicted is not None


def test_a_refusal_is_told_in_archcalcs_words() -> None:
    """With the command, and without an error."""
    (found,) = rows({**TRAINED, "parallelism": {"pp": 7}}, Configs({}))
    shown = found.entry()["as_typed"]
    assert set(shown) == {"command", "refused"}
    assert "--pp" in shown["refused"] and "--pp 7" in shown["command"]


@pytest.mark.parametrize(
    ("measured", "gib"),
    [
        ({"peak_memory_mib": 1536}, 1.5),
        ({"peak_memory_gb": 1.5 * 2**30 / 10**9}, 1.5),
        ({"peak_memory": 1536, "unit": "MiB"}, 1.5),
        ({"peak_memory": "1.5 GiB"}, 1.5),
        ({"nvidia_smi_mib": 1536}, 1.5),
    ],
)
def test_units_are_read_as_given(measured: dict[str, Any], gib: float) -> None:
    (found,) = rows({**TRAINED, "measured": measured}, Configs({}))
    assert found.measured == pytest.approx(gib)


@pytest.mark.parametrize(
    ("measured", "source", "expected"),
    [
        ({**PEAK, "metric": "peak reserved GiB"}, "", "reserved"),
        ({**PEAK, "metric": "max_memory_allocated"}, "", "allocated"),
        ({**PEAK, "metric": '"about ... VRAM" of the README'}, "", "device"),
        (PEAK, "", "unsaid"),
        (PEAK, "https://github.com/pytorch/torchtitan", "reserved"),  # what its logs print
        ({"verdict": "OOM", "nvidia_smi_mib": 81166.0}, "", "verdict"),  # what the card shows is no peak
    ],
)
def test_like_is_compared_with_like(measured: dict[str, Any], source: str, expected: str) -> None:
    (found,) = rows({**TRAINED, "measured": measured, "source": source}, Configs({}))
    assert found.quantity == expected
