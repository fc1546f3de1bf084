"""Everything about a model at once: the reports that `archcalc report` puts on one page.

A question that a model cannot answer (a list of tensors has no shapes) is left out, and `missing` says why.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, TypeVar

from archcalc.analyze.adapted import counted
from archcalc.analyze.diagram.report import DiagramReport, diagram
from archcalc.analyze.fit.answer import fitted
from archcalc.analyze.fit.matrix import matrix
from archcalc.analyze.fit.matrix_axes import UNTYPED, Typed
from archcalc.analyze.fit.matrix_report import MatrixReport
from archcalc.analyze.fit.report import FitReport
from archcalc.analyze.fit.uses import is_published_text_model
from archcalc.analyze.flops.answer import flops
from archcalc.analyze.flops.report import FlopsReport
from archcalc.analyze.memory.answer import memory
from archcalc.analyze.memory.report import MemoryReport
from archcalc.analyze.params import ParamsReport
from archcalc.analyze.shapes import ShapesReport, shapes
from archcalc.core.errors import InputError
from archcalc.network import Network
from archcalc.run.choice import MODE_WORDS
from archcalc.run.modes_of_report import Asked, modes
from archcalc.run.options import Options

R = TypeVar("R")
SIZES = ("batch", "seq", "src_seq", "tgt_seq")
NODES, LINES = 70, 45  # of a diagram and of a table of shapes that are read at a glance


@dataclass(frozen=True)
class Run:
    """The model in one mode: what it needs, what it computes, and where it fits."""

    mode: str
    sizes: dict[str, int]  # as given
    memory: MemoryReport
    fit: FitReport | None
    flops: FlopsReport | None

    @property
    def name(self) -> str:
        return MODE_WORDS.get(self.mode, self.mode)


@dataclass(frozen=True)
class Overview:
    """`command` is the line that made it, where that was typed."""

    model: str
    kind: str
    params: ParamsReport
    diagram: DiagramReport | None
    shapes: ShapesReport | None
    runs: tuple[Run, ...]
    matrix: MatrixReport | None = None  # which format fits on which device
    missing: dict[str, str] = field(default_factory=dict)  # a question, and why it has no answer
    command: str = ""

    def summary(self) -> str:
        """The answer of the first mode that was held against devices."""
        return next((run.fit.summary() for run in self.runs if run.fit), "")

    def html(self) -> str:
        """One file: no other is needed, and nothing is loaded from anywhere."""
        return str(importlib.import_module("archcalc.render.html.overview").render(self))  # which stands above

    def __str__(self) -> str:
        """Its reports below one another, as a terminal of 80 columns shows them."""
        of_runs = (report for run in self.runs for report in (run.memory, run.fit, run.flops))
        made = [report for report in (self.params, self.diagram, self.shapes, *of_runs) if report]
        return "\n\n\n".join([*map(str, made), *(f"{name}: {why}" for name, why in self.missing.items())])

    def _repr_html_(self) -> str:
        """For notebooks: a page of its own within theirs."""
        return f'<iframe srcdoc="{escape(self.html())}" width="100%" height="800" frameborder="0"></iframe>'


def overview(
    model: Network,
    gpus: Sequence[str] | str | None,
    given: Mapping[str, Any],
    *,
    command: str = "",
    typed: Typed = UNTYPED,
) -> Overview:
    """`typed` is the model as the command line names it, for the commands of cells."""
    missing: dict[str, str] = {}
    asked = modes(given)
    runs = _runs(model, gpus, asked, missing)
    sizes = {name: size for name, size in runs[0].sizes.items() if name in SIZES}
    return Overview(
        model=model.name,
        kind=model.kind,
        params=counted(model, Options.of("params", {})),
        diagram=_tried("diagram", missing, lambda: _diagram(model, sizes)),
        shapes=_tried("shapes", missing, lambda: _shapes(model, sizes)),
        runs=tuple(runs),
        matrix=next((_matrix(model, gpus, one.options(), typed) for one in asked if one.mode == "infer"), None),
        missing=missing,
        command=command,
    )


def _matrix(model: Network, gpus: Sequence[str] | str | None, options: Options, typed: Typed) -> MatrixReport | None:
    """Formats × devices, of weights that people quantise; a measured run is one case."""
    if options.measured or not is_published_text_model(model):
        return None
    named = [gpus] if isinstance(gpus, str) else gpus
    try:
        return matrix([(typed, model)], named, options, "weights,gpu")
    except InputError:
        return None


def _diagram(model: Network, sizes: dict[str, Any]) -> DiagramReport:
    """With as many levels opened as usual, or as few as a page has room for."""
    model.check_computation("a diagram")
    work = model.workload(**sizes)
    for depth in (None, 2, 1):
        opened = diagram(model.build(work), work, model=model.name, scope=model.scope, depth=depth)
        if len(list(opened.graph.root.walk())) <= NODES:
            break
    return opened


def _shapes(model: Network, sizes: dict[str, Any]) -> ShapesReport:
    """The same: signals on the way, not inside every layer."""
    model.check_computation("shapes")
    work = model.workload(**sizes)
    for depth in (3, 2, 1):
        listed = shapes(model.build(work), work, model=model.name, scope=model.scope, depth=depth)
        if len(listed.table().lines) <= LINES:
            break
    return listed


def _runs(
    model: Network, gpus: Sequence[str] | str | None, asked: Sequence[Asked], missing: dict[str, str]
) -> list[Run]:
    """A mode that nobody asked for may be missing, but not all of them."""
    found: list[Run] = []
    errors: list[InputError] = []
    for one in asked:
        try:
            found.append(_run(model, gpus, one.options(), missing))
        except InputError as error:
            if one.wanted:
                raise
            errors.append(error)
            missing[MODE_WORDS.get(one.mode, one.mode)] = _told(error)
    if not found:
        raise errors[0]
    return found


def _run(model: Network, gpus: Sequence[str] | str | None, options: Options, missing: dict[str, str]) -> Run:
    """Memory as on the devices, where these are named: what an engine keeps and how people train depends on them."""
    mode = MODE_WORDS.get(options.mode, options.mode)
    if gpus:
        fit: FitReport | None = fitted(model, gpus, options, verdicts_alone=True)
    else:
        fit = _tried(f"devices, {mode}", missing, lambda: fitted(model, None, options, verdicts_alone=True))
    needed = fit.memory if gpus and fit else memory(model, options, timeline=True)
    work = _tried(f"FLOPs, {mode}", missing, lambda: flops(model, options))
    return Run(options.mode, options.sizes.given(), needed, fit, work)


def _tried(name: str, missing: dict[str, str], ask: Callable[[], R]) -> R | None:
    try:
        return ask()
    except InputError as error:
        missing[name] = _told(error)
        return None


def _told(error: InputError) -> str:
    return f"{error.fact}; {error.hint}" if error.hint else error.fact
