"""What engines ask of a device."""

from __future__ import annotations

from dataclasses import dataclass, field

from archcalc.run.device import NOTHING_KNOWN, Capabilities, Device, DeviceGroup, capabilities

USUAL_MEMORY = 80 * 2**30  # of a device that is not named


@dataclass(frozen=True)
class DeviceFacts:
    """Of a device that is named, or of one that is not."""

    name: str
    memory: int
    generation: str = ""
    maker: str = ""
    kind: str = ""
    link: str = ""
    group: DeviceGroup | None = field(default=None, compare=False, repr=False)  # of which it is the first
    capabilities: Capabilities = NOTHING_KNOWN

    @classmethod
    def of(cls, device: Device, group: DeviceGroup | None = None) -> DeviceFacts:
        """Of a device, the first of a group where it is one of several."""
        return cls(
            name=device.name,
            memory=device.capacity,
            generation=device.generation or "",
            maker=device.maker or "",
            kind=device.kind or "",
            link=device.link.kind if device.link else "",
            group=group,
            capabilities=capabilities(device),
        )

    @property
    def words(self) -> str:
        """The name, with the target that kernels are built for: `NVIDIA T4 16GB (compute capability 7.5)`."""
        return self.capabilities.words or self.name


UNKNOWN = DeviceFacts("", USUAL_MEMORY, link="NVLink 4")
