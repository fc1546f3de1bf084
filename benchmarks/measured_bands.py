"""The files of bands, as archcalc reads them from presets/accuracy: one entry for each class of runs.

files(rows)    training.yaml and inference.yaml, as text
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from measured_classes import COVERED, FEWEST, SOURCES, Measured, Runs, band, classes
from measured_devices import UNNAMED
from measured_rows import Row

from archcalc.run.accuracy import FIGURES

HEAD = """\
# How far archcalc's answers, as typed, were from {what}, by class of runs:
# `runner` is the {runner}, `devices` the kind of device, `sharding` one (GPU), tensor, fsdp (ZeRO-3), zero (ZeRO-1
# or 2) or pipeline (or expert parallelism). `band` is the error, in percent, that {covered:.0%} of the runs stay
# within, and also if all sources weigh alike; a class has at least {fewest} compared runs of {sources} sources.
# `quantised` classes train adapters over quantised weights. Of a KV pool it is a share of the device's memory.
# Training codes were typed with the version that ran. A `figure` is what is allocated, reserved, or what the device
# shows; without one the band is of all. Printed by benchmarks/accuracy.py --bands.
classes:"""
PARTS_HEAD = """\
# Engines that print each part of their memory: the same of weights, cache (with recurrent states) and compute buffer.
parts:"""
PRINTED = {"file": "weights", "cache": "cache", "state": "cache", "compute": "compute"}  # quantities that are parts
WIDEST = 1.0  # a wider band says nothing
LEAST = 0.01  # a narrower one is not told apart
FILES = {
    "training.yaml": ("train", "measured peaks of training", "code"),
    "inference.yaml": ("infer", "measured memory of inference: KV pools, and peaks of engines without one", "engine"),
}


def files(rows: Iterable[Row]) -> dict[str, str]:
    """By the name of the file."""
    rows = list(rows)
    found = classes(rows)
    texts = {name: _file(mode, what, runner, found) for name, (mode, what, runner) in FILES.items()}
    texts["inference.yaml"] += "\n".join(("", PARTS_HEAD, *_parts(rows)))
    return texts


def _file(mode: str, what: str, runner: str, found: list[Runs]) -> str:
    head = HEAD.format(what=what, runner=runner, covered=COVERED, fewest=FEWEST, sources=SOURCES)
    return "\n".join((head, *sorted(_entries(runs for runs in found if runs.of[0] == mode))))


def _parts(rows: Iterable[Row]) -> Iterator[str]:
    """Of figures that engines print of one part of their memory."""
    found: dict[tuple[str, str], list[Measured]] = defaultdict(list)
    for row in rows:
        if row.quantity in PRINTED and row.typed_error is not None:
            found[row.run["runner"], PRINTED[row.quantity]].append((row.source, abs(row.typed_error)))
    for (runner, part), measured in sorted(found.items()):
        stated = band(measured)
        if stated is not None:
            numbers = f"band: {stated * 100:.0f}, runs: {len(measured)}, sources: {len({one for one, _ in measured})}"
            yield f"  - {{runner: {runner}, part: {part}, {numbers}}}"


def _entries(found: Iterable[Runs]) -> Iterator[str]:
    """Of training a class has entries for its figures too, each that enough was compared of."""
    for runs in found:
        figures = FIGURES if runs.of[0] == "train" else ()
        for figure, alike in (("", runs), *((each, runs.of_figure(each)) for each in figures)):
            stated = band(alike.measured)
            _, runner, devices, sharding, weights = runs.of
            if stated is not None and stated <= WIDEST and devices != UNNAMED:
                sources = len({source for source, _ in alike.measured})
                numbers = f"band: {max(stated, LEAST) * 100:.0f}, runs: {len(alike.measured)}, sources: {sources}"
                more = ", quantised: true" * (weights == "quantised")
                more += f", figure: {figure}" if figure else ""
                yield f"  - {{runner: {runner}, devices: {devices}, sharding: {sharding}, {numbers}{more}}}"
