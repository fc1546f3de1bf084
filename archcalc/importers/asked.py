"""How a config.json is to be read, where that was asked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Asked:
    """`trace`: transformers builds what archcalc does not read; `like`: the type that an unknown one is read as."""

    trace: bool = False
    like: str = ""


PLAINLY = Asked()
