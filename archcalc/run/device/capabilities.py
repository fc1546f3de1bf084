"""What a device computes in and which attention kernels run on it: presets/capabilities, by generation and target.

    capabilities(device("t4")[1]).bf16      False; None where nothing is known

A device of which neither generation nor target is known has unknown capabilities, so that nothing is refused for it.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from archcalc.run.device.spec import Device
from archcalc.spec import paths
from archcalc.spec.data_files import node
from archcalc.spec.node import Node

KIND = "capabilities"
FORMATS = ("fp16", "bf16", "fp8", "fp4", "int8")


class Arithmetic(Node):
    """None: not known."""

    compute: str | None = None  # CUDA's compute capability, or the target that ROCm compiles for
    fp16: bool | None = None
    bf16: bool | None = None
    fp8: bool | None = None
    fp4: bool | None = None
    int8: bool | None = None
    flash: Annotated[int, Field(ge=0)] | None = None  # the newest FlashAttention that runs there; 0: none does
    fused_attention: bool | None = None  # whether some kernel stores no scores


class Generation(Arithmetic):
    """One generation of devices, or one target of it; what is left out is not known."""

    name: str


class Maker(Node):
    """The generations of one maker, with the source of each column."""

    maker: str
    kernel: str = "PyTorch's fused attention"  # that stores no scores, where FlashAttention does not run
    sources: dict[str, str]
    generations: list[Generation]


class Capabilities(Arithmetic):
    """Of one device."""

    device: str = ""  # as sentences name it
    generation: str | None = None

    @property
    def target(self) -> str:
        """`compute capability 7.5`, `gfx1030`, or the generation."""
        if self.compute and self.compute[0].isdigit():
            return f"compute capability {self.compute}"
        return self.compute or self.generation or ""

    @property
    def words(self) -> str:
        """The device with its target."""
        return f"{self.device} ({self.target})" if self.target else self.device


NOTHING_KNOWN = Capabilities()


def capabilities(device: Device) -> Capabilities:
    """What is known of the device's generation, narrowed by its target where its file names one; a format of which its
    file has a peak is one that it computes in. Nothing where its file names neither generation nor target."""
    found: list[Generation] = []
    for maker in (node(file, Maker) for file in paths.presets(KIND).values()):
        if (device.maker or maker.maker) == maker.maker and (device.generation or device.compute):
            wanted = [one for one in maker.generations if one.name == (device.generation or one.name)]
            found += (one for one in wanted if one.compute == (device.compute or one.compute))
    said = {name: {getattr(one, name) for one in found} for name in Generation.model_fields}
    # what all of them say
    shared: dict[str, Any] = {name: next(iter(facts)) for name, facts in said.items() if len(facts) == 1}
    shared |= {name: True for name in FORMATS if shared.get(name) is None and getattr(device.peak, name)}
    shared["compute"] = device.compute or shared.get("compute")
    named = shared.pop("name", None)
    shared["generation"] = device.generation or named
    return Capabilities(device=device.name, **{name: fact for name, fact in shared.items() if fact is not None})
