"""What can be compared: parameters, FLOPs or memory, each as its own command answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from archcalc.core.errors import InputError
from archcalc.core.ir import Module
from archcalc.network import Network
from archcalc.run.commands import COMPARED
from archcalc.run.options import Options, options_of
from archcalc.spec.option import flag_of, other_names


class Measured(NamedTuple):
    """A model's value for every module of its tree by path, the whole as `model`, and what it was measured at."""

    root: Module
    values: dict[str, int]
    sizes: dict[str, int]
    note: str = ""
    beside: int = 0  # what the whole has that is none of its parts'


class Metric(NamedTuple):
    """Its name in a sentence, and how a model is measured."""

    noun: str
    unit: str
    measured: Callable[[Network, Options], Measured]


def _params(model: Network, asked: Options) -> Measured:
    from archcalc.analyze.adapted import counted, trained_tree

    report, (root, trained) = counted(model, asked), trained_tree(model, asked)
    values = {row.path: int(row.total) for row in report.rows if row.kind == "module"}
    return Measured(root, values, {}, report.title() if trained.words else "")


def _flops(model: Network, asked: Options) -> Measured:
    from archcalc.analyze.flops.answer import flops, traced

    report = flops(model, asked)
    values = {**{row.path: row.amounts.total for row in report.rows}, "model": report.total}
    return Measured(traced(model, asked), values, {"batch": report.batch, **report.lengths}, report.title())


def _memory(model: Network, asked: Options) -> Measured:
    """What a device must have."""
    from archcalc.analyze.memory.answer import memory
    from archcalc.analyze.memory.deployment import deploy

    report, root = memory(model, asked), deploy(model, asked).tree
    named = f"{report.title()} · weights {report.weights}"
    values = {**{row.path: row.bytes for row in report.rows if row.bytes}, "model": report.required_bytes}
    beside = report.required_bytes - report.rows[0].bytes if report.rows else 0
    return Measured(root, values, {"batch": report.batch, **report.lengths}, named, beside)


METRICS = {
    "params": Metric("parameters", "count", _params),
    "flops": Metric("FLOPs", "flops", _flops),
    "memory": Metric("bytes", "bytes", _memory),
}


def asked_of(metric: str, given: Mapping[str, Any]) -> Options:
    """The options of the metric's command; those of another metric are refused by name."""
    said, known = {name: value for name, value in given.items() if value is not None}, dict(options_of("compare"))
    others = other_names(known.items())
    for written in said:
        name = others.get(written, written)
        takes = [each.name for each in COMPARED if name in dict(options_of(each))]
        if takes and metric not in takes:
            hint = f"add --metric {' or '.join(takes)}, or leave it out"
            raise InputError(f"has no effect on {METRICS[metric].noun}", hint, field=flag_of(name))
    return Options.of(metric, said, besides=("metric", "depth", "notes"))
