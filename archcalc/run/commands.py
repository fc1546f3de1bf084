"""The commands that take options of a run: which questions each asks, and the mode that it runs in unless told.

An option says which questions it bears on, a command which it asks, so neither lists the other:

    ENERGY = Command("energy", (RUN, WORK, DEVICE), mode="train")     takes whatever `flops` takes
"""

from __future__ import annotations

from typing import NamedTuple

from archcalc.spec.option import RUN

PARAMETERS = "parameters"  # which parameters there are, and which of them are trained
WORK = "work"  # what is computed
BYTES = "bytes"  # what is held in memory
CAPACITY = "capacity"  # what a device has
MEASURED = "measured"  # what somebody's run took, which an answer is held against
DEVICE = "device"  # the one device that it runs on; other commands take several of them


class Command(NamedTuple):
    """`mode` is empty where several are asked for."""

    name: str
    asks: tuple[str, ...]
    mode: str = ""


PARAMS = Command("params", (PARAMETERS,), "train")
FLOPS = Command("flops", (RUN, WORK, DEVICE), "train")
MEMORY = Command("memory", (RUN, BYTES, DEVICE, MEASURED), "infer")
FIT = Command("fit", (RUN, BYTES, CAPACITY, MEASURED), "infer")
REPORT = Command("report", (RUN, BYTES, CAPACITY, MEASURED))
OOM = Command("oom", (RUN, BYTES, CAPACITY, DEVICE))
PLOT = Command("plot", (RUN, BYTES, WORK))
COMPARED = (PARAMS, FLOPS, MEMORY)
_ASKED = dict.fromkeys(question for each in COMPARED for question in each.asks if question != MEASURED)
COMPARE = Command("compare", tuple(_ASKED))
COMMANDS = {each.name: each for each in (*COMPARED, FIT, REPORT, OOM, PLOT, COMPARE)}
