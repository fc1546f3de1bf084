"""An engine on a device: the step it computes, the layout of weights, the share of memory it takes."""

from __future__ import annotations

from dataclasses import dataclass, field

from archcalc.run.device import NOTHING_KNOWN, Capabilities, Device, DeviceGroup, capabilities
from archcalc.run.engine.rules import EngineRules, Step

USUAL_MEMORY = 80 * 2**30  # of a device that is not named


@dataclass(frozen=True)
class DeviceFacts:
    """What engines ask of a device."""

    name: str
    memory: int
    generation: str = ""
    maker: str = ""
    kind: str = ""
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
            group=group,
            capabilities=capabilities(device),
        )

    def cards(self, gpus: int) -> str:
        """How many of it run a plan of so many, by the name that people give it: `2 × h100`."""
        if self.group is None or self.group.count > 1:
            return self.group.words if self.group else ""
        return f"{gpus} × {self.group.words}"

    @property
    def words(self) -> str:
        """The name, with the target that kernels are built for: `NVIDIA T4 16GB (compute capability 7.5)`."""
        return self.capabilities.words or self.name


@dataclass(frozen=True)
class StepSize:
    """What is computed at once: so many tokens (None: a whole prompt), of so many requests at most."""

    tokens: int | None
    requests: int


UNKNOWN = DeviceFacts("", USUAL_MEMORY)


def step_on(rules: EngineRules, device: DeviceFacts) -> Step | None:
    """The first rule that holds for the device."""
    for step in rules.steps:
        if step.except_named and step.except_named in device.name.lower():
            continue
        if device.memory >= (step.memory_from or 0):
            return step
    return None


def headroom_on(rules: EngineRules, step: StepSize, memory: int, gpus: int) -> int:
    """What stays free beside weights and cache, for engines that say so themselves."""
    rule = rules.headroom
    if rule is None:
        return 0
    found = rule.base + rule.each_token * (step.tokens or 0) + rule.each_request * step.requests + rule.each_gpu * gpus
    floor = rule.least if rule.least and memory >= (rule.least_from or 0) else 0
    return max(found, floor)
