"""The catalog of devices: one line each, or one device in full."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from archcalc.core.assumptions import Topic, all_on
from archcalc.core.errors import InputError, did_you_mean
from archcalc.report.base import Report
from archcalc.report.table import Column, Line, Table, cells_of, in_tables, records_of
from archcalc.report.units import Quantity, unit
from archcalc.run.device import KINDS, Device, catalog, device, makers, rated, remarks, unreadable
from archcalc.spec import paths
from archcalc.spec.option_checks import checked, memory_size
from archcalc.spec.units import Rated, binary_bytes, decimal_bytes

HEADS = (  # what the columns mean
    "rated: nameplate memory; memory: what a driver reports, where a source has that figure, what the system lets a GPU"
    " hold of memory that is shared with the CPU, else the nameplate in binary gigabytes",
    "TFLOP/s: the dense peak in bf16, or fp16 where there is no bf16; blank where the maker publishes none",
    "link: both directions together",
)
unit("memory", lambda value: f"{value:,} bytes · {binary_bytes(value)}")
unit("bandwidth", lambda value: f"{decimal_bytes(value)}/s")
unit("tera", lambda value: f"{value / 10**12:,.1f}")
unit("speed", lambda value: f"{value / 10**12:,.1f} TFLOP/s")


@dataclass(frozen=True)
class GpusReport(Report):
    """Every device that was asked for."""

    command: ClassVar[str] = "gpus"
    rows: dict[str, Device]
    unreadable: dict[str, str] = field(default_factory=dict)  # what is wrong with a file, by the device's name

    def answer(self) -> str:
        return f"{len(self.rows)} {'device' if len(self.rows) == 1 else 'devices'}"

    def table(self) -> Table:
        columns = in_tables(COLUMNS)
        lines = [Line(cells_of(columns, each)) for each in self.rows.items()]
        lines += [Line((name, "not read", *[None] * (len(columns) - 2))) for name in self.unreadable]
        return Table(columns, tuple(lines))

    def facts(self) -> dict[str, Any]:
        return {}

    def records(self) -> list[dict[str, Any]]:
        """Every row has every key; what is not known is null."""
        rows = self.rows.items()
        return [{"gpu": name, "capacity_bytes": each.capacity, **each.model_dump()} for name, each in rows]

    def record(self) -> dict[str, Any]:
        return {**super().record(), "unreadable": self.unreadable}

    def flat(self) -> list[dict[str, Any]]:
        """The figures of the table; texts and sources stay with JSON."""
        blank, wrong = dict.fromkeys(self.heads()), self.unreadable.items()
        unread = [{**blank, "gpu": name, "name": f"cannot be read: {told}"} for name, told in wrong]
        return [*records_of(COLUMNS, self.rows.items()), *unread]

    def heads(self) -> list[str]:
        return [column.key for column in COLUMNS if column.key]


def _peak(dtype: str, named: tuple[str, Device]) -> Any:
    return getattr(named[1].peak, dtype)


COLUMNS: tuple[Column[tuple[str, Device]], ...] = (
    Column("gpu", "name", "name", lambda named: named[0]),
    Column("name", get=lambda named: named[1].name),
    Column("maker", get=lambda named: named[1].maker),
    Column("kind", get=lambda named: named[1].kind),
    Column("year", get=lambda named: named[1].year),
    Column("", "rated", "text", lambda named: named[1].memory.nameplate),
    Column("capacity_bytes", "memory", "binary", lambda named: named[1].capacity),
    Column("nameplate_bytes", get=lambda named: named[1].memory.bytes),
    Column("bandwidth", "bandwidth", "bandwidth", lambda named: named[1].bandwidth),
    Column("", "TFLOP/s", "tera", lambda named: named[1].half_peak),
    Column("link", "link", "bandwidth", lambda named: named[1].link and named[1].link.bytes_per_second),
    Column("", "year", "text", lambda named: named[1].year),
    Column("", "full name", "text", lambda named: named[1].name, spare=True),
    *(Column(dtype, get=partial(_peak, dtype)) for dtype in ("fp32", "bf16", "fp16", "fp8", "int8")),
)


@dataclass(frozen=True)
class GpuReport(GpusReport):
    """One device, with every figure and where it comes from."""

    @property
    def device(self) -> Device:
        return next(iter(self.rows.values()))

    def title(self) -> str:
        return self.device.name

    def answer(self) -> str:
        """The memory that a model can use."""
        return f"{binary_bytes(self.device.capacity)} of memory"

    def table(self) -> Table:
        """Label and figure, as lines; what is unknown has no line."""
        each, memory, link = self.device, self.device.memory, self.device.link
        facts = {
            "name": Quantity(self.model, "text"),
            "maker": Quantity(each.maker, "text"),
            "kind": Quantity(each.kind, "text"),
            "generation": Quantity(each.generation, "text"),
            "year": Quantity(each.year, "text"),
            "rated": Quantity(memory.nameplate, "text"),
            "nameplate memory": Quantity(memory.bytes, "memory"),
            "reported memory": Quantity(memory.reported, "memory"),
            "usable memory": Quantity(memory.working_set and each.capacity, "memory"),
            "bandwidth": Quantity(each.bandwidth, "bandwidth"),
            **{f"dense {dtype}": Quantity(peak, "speed") for dtype, peak in each.peak.model_dump().items()},
            "link": Quantity(link and link.kind, "text"),
            "link bandwidth": Quantity(link and link.bytes_per_second, "bandwidth"),
            "board power": Quantity(each.power and f"{each.power} W", "text"),
        }
        columns = (Column[Any]("", "what", "name"), Column[Any]("", "figure", "text"))
        return Table(columns, tuple(Line((label, fact)) for label, fact in facts.items() if fact.value))


def _room(value: Any, option: str) -> Rated:
    """`24GB` as cards are rated, or what can be used: `24GiB`, or a number of bytes."""
    if not isinstance(value, str):
        return Rated(memory_size(value, option), by_maker=False)
    size = rated(value, option)
    if size is None:
        raise InputError(f"expected a memory size such as 24GB or 24GiB, found '{value}'", field=option)
    return size


@partial(checked, min_memory=_room)
def gpus(
    name: str | None = None, *, maker: str | None = None, kind: str | None = None, min_memory: Any = None
) -> GpusReport:
    """All devices, those of a maker or kind or with so much memory, or the one of that name."""
    if name is not None:
        known, found = device(name, field="gpus")
        said = all_on(Topic.DEVICE, remarks(name, "gpus"))
        return GpuReport(model=known, assumptions=(*said, *all_on(Topic.SOURCE, _texts(found))), rows={known: found})
    known_makers = {each.lower(): each for each in makers()}
    wanted = known_makers[_choice(maker.lower(), known_makers, "--maker")] if maker else None
    kind = _choice(kind.lower(), KINDS, "--kind") if kind else None
    rows = catalog()
    if min_memory:
        rooms = {name: each.memory.bytes if min_memory.by_maker else each.capacity for name, each in rows.items()}
        rows = {name: each for name, each in rows.items() if rooms[name] >= min_memory.bytes}
    rows = {name: each for name, each in rows.items() if wanted in (None, each.maker) and kind in (None, each.kind)}
    # Of an error its first line: file, line, field and fact.
    told = {name: str(error).partition("\n")[0] for name, error in unreadable().items()}
    wrong = {name: line.replace("cannot be read: ", "") for name, line in told.items()}
    faults = (*(f"{name} cannot be read: {told}" for name, told in wrong.items()), *paths.faults())
    assumptions = (*all_on(Topic.TABLE, HEADS), *all_on(Topic.SCOPE, faults))
    return GpusReport(model="devices", assumptions=assumptions, rows=rows, unreadable=wrong)


def _choice(word: str, known: Any, option: str) -> str:
    if word not in known:
        raise InputError(f"no {option.removeprefix('--')} is called {word}", did_you_mean(word, known), field=option)
    return word


def _texts(each: Device) -> list[str]:
    """What is too long for a table: the note, then where the figures come from."""
    texts = {
        "also called": ", ".join(each.aliases),
        "note": each.note,
        "link": each.link.note if each.link else "",
        "reported memory": each.memory.source,
    }
    told = [f"{label}: {text}" for label, text in texts.items() if text]
    return [*told, *(f"source: {source}" for source in each.sources)]
