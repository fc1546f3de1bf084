"""Which engine is usual for what: the rules of presets/usual/engines.yaml."""

from __future__ import annotations

from functools import cache

from pydantic import Field

from archcalc.spec import paths
from archcalc.spec.data_files import node
from archcalc.spec.node import Node


class UsualRule(Node):
    """An engine, why it is usual, and what must hold for that; what is left out does not matter."""

    engine: str
    why: str
    options: list[str] = Field(default_factory=list)  # of which one was given
    weights: list[str] = Field(default_factory=list)  # kinds of formats of which some layer has one
    makers: list[str] = Field(default_factory=list)
    kinds: list[str] = Field(default_factory=list)  # of devices
    families_without: list[str] = Field(default_factory=list)  # the spec's family is none of these
    named: bool | None = None  # whether the spec names a model type of transformers
    generates: bool | None = None
    encodes: bool | None = None  # whether the model is an encoder-decoder
    unequal: bool | None = None
    unknown: bool | None = None  # whether nothing is known of the device but its memory
    runs: bool = False  # whether the engine has to run on the device, with these weights


class UsualEngines(Node):
    """The rules in their order, and the engines that run on most devices."""

    anywhere: list[str]
    rules: list[UsualRule]


@cache
def usual_engines() -> UsualEngines:
    return node(paths.shipped("usual")["engines"], UsualEngines)
