"""The kinds of input, a file each: what it is made from, how it is mutated, and what is done with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fuzz.case import Case
from fuzz.kinds import (
    answers,
    calls,
    configs,
    devices,
    explorer,
    families,
    gguf,
    hub,
    networks,
    options,
    own_files,
    planted,
    safetensors,
    specs,
)


class Kind(NamedTuple):
    run: Callable[[Case], None]
    share: int  # of a hundred cases


KINDS = {
    "specs": Kind(specs.run, 12),
    "families": Kind(families.run, 18),
    "networks": Kind(networks.run, 18),
    "configs": Kind(configs.run, 12),
    "safetensors": Kind(safetensors.run, 8),
    "gguf": Kind(gguf.run, 8),
    "devices": Kind(devices.run, 4),
    "own-files": Kind(own_files.run, 8),
    "answers": Kind(answers.run, 5),
    "explorer": Kind(explorer.run, 5),
    "options": Kind(options.run, 8),
    "calls": Kind(calls.run, 7),
    "hub": Kind(hub.run, 1),
    "planted": Kind(planted.run, 0),  # what the guard must find, for its own tests
}
