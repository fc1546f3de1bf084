"""The kinds of input, a file each: what it is made from, how it is mutated, and what is done with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fuzz.case import Case
from fuzz.kinds import calls, configs, devices, gguf, hub, options, planted, safetensors, specs


class Kind(NamedTuple):
    run: Callable[[Case], None]
    share: int  # of a hundred cases


KINDS = {
    "specs": Kind(specs.run, 24),
    "configs": Kind(configs.run, 24),
    "safetensors": Kind(safetensors.run, 14),
    "gguf": Kind(gguf.run, 14),
    "devices": Kind(devices.run, 8),
    "options": Kind(options.run, 8),
    "calls": Kind(calls.run, 7),
    "hub": Kind(hub.run, 1),
    "planted": Kind(planted.run, 0),  # what the guard must find, for its own tests
}
