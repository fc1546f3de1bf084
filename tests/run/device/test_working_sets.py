"""Unified memory: the rules meet what public logs print."""

from __future__ import annotations

from pathlib import Path

import pytest

from archcalc.core.errors import InputError
from archcalc.run.device import catalog, device, remarks
from archcalc.run.device.working_set import rule

GIB = 2**30
PAGE = 16 * 2**10  # of Apple silicon: the driver rounds to it
MB = 10**6  # llama.cpp prints recommendedMaxWorkingSetSize in these, to two digits

# Memory in GiB, and the bytes that Metal recommends: MLX prints them exactly, llama.cpp to 0.01 MB.
SINCE_26 = [
    (8, 5_726_633_984),  # MLX, A18 Pro, macOS 26.5.1
    (16, 12_713.12 * MB),  # whisper.cpp, M3; llama.cpp, M4, Metal 4
    (18, 14_302.25 * MB),  # llama.cpp, M3 Pro
    (24, 19_069.67 * MB),  # llama.cpp, M5, darwin25.1.0
    (32, 26_800_603_136),  # MLX, M1 Max; llama.cpp, M4, Metal 4
    (36, 30_150.67 * MB),  # llama.cpp, M3 Max
    (48, 40_200_896_512),  # MLX, M4 Pro; llama.cpp, M5 Pro
    (64, 55_662_788_608),  # MLX; llama.cpp, M4 Pro, macOS 27.0
    (96, 83_494_174_720),  # MLX, M3 Ultra
    (128, 115_448.73 * MB),  # llama.cpp, M4 Max and M5 Max; github.com/antirez/ds4/pull/893: 107.52 GiB, macOS 26
    (192, 173_173_080_064),  # MLX, M2 Ultra, April 2026
    (256, 228_065 * 2**20),  # llama.cpp, M3 Ultra, August 2026, wired limit 0
    (512, 498_216.21 * MB),  # llama.cpp, M3 Ultra, April 2026: 464 GiB
]
BEFORE_26 = [
    (8, 5_461.34 * 2**20),  # chatglm.cpp, M2, 2023: github.com/li-plus/chatglm.cpp/issues/76
    (16, 11_453.25 * MB),  # llama.cpp, M1: github.com/ggml-org/llama.cpp/issues/4495
    (24, 17_179.89 * MB),  # llama.cpp, M4 Pro, Metal 3
    (32, 22_906.50 * MB),  # llama.cpp, M1 Pro, 2024
    (36, 28_991.03 * MB),  # llama.cpp, Metal 3
    (64, 51_539.61 * MB),  # whisper.cpp, M2 Max
    (96, 73_728 * 2**20),  # llama.cpp, M2 Max: github.com/ggml-org/llama.cpp/issues/3213
    (128, 103_079.22 * MB),  # llama.cpp, M3 Max
    (256, 223_338_299_392),  # MLX, M3 Ultra, 2025: 208 GiB
]
SYSTEMS = {"macOS 26 or later": SINCE_26, "macOS 15 or earlier": BEFORE_26}


@pytest.mark.parametrize(("system", "gibibytes", "printed"), [(s, *log) for s, logs in SYSTEMS.items() for log in logs])
def test_the_rule_of_metal_meets_the_logs(system: str, gibibytes: int, printed: float) -> None:
    """To a page, and to the rounding of what is printed in MB or MiB."""
    found = next(each for each in rule("metal").systems if each.name == system)
    rounding = 2**20 if printed % 2**20 == 0 else 0.01 * 2**20
    assert abs(found.usable(gibibytes * GIB) - printed) <= PAGE + rounding


@pytest.mark.parametrize(
    ("name", "gib"),
    [
        ("m2-max-96gb", 77.76),
        ("m3-ultra-512gb", 464),
        ("m4-max-128gb", 107.52),
        ("m4-pro-24gb", 17.76),
        ("strix-halo-128gb", 112),  # 111.89 with 96 of 128 GB set aside: github.com/unslothai/unsloth/pull/10418
    ],
)
def test_a_device_has_the_memory_that_its_rule_gives(name: str, gib: float) -> None:
    assert device(name)[1].capacity / GIB == pytest.approx(gib, rel=1e-3)


def test_every_device_of_unified_memory_says_what_a_gpu_may_hold() -> None:
    """By a rule or by a driver's figure, never the nameplate."""
    for name, each in catalog().items():
        if each.kind == "unified":
            assert each.memory.reported or each.memory.working_set, name
            assert each.capacity < each.memory.bytes, name


def test_what_is_assumed_of_the_system_is_told() -> None:
    """The version, what the other one gives, and what raises the limit."""
    said = remarks("m4-max-128gb")[0]
    for told in ("107.5 GiB of 128.0 GiB", "macOS 26 or later; macOS 15 or earlier: 96.00 GiB", "iogpu.wired_limit_mb"):
        assert told in said


def test_an_unknown_rule_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gpus").mkdir()
    text = "name: Mine\nmemory: {bytes: 64GiB, working_set: metall}\n"
    (tmp_path / "gpus" / "mine.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    with pytest.raises(InputError, match="did you mean metal"):
        _ = device("mine")[1].capacity
