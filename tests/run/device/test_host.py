"""A CPU with so much RAM as a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from archcalc import load
from archcalc.run.device import device
from archcalc.run.device.host import host_device

if TYPE_CHECKING:
    from conftest import Run

GIB = 2**30


@pytest.mark.parametrize(
    ("written", "gib"),
    [
        ("64GB RAM", 64),
        ("64GB-ram", 64),
        ("cpu 64gb", 64),
        ("CPU-128GiB", 128),
        ("1 TB DDR5", 1024),
        ("32G system ram", 32),
    ],
)
def test_a_cpu_by_its_ram(written: str, gib: int) -> None:
    _, found = device(written)
    assert (found.kind, found.memory.bytes) == ("cpu", gib * GIB)


@pytest.mark.parametrize("written", ["64GB", "rtx 4090 24GB VRAM", "M3 Max 64GB RAM", "gpu", "memory"])
def test_what_is_none(written: str) -> None:
    assert host_device(written) is None


def test_everything_is_in_ram_and_there_is_no_cuda_context() -> None:
    model = load("llama-3.2-1b")
    on_cpu, on_card = (model.memory(weights="q8_0", gpu=gpu) for gpu in ("64GB-RAM", "rtx-4090"))
    assert on_cpu.parts["overhead"] == 0 and on_cpu.host is None
    assert on_card.host and on_cpu.parts["weights"] >= on_card.parts["weights"]
    assert "of RAM" in on_cpu.answer()


def test_llama_cpp_is_assumed_there(run: Run) -> None:
    found = run("fit", "llama-3-8b", "--gpu", "64GB RAM", columns=200)
    assert found.code == 0 and "llama.cpp" in found.out.splitlines()[0]
    assert "CUDA context and libraries" not in found.out


def test_cpu_alone_is_this_machine_and_says_so(run: Run) -> None:
    found = run("fit", "gpt2", "--gpu", "cpu", columns=200)
    assert found.code == 0 and "the RAM of this machine" in found.out


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ("--gpu 64GB-RAM --engine vllm", "not on a CPU here"),
        ("--gpu 64GB-RAM --ngl 4", "has no GPU beside it"),
        ("--gpu 2x64GB-RAM", "RAM is the memory of one machine"),
        ("--gpu rtx-3090+64GB-RAM", "RAM is the memory of one machine"),
        ("--gpu 0GB-RAM", "more than 0"),
    ],
)
def test_refused(run: Run, arguments: str, fact: str) -> None:
    found = run("fit", "llama-3-8b", *arguments.split(), columns=200)
    assert (found.code, fact in found.err) == (2, True)
