"""Two or more models side by side, part by part, with differences and ratios to the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Unpack

from archcalc.analyze.compare.align import Row, aligned, part_of
from archcalc.analyze.params import USUAL_DEPTH
from archcalc.core.assumptions import Assumption, Topic, all_on
from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.ir import Module
from archcalc.network import Network
from archcalc.report.base import Figure, Report
from archcalc.report.table import Column, Line, Table, cells_of, in_tables, keys
from archcalc.run.commands import COMPARED
from archcalc.run.options import Options, options_of
from archcalc.spec.option import flag_of, other_names
from archcalc.spec.option_checks import a_model, checked, texts
from archcalc.spec.scope import WHOLE, Scope

if TYPE_CHECKING:
    from archcalc.run.keywords import CompareKeywords

AS_MEMORY = "bytes are what `archcalc memory` answers; it says what each rests on, and its error"
NOT_BY_PART = Assumption(Topic.TABLE, "activations and overhead are counted for the whole model, not by part")
MISSING = Assumption(Topic.TABLE, "a part missing from a model counts as 0 in differences")


@dataclass(frozen=True)
class CompareReport(Report):
    """Every row has a value for each model, and a difference and a ratio for each but the first."""

    command: ClassVar[str] = "compare"
    chart: ClassVar[str] = "beside"
    metric: str
    labels: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[Row, ...]
    scopes: tuple[Scope, ...]
    depth: int = USUAL_DEPTH
    unequal: str = ""  # batches and lengths, where models are not measured at the same

    @property
    def letters(self) -> tuple[str, ...]:
        """What the models are called in the heads of columns."""
        return tuple(ascii_uppercase[: len(self.labels)])

    @property
    def totals(self) -> tuple[int, ...]:
        """What each model measures as a whole."""
        return tuple(value or 0 for value in self.rows[0].values)

    @property
    def counted(self) -> tuple[str, ...]:
        """The models as the figures are to be read: `qwen3-vl-2b (text model alone)` where a part is counted."""
        return tuple(_counted(label, scope) for label, scope in zip(self.labels, self.scopes, strict=True))

    def title(self) -> str:
        """The models, in the order in which they were named."""
        return " · ".join(self.labels)

    def answer(self) -> str:
        """Which one is the largest, and by how much."""
        return self._told(self.counted)

    def briefly(self) -> str:
        """The models by their letters, which the figures explain."""
        return self._told([_counted(letter, scope) for letter, scope in zip(self.letters, self.scopes, strict=True)])

    def beneath(self) -> Sequence[str]:
        """Notes shown at the top: models that are counted in part, and sizes that differ between the models."""
        named = zip(self.letters, self.scopes, strict=True)
        partial = [f"{letter}: {scope.headline()}" for letter, scope in named if scope.left_out]
        return [*partial, *([self.unequal] if self.unequal else [])]

    def _told(self, names: Sequence[str]) -> str:
        noun, least, most = METRICS[self.metric].noun, min(self.totals), max(self.totals)
        if least == most:
            return f"{', '.join(names[:-1])} and {names[-1]} have the same number of {noun}"
        larger, smaller = (names[self.totals.index(total)] for total in (most, least))
        if not least:
            return f"{larger} has {most:,} {noun}, {smaller} none"
        times = f"{most // least:,}" if most % least == 0 else f"{most / least:,.3f}"
        return f"{larger} has {times} times the {noun} of {smaller}, {most - least:,} more"

    def figures(self) -> Sequence[Figure]:
        """The letters, with what each model comes to."""
        named = zip(self.letters, self.counted, self.totals, strict=True)
        unit = METRICS[self.metric].unit
        return tuple(Figure(f"{letter}  {label}", total, unit) for letter, label, total in named)

    def columns(self) -> tuple[Column[Row], ...]:
        """For each model a column, with the difference and the ratio to the first beside it."""
        first, *others = self.letters
        return (
            *keys("path", "title"),
            Column("times", get=lambda row: list(row.times)),
            Column("values", get=lambda row: list(row.values)),
            Column("difference", get=lambda row: list(row.difference)),
            Column("ratio", get=lambda row: list(_floats(row))),
            Column("", "part", "name", lambda row: row.title + _copies(row)),
            Column("", first, "count", lambda row: row.values[0]),
            *(column for place, name in enumerate(others) for column in _beside(place, name, first)),
        )

    def table(self) -> Table:
        """Do not expand rows that are equal in all models or in only one; drop those that are 0 in all."""
        columns, lines, closed = in_tables(self.columns()), list[Line](), ""
        for row in self.rows:
            if (closed and row.path.startswith(closed)) or row.whole or not any(row.values):
                continue
            # The children of a dropped row take its place.
            depth = row.depth - sum(other.whole and row.path.startswith(f"{other.path}.") for other in self.rows)
            if depth < self.depth:
                closed = f"{row.path}." if row.equal or row.lonely else closed
                lines.append(Line(cells_of(columns, row), depth, heading=row.path == "model"))
        return Table(columns, tuple(lines))

    def facts(self) -> dict[str, Any]:
        """`difference` and `ratio` of rows have an entry for each model but the first; a part that is not there is
        null."""
        models = zip(self.labels, self.names, self.totals, self.scopes, strict=True)
        listed = [
            {"label": label, "model": name, "total": int(total), **scope.record()}
            for label, name, total, scope in models
        ]
        return {"metric": self.metric, "models": listed}

    def flat(self) -> list[dict[str, Any]]:
        """One column for each number."""
        first, *others = self.letters
        heads = [f"{letter} {label}" for letter, label in zip(self.letters, self.counted, strict=True)]
        heads += [f"{name} - {first}" for name in others] + [f"{name} / {first}" for name in others]
        rows = ((row.path, *row.values, *row.difference, *_floats(row)) for row in self.rows)
        return [dict(zip(("path", *heads), row, strict=True)) for row in rows]


def _beside(place: int, name: str, first: str) -> tuple[Column[Row], ...]:
    """A further model, with its difference and its ratio to the first."""
    return (
        Column("", name, "count", lambda row: row.values[place + 1]),
        Column("", f"{name} − {first}", "change", lambda row: row.difference[place], spare=True),
        Column("", f"{name} ÷ {first}", "ratio", lambda row: row.ratio[place]),
    )


def _counted(label: str, scope: Scope) -> str:
    return f"{label} ({scope.part} alone)" if scope.left_out else label


def _exact(metric: str, scopes: Sequence[Scope]) -> Assumption:
    partial = [letter for letter, scope in zip(ascii_uppercase, scopes, strict=False) if scope.left_out]
    if metric == "memory":
        return Assumption(Topic.EXACTNESS, AS_MEMORY)
    if not partial:
        return replace(WHOLE, is_doubted=any(scope.is_doubted for scope in scopes)).exact("count")
    text = f"exact for what is counted, which is only a part of {' and '.join(partial)}"
    return Assumption(Topic.EXACTNESS, text)


def _copies(row: Row) -> str:
    """` × 12, 24`: how many there are of it, where that is not one."""
    present = list(dict.fromkeys(times for times in row.times if times is not None))
    return f" × {', '.join(f'{times:,}' for times in present)}" if present != [1] else ""


def _floats(row: Row) -> tuple[float | None, ...]:
    return tuple(None if ratio is None else float(ratio) for ratio in row.ratio)


def labelled(models: Any) -> Sequence[tuple[str, Network]]:
    """Models with the labels that they go by: those given, else their names."""
    try:
        pairs = [(one.name, one) if isinstance(one, Network) else one for one in models]
        return [(*texts(label, "models"), a_model(model, "models")) for label, model in pairs]
    except (TypeError, ValueError):
        fact = "expected models, or labels with models, such as [('A', model), …]"
        raise InputError(fact, field="models") from None


@checked
def compare(
    models: Sequence[Network | tuple[str, Network]],
    *,
    metric: str = "params",
    depth: int = USUAL_DEPTH,
    notes: Sequence[str] = (),
    **options: Unpack[CompareKeywords],
) -> CompareReport:
    """Models side by side, by their names or with labels; differences and ratios are relative to the first. Options are
    those of the metric's own command."""
    if metric not in METRICS:
        raise InputError(f"no metric called {metric}", did_you_mean(metric, METRICS), field="--metric")
    named = labelled(models)
    if not 1 < len(named) <= len(ascii_uppercase):
        raise InputError(f"{len(named)} models to compare", f"name 2 to {len(ascii_uppercase)}")
    asked = asked_of(metric, options)
    measured = [_measured(metric, asked, *each) for each in named]
    rows = aligned([part_of(found.root, found.values) for found in measured])
    at = all_on(Topic.SCOPE, [found.note for found in measured if found.note])
    of_whole = [NOT_BY_PART] if any(found.beside for found in measured) else []
    missed = [MISSING] if any(None in row.values for row in rows) else []
    said = all_on(Topic.SOURCE, [*notes, *_imported(named)])
    labels = tuple(label for label, _ in named)
    scopes = tuple(model.scope for _, model in named)
    return CompareReport(
        model=" · ".join(labels),
        assumptions=(_exact(metric, scopes), *said, *at, *of_whole, *missed),
        metric=metric,
        labels=labels,
        names=tuple(model.name for _, model in named),
        rows=tuple(rows),
        scopes=scopes,
        depth=depth,
        unequal=_unequal(measured),
    )


def _measured(metric: str, asked: Options, label: str, model: Network) -> Measured:
    """A mistake that is one of this model alone says so."""
    try:
        return METRICS[metric].measured(model, asked)
    except InputError as error:
        error.more = error.more or f"this is {label}"
        raise


def _unequal(measured: Sequence[Measured]) -> str:
    """The sizes of each model that are not the same in all."""
    names = dict.fromkeys(name for found in measured for name in found.sizes)
    differ = [name for name in names if len({found.sizes.get(name) for found in measured}) > 1]
    told = [
        " and ".join(f"{name} {found.sizes[name]:,}" for name in differ if name in found.sizes) for found in measured
    ]
    each = (f"{letter} {words or 'none'}" for letter, words in zip(ascii_uppercase, told, strict=False))
    what = "sizes" if "batch" in differ else "lengths"
    return f"at different {what}: {', '.join(each)}" if differ else ""


def _imported(models: Sequence[tuple[str, Network]]) -> list[str]:
    """The importers' notes on each model, such as parts that are not counted; a note shared by all appears once."""
    told = []
    for label, model in models:
        notes = (*model.spec.doubts, *model.document.notes)
        # A file is labelled by its own name, so the note on how it was read comes first.
        told.append([model.name, *notes] if notes and model.name != label else notes)
    shared = [note for note in told[0] if all(note in others for others in told)]
    lettered = [(letter, note) for letter, notes in zip(ascii_uppercase, told, strict=False) for note in notes]
    return [*shared, *(f"{letter}: {note}" for letter, note in lettered if note not in shared)]


class Measured(NamedTuple):
    """A model's value for every module of its tree by path, the whole as `model`, and what it was measured at."""

    root: Module
    values: dict[str, int]
    sizes: dict[str, int]
    note: str = ""
    beside: int = 0  # what the whole has that is none of its parts'


class Metric(NamedTuple):
    """What can be compared, as its own command answers it: its name in a sentence, and how a model is measured."""

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
