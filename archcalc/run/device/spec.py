"""What a device file says: memory, bandwidth, peaks and interconnect of one device."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from archcalc.run.device.sizes import Bytes
from archcalc.run.device.working_set import rule
from archcalc.spec.node import Node

Amount = Annotated[int, Field(gt=0)]
Target = Annotated[str, Field(pattern=r"^(\d+\.\d+|[a-z][a-z0-9]*)$")]  # 8.6, gfx1100
Kind = Literal["datacenter", "workstation", "consumer", "embedded", "tpu", "unified", "cpu"]
KINDS: tuple[str, ...] = Kind.__args__  # type: ignore[attr-defined]


class Memory(Node):
    """Nameplate memory, and memory as the driver reports it, which is a little less; or, for memory that is shared
    with the CPU, the rule that says how much of it the GPU may hold."""

    main: ClassVar[str] = "bytes"
    nameplate: str | None = None
    bytes: Bytes
    reported: Amount | None = None
    working_set: str | None = None  # a file of presets/working_sets
    source: str | None = None  # of the reported figure


class Link(Node):
    """The interconnect between devices of one machine."""

    kind: str
    bytes_per_second: Amount
    note: str | None = None


class Peak(Node):
    """Dense operations a second, by number format; tensor cores accumulate in fp32."""

    fp64: Amount | None = None
    fp32: Amount | None = None
    tf32: Amount | None = None
    bf16: Amount | None = None
    fp16: Amount | None = None
    fp8: Amount | None = None
    int8: Amount | None = None
    fp4: Amount | None = None


class Device(Node):
    """One device of the catalog. A user's own device file needs a name and a memory size."""

    name: str
    maker: str | None = None
    kind: Kind | None = None
    generation: str | None = None  # of the architecture: what engines choose kernels by
    compute: Target | None = None  # CUDA's compute capability or ROCm's target, where a generation has several
    aliases: list[str] = Field(default_factory=list)
    year: Amount | None = None
    memory: Memory
    bandwidth: Amount | None = None
    peak: Peak = Peak()
    link: Link | None = None
    power: Amount | None = None  # watts of the whole board, as it is sold
    sources: list[str] = Field(default_factory=list)
    note: str | None = None

    @property
    def capacity(self) -> int:
        """Memory that a model can use: as the driver reports it if a source gives that figure, else by the rule, else
        the nameplate."""
        memory = self.memory
        if memory.reported or not memory.working_set:
            return memory.reported or memory.bytes
        return rule(memory.working_set).usable(memory.bytes)

    @property
    def half_peak(self) -> int | None:
        """The dense peak in bf16, or in fp16 where there is no bf16."""
        return self.peak.bf16 or self.peak.fp16
