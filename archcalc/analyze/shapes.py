"""The shape of every tensor in the forward pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar

from archcalc.analyze.equations import Block, blocks, notes, tables
from archcalc.analyze.receptive_field import NOT_STATED as NO_FIELD
from archcalc.analyze.receptive_field import ReceptiveFields, receptive_fields
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import Count
from archcalc.core.ir import Axes, Axis, Module, Op, Param, Tensor, walk
from archcalc.core.notes import notes_of
from archcalc.core.roles import Role
from archcalc.core.tree import given_out, ops_in, signals_of, taken_in
from archcalc.report.base import Report
from archcalc.report.table import Column, Line, Table, cells_of, in_tables, keys
from archcalc.spec.scope import WHOLE, Scope
from archcalc.spec.workload import Workload

Names = tuple[str, ...]
NOT_STATED = "not stated"
CONVOLUTION = "out × in per group × kernel"
IN_FIRST = "in × out"
AS_STORED = "matrices as PyTorch stores them, out × in: y = x·Wᵀ + b. Written on paper as y = x·W + b, W is in × out"
AS_WRITTEN = "; those marked in × out are stored as written on paper, as Keras does"


@dataclass(frozen=True)
class Signal:
    """A tensor's shape: by its sizes, and by the names of its dims."""

    shape: tuple[int, ...]
    dims: Names

    @classmethod
    def of(cls, tensor: Tensor) -> Signal:
        return cls(tensor.shape, _names(tensor.axes))

    def record(self) -> dict[str, Any]:
        return {"shape": self.shape, "dims": self.dims}


@dataclass(frozen=True)
class Windowed:
    """The working of a map's sides, and how many places of the input one of its places depends on.

    Where that differs from place to place, `receptive_field` has the largest and `smallest_field` the smallest.
    """

    worked: Names = ()
    receptive_field: tuple[int, ...] = ()
    smallest_field: tuple[int, ...] = ()
    is_stated: bool = True

    @property
    def working(self) -> str:
        """Equal sides once."""
        return ", ".join(dict.fromkeys(self.worked))

    @property
    def seen(self) -> str:
        """A range that holds for every side stands once."""
        if not self.is_stated:
            return NOT_STATED
        ranges = list(zip(self.smallest_field, self.receptive_field, strict=True))
        if len(set(ranges)) == 1 and self.smallest_field != self.receptive_field:
            ranges = ranges[:1]
        return " × ".join("–".join(map(str, dict.fromkeys(ends))) for ends in ranges)  # `188–204`, or one number

    def record(self) -> dict[str, Any]:
        found = {"working": self.worked, "receptive_field": self.receptive_field}
        if self.smallest_field != self.receptive_field:
            found["smallest_receptive_field"] = self.smallest_field
        return {key: value for key, value in found.items() if value}


NO_WINDOW, NOTHING = Windowed(), Signal((), ())


@dataclass(frozen=True)
class Row:
    path: str
    repeat: int
    shape: tuple[int, ...]
    dims: Names
    note: str = ""
    title: str = ""
    window: Windowed = NO_WINDOW

    @property
    def text(self) -> str:
        return ", ".join(filter(None, (self.note, self.window.working)))


@dataclass(frozen=True)
class Part:
    """A module that rows stand under: what it reads, and what it gives out."""

    title: str
    repeat: int
    calls: int
    about: str
    inputs: tuple[Signal, ...]
    output: Signal | None
    window: Windowed = NO_WINDOW

    def record(self, path: str) -> dict[str, Any]:
        ends = {"inputs": [signal.record() for signal in self.inputs], "output": self.output and self.output.record()}
        return {"path": path, "title": self.title, "repeat": self.repeat, "calls": self.calls, **ends}


@dataclass(frozen=True)
class ShapesReport(Report):
    command: ClassVar[str] = "shapes"
    batch: int
    lengths: dict[str, int]
    rows: tuple[Row, ...]
    parts: dict[str, Part]  # by path: the modules that rows stand under
    equations: tuple[Block, ...] = ()
    symbolic: bool = False
    explain: bool = False
    depth: int | None = None

    def answer(self) -> str:
        sizes = {"batch": self.batch, **self.lengths}
        return " · ".join(f"{name} {size:,}" for name, size in sizes.items())

    def columns(self) -> tuple[Column[Row], ...]:
        """With one for receptive fields, in models with convolutions or pooling layers."""
        has_windows = any(row.window.worked for row in self.rows)
        return (
            *keys("path", "repeat", "shape", "dims", "note"),
            Column("signal", "signal", "name", "title"),
            Column("", "shape", "shape", lambda row: row.dims if self.symbolic else row.shape),
            Column("", "rec. field", "text", "window.seen", shown=has_windows),
            Column("", "", "text", "text"),
        )

    def table(self) -> Table:
        columns = in_tables(self.columns())
        lines = (Line(cells_of(columns, row), depth, heading=heads) for row, depth, heads in self._lines())
        return Table(columns, tuple(lines))

    def more(self) -> tuple[Table, ...]:
        return tables(self.equations) if self.explain else ()

    def _lines(self) -> Iterator[tuple[Row, int, bool]]:
        """Rows under the headings of the modules they belong to, each heading once; a closed module has one line."""
        shown: set[str] = set()
        most = inf if self.depth is None else self.depth
        for row in self.rows:
            above = row.path.split(".")[:-1]
            for depth in range(len(above)):
                path = ".".join(above[: depth + 1])
                if path not in shown and depth < most:
                    shown.add(path)
                    yield self._heading(self.parts[path], opened=depth + 1 < most), depth, depth + 1 < most
            if len(above) < most and (len(above) + 1 < most or row.path not in shown):
                yield row, len(above), False

    def _heading(self, part: Part, *, opened: bool) -> Row:
        """A module by its name; by its input and output, where what is inside it is not shown."""
        title = f"{part.title} × {part.repeat}" if part.repeat > 1 else part.title
        runs = f"runs {part.calls:,} times" if part.calls > 1 else ""
        if opened:
            return Row("", 1, (), (), runs or part.about, title)
        read = (signal.dims if self.symbolic else signal.shape for signal in part.inputs)
        inputs = " and ".join(" × ".join(map(str, each)) for each in read)
        note = ", ".join(filter(None, (runs, f"from {inputs}" if inputs else "")))
        ends = part.output or NOTHING
        return Row("", 1, ends.shape, ends.dims, note, title, replace(part.window, worked=()))

    def sizes(self) -> Iterator[tuple[str, int]]:
        for row in self.rows if self.symbolic else ():
            yield from zip(row.dims, map(int, row.shape), strict=True)

    def facts(self) -> dict[str, Any]:
        return {**super().facts(), "batch": self.batch, **self.lengths}

    def records(self) -> list[dict[str, Any]]:
        rows = zip(super().records(), self.rows, strict=True)
        return [{**record, **row.window.record()} for record, row in rows]

    def record(self) -> dict[str, Any]:
        parts = [part.record(path) for path, part in self.parts.items() if path]
        return {**super().record(), "parts": parts, "equations": [block.record() for block in self.equations]}


def shapes(
    root: Module,
    work: Workload,
    *,
    model: str,
    scope: Scope = WHOLE,
    symbolic: bool = False,
    parameters: bool = False,
    explain: bool = False,
    depth: int | None = None,
) -> ShapesReport:
    oriented = orientations(root) if parameters else None
    oriented_so = [orientation_note(oriented.values())] if oriented else []
    computed, equations, fields = signals_of(root), blocks(root), receptive_fields(root)
    explained = notes(equations) if explain else ()
    unstated = [NO_FIELD] if fields.unstated else []
    return ShapesReport(
        model=model,
        assumptions=(scope.exact("shape"), *oriented_so, *explained, *unstated, *notes_of(root), *work.assumptions),
        scope=scope,
        batch=work.batch,
        lengths=work.lengths,
        rows=tuple(_rows(root, Count(1), oriented, fields)),
        parts={module.path: _part(module, computed, fields) for module, _ in walk(root) if not module.is_section},
        equations=equations,
        symbolic=symbolic,
        explain=explain,
        depth=depth,
    )


def _part(module: Module, computed: frozenset[Tensor], fields: ReceptiveFields) -> Part:
    window, about = _windowed(module, fields), ""
    if not _own_output(module):
        about = ", ".join(filter(None, (module.words.about, window.working)))
    return Part(
        title=module.words.full_name,
        repeat=int(module.repeat),
        calls=int(module.calls),
        about=about,
        inputs=tuple(Signal.of(tensor) for tensor in taken_in(module, computed)),
        output=output_of(module),
        window=window,
    )


def output_of(module: Module) -> Signal | None:
    """What it gives out: its own, or that of the step that it runs for every position."""
    out = next((found for one in (module, *reversed(module.children)) if (found := given_out(one))), None)
    return Signal.of(out) if out else None


def _windowed(module: Module, fields: ReceptiveFields) -> Windowed:
    """The working of the window that the module moves over a map, and what its output depends on."""
    moved = next((op.windows for op in reversed(module.ops) if op.windows), ())
    out = given_out(module)
    worked = tuple(window.worked for window in moved)
    if out is None:
        return Windowed(worked)
    smallest, largest = (tuple(ends[end] for ends in fields.of(out)) for end in (0, 1))
    return Windowed(worked, largest, smallest, not fields.is_unstated(out))


def _rows(module: Module, above: Count, oriented: dict[Tensor, str] | None, fields: ReceptiveFields) -> Iterator[Row]:
    """In the order of computation; what a module itself computes last is the module's own signal.

    Parameters are among them if it is known how they are `oriented`.
    """
    repeat, prefix = above * module.repeat, f"{module.path}." if module.path else ""
    if oriented is not None:
        for name, param in module.params.items():
            note = ", ".join(filter(None, ("parameter", oriented.get(param))))
            yield _row(prefix + name, repeat, param, note, name)
    own = _own_output(module)
    for item in module.body:
        if isinstance(item, Module):
            yield from _rows(item, repeat, oriented, fields)
        elif item.name and item is not own:
            title = item.title or item.name.replace("_", " ")
            yield _row(prefix + item.name, repeat, item.output, item.note, title)
    if own:
        title = module.words.full_name
        if module.repeat > 1 and not module.children:  # `conv 2 × 3`: equal layers that have no heading of their own
            title = f"{title} × {module.repeat}"
        row = _row(module.path, repeat, own.output, module.words.about, title)
        yield replace(row, window=_windowed(module, fields))


def _own_output(module: Module) -> Op | None:
    """None where the last thing a module does is a child's work, which has its row already."""
    last = module.body[-1] if module.body and not module.is_section else None
    return last if isinstance(last, Op) and not last.name else None


def _row(path: str, repeat: Count, tensor: Tensor, note: str, title: str) -> Row:
    return Row(path, int(repeat), tensor.shape, _names(tensor.axes), note, title)


def _names(axes: Axes) -> Names:
    return tuple(map(_name, axes))


def orientations(root: Module) -> dict[Tensor, str]:
    """Which axis is which, of every parameter that a product or a look-up reads: `out × in`, `rows × width`."""
    used = ((op, tensor) for op in ops_in(root) for tensor in op.inputs if isinstance(tensor, Param))
    found = {param: _words(op, param) for op, param in reversed(list(used)) if len(param.axes) > 1}
    return {param: words for param, words in found.items() if words}


def orientation_note(found: Iterable[str]) -> Assumption:
    """One sentence for all of them."""
    return Assumption(Topic.TABLE, AS_STORED + (AS_WRITTEN if IN_FIRST in found else ""))


def _words(op: Op, param: Param) -> str:
    if param.weight_role is Role.CONVOLUTION:
        return CONVOLUTION
    if op.traits.contraction:
        return " × ".join(_axis(op, param, axis) for axis in param.axes)
    if op.select and len(param.axes) == 2:
        return "rows × width"
    return ""


def _axis(op: Op, param: Param, axis: Axis) -> str:
    """What is summed away comes in, what only the weight has goes out; anything else has its own name."""
    summed = [each for each in param.axes if {*each} <= {*op.over}]
    if axis in summed:
        return "in" if axis == summed[0] else _name(axis)
    others = {dim for tensor in op.inputs if tensor is not param for dim in tensor.dims}
    return _name(axis) if {*axis} & {*others, *op.select} else "out"


def _name(axis: Axis) -> str:
    return "·".join(dim.name for dim in axis)
