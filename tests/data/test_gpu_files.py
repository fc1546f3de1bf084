"""The device catalog: every file has the one layout, names a source, and gives figures that can be true."""

from __future__ import annotations

import copy
import difflib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from conftest import Run

GPUS = Path(__file__).parents[2] / "presets" / "gpus"
FILES = sorted(GPUS.glob("*.yaml"))
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the quick one, where PyYAML has it

KEYS = [
    *(
        "name",
        "maker",
        "kind",
        "generation",
        "compute",
        "aliases",
        "year",
        "memory",
        "bandwidth",
        "peak",
        "link",
        "power",
    ),
    *("sources", "note"),
]
OPTIONAL = {"generation", "compute", "link", "power", "note"}
MEMORY = ["nameplate", "bytes", "reported", "working_set", "source"]
LINK = ["kind", "bytes_per_second", "note"]
DTYPES = ["fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4"]
KINDS = {"datacenter", "workstation", "consumer", "embedded", "tpu", "unified"}

TYPED = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")  # as people type it
NAMEPLATE = re.compile(r"(\d+)GB")

# Bounds that catch a slipped digit or unit, and hold for devices that are yet to come: they grow together.
CENTURY = range(2000, 2100)
SECONDS_TO_READ_ALL = (0.002, 2)  # a GeForce reads its memory in 14 ms, an M3 Ultra in 0.7 s
MEMORY_TO_LINK = (1, 100)  # memory is 2 to 9 times as fast as NVLink, Infinity Fabric or ICI
FULL_ACCUMULATE = {"titan-rtx"}  # consumer cards that do not halve FP32 accumulation
PROPORTIONED = {"volta", "turing", "ampere", "ada", "hopper", "blackwell"}  # NVIDIA's, up to now: the next may differ
WEAK_INT8 = {"b300", "gb300"}  # Blackwell Ultra gave most of its INT8 up

Device = dict[str, Any]

TOMORROW: Device = {
    "name": "Acme Rocket 9 1024GB",
    "maker": "Acme",
    "kind": "datacenter",
    "aliases": ["rocket9"],
    "year": 2028,
    "memory": {"nameplate": "1024GB", "bytes": 2**40},
    "bandwidth": 50 * 10**12,
    "peak": {"bf16": 10**16, "fp8": 2 * 10**16},
    "link": {"kind": "RocketLink", "bytes_per_second": 8 * 10**12, "note": "made up"},
    "sources": ["a data sheet yet to be written"],
}


def read(path: Path) -> Device:
    """One file as plain values."""
    device: Device = yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER)
    return device


CATALOG = {path.stem: read(path) for path in FILES}


def close(part: int, whole: int, times: float) -> bool:
    """`whole` is `times` × `part`, but for the rounding of data sheets."""
    return abs(whole / part - times) < 0.03 * times


def between(figure: float, bounds: tuple[float, float]) -> bool:
    return bounds[0] <= figure <= bounds[1]


def ordered(given: dict[str, Any], known: list[str], optional: set[str]) -> bool:
    """Known keys only, in their order, none missing that must be there."""
    return list(given) == [key for key in known if key in given] and set(known) - set(given) <= optional


def layout(device: Device) -> list[str]:
    """What a strict reader would refuse."""
    if not ordered(device, KEYS, OPTIONAL):
        return [f"keys {list(device)}"]
    faults = []
    memory, peak, link = device["memory"], device["peak"], device.get("link", {})
    if not ordered(memory, MEMORY, {"reported", "working_set", "source"}) or ("reported" in memory) != (
        "source" in memory
    ):
        faults.append(f"memory keys {list(memory)}")
    if not ordered(peak, DTYPES, set(DTYPES)):
        faults.append(f"peak keys {list(peak)}")
    if link and not ordered(link, LINK, set()):
        faults.append(f"link keys {list(link)}")
    if device["kind"] not in KINDS or device["year"] not in CENTURY:
        faults.append("kind or year")
    figures = [memory["bytes"], memory.get("reported", 1), device["bandwidth"], *peak.values(), device["year"]]
    figures += [link.get("bytes_per_second", 1), device.get("power", 1)]
    if not all(type(figure) is int and figure > 0 for figure in figures):
        faults.append("a figure is not a positive whole number")
    texts = [
        device["name"],
        device["maker"],
        memory.get("source", "-"),
        device.get("note", "-"),
        *device["sources"],
        *device["aliases"],
    ]
    if not device["sources"] or not all(isinstance(text, str) and text.strip() for text in texts):
        faults.append("sources or texts")
    return faults


def capacity(device: Device) -> list[str]:
    """The nameplate means binary gigabytes, and a driver shows a little less than that."""
    memory, faults = device["memory"], []
    printed = NAMEPLATE.fullmatch(memory["nameplate"])
    decimal = "decimal" in device.get("note", "")
    if printed is None or memory["bytes"] != int(printed[1]) * (10**9 if decimal else 2**30):
        faults.append(f"{memory['nameplate']} is not {memory['bytes']} bytes")
    share = memory.get("reported", memory["bytes"]) / memory["bytes"]
    if not 0.9 <= share <= 1:  # ECC takes a sixteenth
        faults.append(f"reported is {share:.3f} of the nameplate")
    if not between(memory["bytes"] / device["bandwidth"], SECONDS_TO_READ_ALL):
        faults.append(f"bandwidth {device['bandwidth']}")
    if "link" in device and not between(device["bandwidth"] / device["link"]["bytes_per_second"], MEMORY_TO_LINK):
        faults.append(f"link {device['link']}")
    return faults


def rates(key: str, device: Device) -> list[str]:
    """Narrower types are never slower, and in NVIDIA's generations up to now types stand in fixed proportions: a sparse
    peak breaks them."""
    peak: dict[str, int] = device["peak"]
    faults = []
    for wide, narrow in (("fp64", "fp32"), ("fp32", "fp16"), ("fp32", "bf16"), ("bf16", "fp16"), ("fp16", "fp8")):
        if wide in peak and narrow in peak and peak[wide] > peak[narrow]:
            faults.append(f"{narrow} is slower than {wide}")
    if device.get("generation") not in PROPORTIONED:
        return faults
    halved = device["kind"] == "consumer" and key not in FULL_ACCUMULATE  # GeForce halves FP32 accumulation of floats
    proportions = [("bf16", "fp16", 1.0), ("tf32", "fp16", 2.0), ("fp16", "fp8", 2.0)]
    if key not in WEAK_INT8:
        proportions += [("fp16", "int8", 4.0 if halved else 2.0), ("fp8", "fp4", 4.0 if halved else 2.0)]
    for one, other, times in proportions:
        if one in peak and other in peak and not close(peak[one], peak[other], times):
            faults.append(f"{other} is {peak[other] / peak[one]:.2f} × {one}, not {times}")
    return faults


def faults(key: str, device: Device) -> list[str]:
    """All that is wrong with a device; what has the wrong layout is not asked for more."""
    return layout(device) or capacity(device) + rates(key, device)


def test_the_catalog_is_there() -> None:
    """Eighty devices at the least, of five makers or more and of every kind."""
    assert len(FILES) >= 80
    assert {device["maker"] for device in CATALOG.values()} >= {"NVIDIA", "AMD", "Intel", "Google", "Apple"}
    assert {device["kind"] for device in CATALOG.values()} == KINDS


def test_a_maker_has_one_spelling() -> None:
    """A maker is whatever the files say, so a slip of the pen would make a second one of it."""
    makers = sorted({device["maker"].lower() for device in CATALOG.values()})
    assert [close for maker in makers for close in difflib.get_close_matches(maker, makers, n=2, cutoff=0.8)] == makers


def test_a_device_of_tomorrow_is_welcome(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2028, of a maker that no file names yet, with twice the bandwidth and link of today's fastest."""
    (tmp_path / "gpus").mkdir()
    file = tmp_path / "gpus" / "rocket-9.yaml"
    file.write_text(yaml.safe_dump(TOMORROW, sort_keys=False), encoding="utf-8")
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    assert faults("rocket-9", read(file)) == []
    assert [row["gpu"] for row in run("gpus", "--maker", "acme", "--format", "json").json["rows"]] == ["rocket-9"]
    assert "Rocket 9" in run("gpus", "Acme Rocket9").out
    assert "rocket-9" in run("fit", "gpt2", "--gpu", "rocket-9").out


@pytest.mark.parametrize("key", CATALOG)
def test_a_device_is_well_formed_and_plausible(key: str) -> None:
    """Layout, memory and proportions of the peaks."""
    assert faults(key, CATALOG[key]) == []


def test_names_and_aliases_are_unique() -> None:
    """A name that is typed means one device."""
    typed = [name for key, device in CATALOG.items() for name in (key, *device["aliases"])]
    assert sorted(typed) == sorted(set(typed))
    assert all(TYPED.fullmatch(name) for name in typed)
    titles = [device["name"] for device in CATALOG.values()]
    assert sorted(titles) == sorted(set(titles))


def test_the_title_names_the_memory() -> None:
    """Variants differ by memory, so the title or the file name shows it wherever a maker sells more than one."""
    for key, device in CATALOG.items():
        if device["kind"] != "tpu":
            assert device["memory"]["nameplate"] in device["name"], key


def test_a_memory_size_in_a_file_name_is_the_nameplate() -> None:
    """`a100-40gb` has 40 GB."""
    for key, device in CATALOG.items():
        size = re.search(r"(\d+gb)\b", key)
        assert size is None or size[1].upper() == device["memory"]["nameplate"], key


@pytest.mark.parametrize(
    ("key", "bf16", "bandwidth"),
    [  # dense TFLOP/s and GB/s that public lists often have wrong
        ("a100-40gb", 312, 1555),
        ("a100-80gb", 312, 2039),
        ("a100-80gb-pcie", 312, 1935),
        ("a10", 125, 600),
        ("a10g", 70, 600),
        ("h100", 989.5, 3350),
        ("h100-pcie", 756.5, 2000),
        ("h100-nvl", 835.5, 3900),
        ("h200", 989.5, 4800),
        ("b200", 2250, 7700),
        ("rtx-3090", 71, 936),
        ("rtx-4090", 165.2, 1008),
        ("rtx-5090", 209.5, 1792),
        ("mi250x", 191.5, 1638.4),
        ("mi300x", 1307.4, 5300),
        ("tpu-v5e", 197, 819),
    ],
)
def test_figures_that_lists_have_wrong(key: str, bf16: float, bandwidth: float) -> None:
    """Sparse for dense, FP16 for FP32 accumulation, two dies for one, SXM for PCIe."""
    device = CATALOG[key]
    assert device["peak"]["bf16"] == round(bf16 * 10**12)
    assert device["bandwidth"] == round(bandwidth * 10**9)


@pytest.mark.parametrize(
    ("key", "gib"),
    [
        ("h100", 79.19),
        ("a100-80gb", 79.15),
        ("h200", 139.80),
        ("b200", 178.35),
        ("h100-96gb", 95.04),
        ("mi300x", 191.98),
    ],
)
def test_reported_memory_is_what_logs_print(key: str, gib: float) -> None:
    """To the hundredth of a GiB that PyTorch and vLLM print."""
    assert CATALOG[key]["memory"]["reported"] / 2**30 == pytest.approx(gib, abs=0.005)


@pytest.mark.parametrize(
    ("key", "dtype", "times", "tops"),
    [
        ("rtx-5090", "fp4", 2, 3352),  # sparse FP4
        ("rtx-5080", "fp4", 2, 1801),
        ("rtx-5070-ti", "fp4", 2, 1406),
        ("rtx-5070", "fp4", 2, 988),
        ("rtx-4060-ti", "fp8", 4, 353),  # sparse FP8 with FP16 accumulation
        ("rtx-4060", "fp8", 4, 242),
    ],
)
def test_dense_peaks_lead_to_the_advertised_tops(key: str, dtype: str, times: int, tops: int) -> None:
    """What NVIDIA advertises comes from the dense peak, whichever way that was worked out."""
    assert CATALOG[key]["peak"][dtype] * times / 10**12 == pytest.approx(tops, rel=0.002)


MISTAKES = ["sparse", "decimal", "driver", "float", "unknown key", "no source", "missing", "GB/s", "bits", "year"]


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_wrong_file_is_noticed(kind: str) -> None:
    """Each of the mistakes a public list makes, put into a good file."""
    device = copy.deepcopy(CATALOG["h100"])
    if kind == "sparse":
        device["peak"]["fp16"] = device["peak"]["bf16"] = 1979 * 10**12
    elif kind == "decimal":
        device["memory"]["bytes"] = 80 * 10**9
    elif kind == "driver":
        device["memory"]["reported"] = device["memory"]["bytes"] + 1
    elif kind == "float":
        device["bandwidth"] = 3.35e12
    elif kind == "unknown key":
        device["peak"]["fp6"] = 10**15
    elif kind == "no source":
        device["sources"] = []
    elif kind == "GB/s":
        device["bandwidth"] //= 1000
    elif kind == "bits":
        device["link"]["bytes_per_second"] *= 8
    elif kind == "year":
        device["year"] = 202
    else:
        del device["bandwidth"]
    assert faults("h100", CATALOG["h100"]) == []
    assert faults("h100", device) != []


def test_fp16_accumulation_on_geforce_is_noticed() -> None:
    """The RTX 4090's 330.3 TFLOP/s accumulate in FP16."""
    device = copy.deepcopy(CATALOG["rtx-4090"])
    device["peak"]["bf16"] = device["peak"]["fp16"] = 330_300 * 10**9
    assert faults("rtx-4090", device) != []
