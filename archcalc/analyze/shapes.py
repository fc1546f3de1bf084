"""The shape of every tensor in the forward pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from archcalc.core.count import Count
from archcalc.core.ir import Axes, Module, Op, Tensor, notes_of
from archcalc.report.base import SCHEMA_VERSION, Column, Line, Report, Table
from archcalc.spec.scope import WHOLE, Scope
from archcalc.spec.workload import Workload


@dataclass(frozen=True)
class Row:
    path: str
    repeat: int
    shape: tuple[int, ...]
    dims: tuple[str, ...]
    note: str = ""
    title: str = ""


@dataclass(frozen=True)
class ShapesReport(Report):
    command: ClassVar[str] = "shapes"
    batch: int
    lengths: dict[str, int]
    rows: tuple[Row, ...]
    headings: dict[str, tuple[str, str]]  # by path: the modules that rows stand under, and how often they run
    symbolic: bool = False
    depth: int | None = None

    def answer(self) -> str:
        sizes = {"batch": self.batch, **self.lengths}
        return " · ".join(f"{name} {size:,}" for name, size in sizes.items())

    def table(self) -> Table:
        return Table((Column("signal", "name"), Column("shape", "shape"), Column("", "text")), tuple(self._lines()))

    def _lines(self) -> Iterator[Line]:
        """Rows under the headings of the modules they belong to, each heading once."""
        shown: set[str] = set()
        for row in self.rows:
            above = row.path.split(".")[:-1]
            for depth in range(len(above)):
                heading = ".".join(above[: depth + 1])
                if heading not in shown and self._is_shown(depth):
                    shown.add(heading)
                    title, often = self.headings[heading]
                    yield Line((title, None, often), depth, heading=True)
            if self._is_shown(len(above)):
                yield Line((row.title, row.dims if self.symbolic else row.shape, row.note), len(above))

    def _is_shown(self, depth: int) -> bool:
        return self.depth is None or depth < self.depth

    def sizes(self) -> Iterator[tuple[str, int]]:
        for row in self.rows if self.symbolic else ():
            yield from zip(row.dims, map(int, row.shape), strict=True)

    def record(self) -> dict[str, Any]:
        keys = ("path", "repeat", "shape", "dims")
        return {
            "schema_version": SCHEMA_VERSION,
            "model": self.model,
            **self.scope.record(),
            "batch": self.batch,
            **self.lengths,
            "assumptions": self.assumed(),
            "rows": [{key: getattr(row, key) for key in keys} for row in self.rows],
        }


def shapes(
    root: Module,
    work: Workload,
    *,
    model: str,
    scope: Scope = WHOLE,
    symbolic: bool = False,
    parameters: bool = False,
    depth: int | None = None,
) -> ShapesReport:
    return ShapesReport(
        model=model,
        assumptions=(scope.exact("shape"), *notes_of(root), *work.assumptions),
        scope=scope,
        batch=work.batch,
        lengths=work.lengths,
        rows=tuple(_rows(root, Count(1), parameters)),
        headings={module.path: _heading(module) for module in _modules(root) if not module.is_section},
        symbolic=symbolic,
        depth=depth,
    )


def _modules(module: Module) -> Iterator[Module]:
    yield module
    for child in module.children:
        yield from _modules(child)


def _heading(module: Module) -> tuple[str, str]:
    title = f"{module.title} × {module.repeat}" if module.repeat > 1 else module.title
    return title, f"runs {module.calls:,} times" if module.calls > 1 else ""


def _rows(module: Module, above: Count, parameters: bool) -> Iterator[Row]:
    """In the order of computation; what a module itself computes last is the module's own signal."""
    repeat = above * module.repeat
    if parameters:
        for name, param in module.params.items():
            yield _row(_under(module, name), repeat, param, "parameter", name)
    own = _own_output(module)
    for item in module.body:
        if isinstance(item, Module):
            yield from _rows(item, repeat, parameters)
        elif item.name and item is not own:
            yield _row(_under(module, item.name), repeat, item.output, item.note, item.name.replace("_", " "))
    if own:
        yield _row(module.path, repeat, own.output, own.note if own.name else "", module.title)


def _under(module: Module, name: str) -> str:
    return f"{module.path}.{name}" if module.path else name


def _own_output(module: Module) -> Op | None:
    """None where the last thing a module does is a child's work, which has its row already."""
    last = module.body[-1] if module.body and not module.is_section else None
    return last if isinstance(last, Op) and not last.name else None


def _row(path: str, repeat: Count, tensor: Tensor, note: str, title: str) -> Row:
    return Row(path, int(repeat), tensor.shape, _names(tensor.axes), note, title)


def _names(axes: Axes) -> tuple[str, ...]:
    return tuple("·".join(dim.name for dim in axis) for axis in axes)
