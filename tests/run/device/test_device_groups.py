"""Several devices: how people write them, and what a group says of them."""

from __future__ import annotations

import pytest

from archcalc.core.errors import InputError
from archcalc.run.device import device, group, remarks

GIB = 2**30


@pytest.mark.parametrize(
    ("typed", "members"),
    [
        ("3090", [(1, "rtx-3090")]),
        ("2x3090", [(2, "rtx-3090")]),
        ("2x rtx-3090", [(2, "rtx-3090")]),
        ("2 × 3090", [(2, "rtx-3090")]),
        ("2*3090", [(2, "rtx-3090")]),
        ("8xH100", [(8, "h100")]),
        ("4 x a100-80gb", [(4, "a100-80gb")]),
        ("1x A100-SXM4-40GB", [(1, "a100-40gb")]),
        ("1x A10G 24GB", [(1, "a10g")]),
        ("a100_80gb x8", [(8, "a100-80gb")]),
        ("DGX-H100 x64", [(64, "h100")]),
        ("2,240x A100", [(2240, "a100-80gb")]),
        ("rtx-5070-ti+rtx-5090", [(1, "rtx-5070-ti"), (1, "rtx-5090")]),
        ("2x3090 + 4090", [(2, "rtx-3090"), (1, "rtx-4090")]),
        ("2x24GB", [(2, "24GB")]),
        ("Ryzen AI Max+ 395", [(1, "strix-halo-128gb")]),
    ],
)
def test_a_group_is_read_as_people_write_it(typed: str, members: list[tuple[int, str]]) -> None:
    found = group(typed)
    assert [(member.count, member.name) for member in found.members] == members
    assert found.count == len(found.each) == sum(count for count, _ in members)
    assert found.is_uniform == (len(members) == 1)


def test_a_group_is_written_as_it_is_read() -> None:
    assert str(group("2x3090+4090")) == "2x rtx-3090 + rtx-4090"
    assert group(str(group("2x3090+4090"))) == group("2x3090+4090")
    assert {each.memory.bytes for each in group("2x24GB").kinds} == {24 * GIB}


def test_every_device_of_a_group_has_its_remarks() -> None:
    assert [said.partition(":")[0] for said in remarks("2x a100 + 4060ti")] == ["a100", "4060ti"]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("0x3090", "expected 1 to 100,000 devices, found 0x3090"),
        ("9999999x3090+a100", "expected 1 to 100,000 devices, found 9999999x3090+a100"),
        ("100000xh100+a100", "expected 1 to 100,000 devices, found 100000xh100+a100"),
        ("2x", "no device is called 2x"),
        ("3090+ +4090", "no device is called nothing"),
        ("2xh10", "did you mean h100"),
        ("2x rtx 6000", "quadro-rtx-6000, rtx-6000-ada"),
    ],
)
def test_a_wrong_group_is_told(typed: str, told: str) -> None:
    with pytest.raises(InputError) as error:
        group(typed)
    assert told in str(error.value)


def test_who_answers_for_one_device_says_so() -> None:
    with pytest.raises(InputError, match="2x3090 is 2 devices, and this answers for one"):
        device("2x3090")
