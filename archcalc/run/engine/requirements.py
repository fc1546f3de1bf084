"""What an engine needs of the devices of one maker, for itself, a weight format or a KV cache format."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from archcalc.run.device.capabilities import Capabilities
from archcalc.spec.node import Node


class Requirement(Node):
    """Nothing said: any device of the maker. Facts that are not known of a device rule nothing out."""

    least: str | None = None  # compute capability
    targets: list[str] = Field(default_factory=list)  # compute capabilities or ROCm's targets, where only some do
    generations: list[str] = Field(default_factory=list)  # likewise
    without: list[str] = Field(default_factory=list)  # generations on which it does not run
    native: str | None = None  # compute capability from which on products are computed in the format itself
    otherwise: str = ""  # how they are computed on other devices
    loaded_as: str = ""  # the format that weights are turned into on devices that do not meet the requirement
    needs: str = ""  # what has to be installed
    older: str = ""  # the last version of the engine that needed less


def _by_maker(value: Any) -> Any:
    """A list of makers stands for makers of which any device will do."""
    is_names = isinstance(value, list) and all(isinstance(name, str) for name in value)
    return {name: {} for name in value} if is_names else value


ByMaker = Annotated[dict[str, Requirement], BeforeValidator(_by_maker)]


def is_below(device: Capabilities, least: str | None) -> bool:
    """Whether the device's compute capability is known and lower; 10.0 comes behind 9.0."""
    if least is None or device.compute is None or not device.compute[0].isdigit():
        return False
    has, needed = ([int(part) for part in version.split(".")] for version in (device.compute, least))
    return has < needed
