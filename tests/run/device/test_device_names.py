"""What people, drivers and libraries call a device, and the device that is found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from archcalc.core.errors import InputError
from archcalc.run.device import catalog, device, remarks

TYPED = {
    # as people type them
    "3090": "rtx-3090",
    "RTX 4090": "rtx-4090",
    "rtx4090": "rtx-4090",
    "rtx_4090": "rtx-4090",
    "4060ti": "rtx-4060-ti",
    "4060 Ti 16gb": "rtx-4060-ti-16gb",
    "RTX4060Ti 16G": "rtx-4060-ti-16gb",
    "1080ti": "gtx-1080-ti",
    "7900xtx": "rx-7900-xtx",
    "b580": "arc-b580",
    "a6000": "rtx-a6000",
    "a100": "a100-80gb",
    "A100 40GB": "a100-40gb",
    "a100 80": "a100-80gb",
    "a100-40": "a100-40gb",
    "V100 32GB": "v100-32gb",
    "mi300": "mi300x",
    "m3 max": "m3-max-36gb",
    "m3 max 64": "m3-max-64gb",
    "M3 Max 64 GB": "m3-max-64gb",
    "Apple M3 Max 64GB": "m3-max-64gb",
    "MacBook Pro M4 Max 128GB": "m4-max-128gb",
    "Mac Studio M3 Ultra 512GB": "m3-ultra-512gb",
    "Mac mini M4 Pro 24GB": "m4-pro-24gb",
    "strix halo": "strix-halo-128gb",
    "Ryzen AI Max+ 395": "strix-halo-128gb",
    "DGX Spark": "dgx-spark",
    "4090 laptop": "rtx-4090-laptop",
    "rtx 4090 laptop gpu": "rtx-4090-laptop",
    "RTX 4090 mobile": "rtx-4090-laptop",
    "5070 ti laptop": "rtx-5070-ti-laptop",
    "4090D": "rtx-4090-d",
    "4090 48GB": "rtx-4090-48gb",
    "2080ti 22gb": "rtx-2080-ti-22gb",
    "2070 super": "rtx-2070-super",
    "rtx pro 6000": "rtx-pro-6000-blackwell",
    "RTX PRO 5000 72GB": "rtx-pro-5000-72gb",
    "mi50 32gb": "mi50-32gb",
    "R9700": "radeon-r9700",
    "9070 xt": "rx-9070-xt",
    "w7900": "radeon-pro-w7900",
    "b60": "arc-pro-b60",
    "Arc Pro B70": "arc-pro-b70",
    "a2": "a2",
    "AGX Orin 32GB": "jetson-orin-agx-32gb",
    "910b": "ascend-910b",
    "910B": "ascend-910b",
    "Ascend 910C": "ascend-910c",
    "trn1": "trn1",
    "inf2": "inf2",
    "Trainium2": "trn2",
    "m5 max 128": "m5-max-128gb",
    "MacBook Neo": "macbook-neo-8gb",
    "v5e": "tpu-v5e",
    "TPU v6e": "tpu-v6e",
    # as nvidia-smi, torch and vLLM print them
    "NVIDIA GeForce RTX 3090": "rtx-3090",
    "NVIDIA A100-SXM4-80GB": "a100-80gb",
    "NVIDIA A100-SXM4-40GB": "a100-40gb",
    "NVIDIA A100-PCIE-40GB": "a100-40gb-pcie",
    "NVIDIA A100 80GB PCIe": "a100-80gb-pcie",
    "NVIDIA H100 80GB HBM3": "h100",
    "NVIDIA H100 PCIe": "h100-pcie",
    "NVIDIA H100 NVL": "h100-nvl",
    "NVIDIA H200": "h200",
    "NVIDIA B200": "b200",
    "NVIDIA GB10": "dgx-spark",
    "Tesla T4": "t4",
    "Tesla V100-SXM2-16GB": "v100-16gb",
    "Tesla V100-SXM2-32GB": "v100-32gb",
    "NVIDIA RTX A6000": "rtx-a6000",
    "NVIDIA RTX 6000 Ada Generation": "rtx-6000-ada",
    "NVIDIA RTX PRO 6000 Blackwell Workstation Edition": "rtx-pro-6000-blackwell",
    "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition": "rtx-pro-6000-max-q",
    "NVIDIA RTX PRO 6000 Blackwell Server Edition": "rtx-pro-6000-server",
    "NVIDIA GeForce RTX 5090 Laptop GPU": "rtx-5090-laptop",
    "NVIDIA H200 NVL": "h200-nvl",
    "NVIDIA Thor": "jetson-thor-128gb",
    "Quadro RTX 8000": "quadro-rtx-8000",
    "NVIDIA L4": "l4",
    "NVIDIA L40S": "l40s",
    "AMD Instinct MI300X": "mi300x",
    "AMD Radeon RX 7900 XTX": "rx-7900-xtx",
    "Intel(R) Arc(TM) A770 Graphics": "arc-a770",
    # with what a driver reported
    "H100-80GB (79.19 GiB)": "h100",
    "H100 (95 GiB)": "h100-96gb",
    "H100 96GB HBM2e": "h100-96gb",
    "RTX 3090 24GB (23.58GiB)": "rtx-3090",
    "RTX PRO 6000 Blackwell 95GB": "rtx-pro-6000-blackwell",
}


@pytest.mark.parametrize(("typed", "name"), TYPED.items())
def test_a_device_is_found_as_it_is_called(typed: str, name: str) -> None:
    assert device(typed)[0] == name


@pytest.mark.wide
def test_every_spelling_means_one_device() -> None:
    """What is left of a name without its dashes is still unlike every other."""
    for name, each in catalog().items():
        for spelling in (name, each.name, name.replace("-", ""), *each.aliases):
            assert device(spelling)[0] == name, spelling


@pytest.mark.parametrize("typed", ["a100", "v100", "4060 ti", "m3 max", "m4"])
def test_a_name_that_leaves_the_memory_open_says_what_was_taken(typed: str) -> None:
    """With the variants of other memory, the smallest first."""
    name, each = device(typed)
    said = remarks(typed)[0]
    assert said.startswith(f"{typed}: taken as {name}, {each.name}; others of that name: ")
    others = [word for word in said.partition("name: ")[2].replace(",", "").split() if word in catalog()]
    sizes = [catalog()[other].memory.bytes for other in others]
    assert sizes == sorted(sizes) and each.memory.bytes not in sizes and sizes


@pytest.mark.parametrize("typed", ["h100", "RTX 3090", "3090", "A100 40GB", "a100 80", "NVIDIA A100-SXM4-80GB", "8GiB"])
def test_a_name_that_says_all_needs_no_remark(typed: str) -> None:
    """A file's own name, a size, or the only device of that name."""
    assert remarks(typed) == []


def test_another_name_for_a_device_is_told() -> None:
    assert remarks("mi300") == ["mi300: taken as mi300x, AMD Instinct MI300X 192GB"]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("h10", "did you mean h100"),
        ("", "no device is called nothing"),
        ("0GiB", "must be more than 0 bytes"),
        ("1.2.3GB", "expected a memory size"),
        ("24", "did you mean 24GB?"),
        ("rtx 6000", "quadro-rtx-6000, rtx-6000-ada"),
        ("a100 24GB", "no device is called a100 24GB"),
    ],
)
def test_an_unknown_device_is_told(typed: str, told: str) -> None:
    """With the closest names, or the question which one is meant."""
    with pytest.raises(InputError) as error:
        device(typed)
    assert told in str(error.value)


def test_the_usual_variant_goes_by_the_bare_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file says so by an alias; where none does, the question is which one."""
    (tmp_path / "gpus").mkdir()
    for size in (8, 16):
        text = f"name: Acme Rocket {size}GB\nmaker: Acme\nmemory: {size}GB\n"
        (tmp_path / "gpus" / f"rocket-{size}gb.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("ARCHCALC_PRESETS", os.fspath(tmp_path))
    assert device("Acme Rocket 16")[0] == "rocket-16gb"
    with pytest.raises(InputError, match="rocket may be one of 2 devices"):
        device("rocket")
    (tmp_path / "gpus" / "rocket-24gb.yaml").write_text(
        "name: Acme Rocket 24GB\nmaker: Acme\naliases: [rocket]\nmemory: 24GB\n", encoding="utf-8"
    )
    assert device("acme rocket")[0] == "rocket-24gb"
    assert "rocket-8gb (8.00 GiB), rocket-16gb (16.00 GiB)" in remarks("acme rocket")[0]
