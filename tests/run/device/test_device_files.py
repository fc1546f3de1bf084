"""Device files: read strictly, and added by whoever has a device that is not listed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from archcalc.core.errors import InputError
from archcalc.run.device import Memory, catalog, device, names, rated

GIB = 2**30


def test_capacity_is_what_the_driver_reports() -> None:
    """The nameplate where no source says more."""
    assert device("h100")[1].capacity == 85_028_896_768 < device("h100")[1].memory.bytes == 80 * GIB
    assert device("h800")[1].capacity == 80 * GIB


@pytest.mark.parametrize(
    ("text", "capacity"),
    [
        ("24GiB", 24 * GIB),
        ("24GB", 24 * GIB),
        ("24G", 24 * GIB),
        ("24 gib", 24 * GIB),
        ("1.5TB", 1536 * GIB),
        ("512MiB", 512 * 2**20),
        ("24000MB", 24000 * 2**20),
        ("25769803776 bytes", 24 * GIB),
    ],
)
def test_a_memory_size_is_a_device(text: str, capacity: int) -> None:
    """Cards are rated in binary gigabytes, so a card of 24GB has 24 GiB; and so it is in a file of one's own."""
    assert device(text)[1].capacity == capacity
    assert Memory.model_validate(text).bytes == capacity


def test_a_size_as_makers_write_it_is_what_the_catalog_has() -> None:
    """Every nameplate, read as a size, comes to the bytes that stand beside it."""
    read = {each.memory.nameplate: each.memory.bytes for each in catalog().values() if each.memory.nameplate}
    assert len(read) > 20
    assert {text: device(text)[1].capacity for text in read} == read


@pytest.mark.parametrize("text", ["910b", "910B", "24", "780m", "4090", "24b", "k80"])
def test_a_size_needs_a_unit_of_memory(text: str) -> None:
    """An Ascend 910B and a Radeon 780M are devices, not 910 bytes and 780 megabytes."""
    assert rated(text) is None


def test_devices_are_listed_with_numbers_in_order() -> None:
    """Sizes as numbers, not as words."""
    listed = names()
    assert listed == list(catalog())
    assert listed.index("m3-max-36gb") < listed.index("m3-max-48gb") < listed.index("m3-max-128gb")


def added(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch, name: str = "mine") -> None:
    """A device file in a folder of the user's."""
    (folder / "gpus").mkdir()
    (folder / "gpus" / f"{name}.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("ARCHCALC_PRESETS", os.fspath(folder))


def test_a_device_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name and its memory are enough."""
    added(tmp_path, "name: My card\nmemory: 20GiB\naliases: [card]\nbandwidth: 1e12\n", monkeypatch)
    assert device("mine")[1].capacity == device("card")[1].capacity == device("my card")[1].capacity == 20 * GIB
    assert device("mine")[1].bandwidth == 10**12


def test_ones_own_wins_over_what_ships(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the name of the file, as with models."""
    added(tmp_path, "name: My H100\nmemory: 60GiB\n", monkeypatch, name="h100")
    assert device("h100")[1].capacity == 60 * GIB


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("memory: 20GiB\n", "name"),
        ("name: x\nmemory: plenty\n", "expected a memory size"),
        ("name: x\nmemory: {bytes: -1}\n", "memory.bytes"),
        ("name: x\nmemory: 1GiB\nbandwith: 1\n", "did you mean bandwidth"),
        ("name: x\nmemory: 1GiB\npeak: {bf16: 1.5}\n", "peak.bf16"),
        ("name: x\nmemory: 1GiB\nkind: server\n", "datacenter"),
    ],
)
def test_a_wrong_file_is_told_with_its_line(
    text: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File, field, and what is meant."""
    added(tmp_path, text, monkeypatch)
    with pytest.raises(InputError) as error:
        device("mine")
    assert told in str(error.value) and "mine.yaml" in str(error.value)
