"""`--gpu here`: the cards of this machine, as the tools of their drivers print them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from archcalc.core.errors import InputError
from archcalc.run.device import group, remarks
from archcalc.run.device.here import asking

if TYPE_CHECKING:
    from conftest import Run

MI300X = {"Card Series": "AMD Instinct MI300X", "Card Model": "0x74a1", "VRAM Total Memory (B)": "206141652992"}
XTX = {"asic": {"market_name": "Radeon RX 7900 XTX"}, "vram": {"size": {"value": 24560, "unit": "MB"}}}
MAC = {"SPHardwareDataType": [{"chip_type": "Apple M3 Max", "physical_memory": "64 GB"}]}
INTEL_MAC = {"SPHardwareDataType": [{"cpu_type": "6-Core Intel Core i7", "physical_memory": "16 GB"}]}


class Machine(Protocol):
    def __call__(self, **tools: str) -> None: ...


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine that has these tools and no others, each a script; nvidia_smi="…" prints that."""

    def made(**tools: str) -> None:
        for name, text in tools.items():
            script = text if text.startswith("#!") else f"#!/bin/sh\n/bin/cat <<'END'\n{text}\nEND\n"
            file = tmp_path / name.replace("amd_smi", "amd-smi").replace("_smi", "-smi")
            file.write_text(script)
            file.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))

    return made


def here() -> tuple[str, str]:
    found = group("here")
    return found.name, found.said


def test_nvidia_smi_names_a_card_with_its_memory(machine: Machine) -> None:
    machine(nvidia_smi="NVIDIA GeForce RTX 4090, 24564")
    assert here() == ("rtx-4090", "--gpu here: NVIDIA GeForce RTX 4090, by nvidia-smi")


def test_equal_cards_are_a_group_of_them(machine: Machine) -> None:
    machine(nvidia_smi="NVIDIA GeForce RTX 3090, 24576\nNVIDIA GeForce RTX 3090, 24576")
    assert here() == ("2xrtx-3090", "--gpu here: 2 × NVIDIA GeForce RTX 3090, by nvidia-smi")


def test_unequal_cards_stand_side_by_side(machine: Machine) -> None:
    machine(nvidia_smi="NVIDIA GeForce RTX 5070 Ti, 16303\nNVIDIA GeForce RTX 5090, 32607")
    assert here()[0] == "rtx-5070-ti+rtx-5090"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("NVIDIA A100-SXM4-80GB, 81920", "a100-80gb"),
        ("NVIDIA A100-PCIE-40GB, 40960", "a100-40gb"),
        ("NVIDIA H100 80GB HBM3, 81559", "h100"),
        ("Tesla T4, 15360", "t4"),
    ],
)
def test_the_memory_decides_between_variants(machine: Machine, line: str, name: str) -> None:
    machine(nvidia_smi=line)
    assert here()[0].startswith(name)


def test_a_card_that_is_not_listed_is_its_memory_alone(machine: Machine) -> None:
    machine(nvidia_smi="NVIDIA Unheard Of 9000, 98304")
    found = group("here")
    assert found.first.capacity == 96 * 2**30
    assert found.said == "--gpu here: NVIDIA Unheard Of 9000, by nvidia-smi"


def test_memory_that_a_cpu_shares_is_not_said_by_the_tool_and_comes_from_the_name(machine: Machine) -> None:
    machine(nvidia_smi="NVIDIA GB10, [N/A]")
    assert group("here").first.capacity > 100 * 2**30


def test_rocm_smi_lists_cards_by_their_number(machine: Machine) -> None:
    machine(rocm_smi=f"WARNING: AMD GPU device(s) is/are in a low-power state\n{json.dumps({'card0': MI300X})}")
    assert here() == ("mi300x", "--gpu here: AMD Instinct MI300X, by rocm-smi")


@pytest.mark.parametrize("wrapped", [[XTX], {"gpu_data": [XTX]}])
def test_amd_smi_lists_them_with_and_without_a_frame(machine: Machine, wrapped: object) -> None:
    machine(amd_smi=json.dumps(wrapped))
    assert here() == ("rx-7900-xtx", "--gpu here: Radeon RX 7900 XTX, by amd-smi")


def test_a_mac_is_its_chip_with_its_memory(machine: Machine) -> None:
    machine(system_profiler=json.dumps(MAC))
    assert here() == ("m3-max-64gb", "--gpu here: Apple M3 Max, by system_profiler")


@pytest.mark.parametrize(
    "tools", [{}, {"nvidia_smi": "No devices were found"}, {"system_profiler": json.dumps(INTEL_MAC)}]
)
def test_without_a_card_it_is_the_cpu_with_its_ram(machine: Machine, tools: dict[str, str]) -> None:
    machine(**tools)
    name, said = here()
    assert name == "cpu"
    assert "GiB of RAM" in said
    assert "no GPU was found" in said


@pytest.mark.parametrize(
    ("tools", "told"),
    [
        ({"nvidia_smi": "Segmentation fault"}, "nvidia-smi printed what is not understood here: Segmentation fault"),
        ({"nvidia_smi": ""}, "nvidia-smi printed what is not understood here: nothing"),
        ({"rocm_smi": "{"}, "rocm-smi printed what is not understood here: {"),
        ({"rocm_smi": '{"card0": {"Card Series": "0x74a1"}}'}, "rocm-smi printed what is not understood here"),
        ({"rocm_smi": '{"card0": 5}'}, "rocm-smi printed what is not understood here"),
        ({"amd_smi": '[{"asic": {}}]'}, "amd-smi printed what is not understood here"),
        ({"amd_smi": "{}"}, "amd-smi printed what is not understood here"),
        ({"system_profiler": "[]"}, "system_profiler printed what is not understood here"),
        (
            {"nvidia_smi": "#!/bin/sh\necho 'NVIDIA-SMI has failed because it has no driver'; exit 9\n"},
            "nvidia-smi failed: NVIDIA-SMI has failed because it has no driver",
        ),
        ({"nvidia_smi": "#!/nowhere/sh\n"}, "nvidia-smi cannot be run"),
    ],
)
def test_what_a_tool_prints_otherwise_is_one_clear_error(
    run: Run, machine: Machine, tools: dict[str, str], told: str
) -> None:
    machine(**tools)
    answer = run("memory", "gpt2", "--gpu", "here")
    assert answer.code == 2
    assert told in " ".join(answer.err.split())
    assert "name the device instead" in answer.err


def test_a_tool_that_hangs_is_given_up(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "SECONDS", 0.2)
    machine(nvidia_smi="#!/bin/sh\nexec /bin/sleep 5\n")
    with pytest.raises(InputError, match="did not answer within"):
        group("here")


@pytest.mark.parametrize("command", ["memory", "fit", "flops"])
def test_every_answer_says_once_which_cards_they_are(run: Run, machine: Machine, command: str) -> None:
    machine(nvidia_smi="NVIDIA GeForce RTX 4090, 24564")
    said = [note["text"] for note in run(command, "gpt2", "--gpu", "here", "--format", "json").json["assumptions"]]
    assert said.count("--gpu here: NVIDIA GeForce RTX 4090, by nvidia-smi") == 1


def test_it_is_the_answer_for_the_cards_by_their_name(run: Run, machine: Machine) -> None:
    machine(nvidia_smi="NVIDIA GeForce RTX 4090, 24564")
    here, named = (run("fit", "gpt2", "--gpu", gpu, "--format", "json").json for gpu in ("here", "rtx-4090"))
    assert here["rows"] == named["rows"]


def test_nothing_is_asked_of_the_machine_unless_told(machine: Machine) -> None:
    machine(nvidia_smi="broken")
    assert group("rtx-4090").said == ""
    assert remarks("24GiB") == []
