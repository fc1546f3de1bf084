"""The report of `archcalc flops`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, NamedTuple

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import Count
from archcalc.report.base import Figure
from archcalc.report.of_run import RunReport
from archcalc.report.table import Column, Line, Table, Working, cells_of, in_tables, keys, table_of
from archcalc.report.tree import outline
from archcalc.spec.units import flops

INTENSITY = Assumption(
    Topic.TABLE, "FLOP/B: forward matrix products per byte of their inputs and outputs, each read or written once"
)
AMOUNTS = ("forward", "backward", "total", "macs", "recompute", "elementwise", "elementwise_backward")


@dataclass(frozen=True)
class Amounts:
    """FLOPs of a model or a part of it."""

    forward: Count
    backward: Count
    recompute: Count
    elementwise: Count
    elementwise_backward: Count

    @property
    def total(self) -> int:
        """Matrix products of a step, without what recomputation adds."""
        return int(self.forward) + int(self.backward)

    @property
    def macs(self) -> int:
        """Multiply-adds of the forward pass: a matrix product has two FLOPs for each."""
        return int(self.forward) // 2

    def record(self) -> dict[str, int]:
        return {name: int(getattr(self, name)) for name in AMOUNTS}


def in_short(amounts: Amounts, *, trains: bool, gpus: int) -> tuple[str, ...]:
    """The forward pass first, which is what a model costs to run once."""
    where = " on each GPU" if gpus > 1 else ""
    once = f"forward{where} {flops(int(amounts.forward))} FLOPs, {flops(amounts.macs)} MACs"
    step = (f"backward {flops(int(amounts.backward))}", f"training step {flops(amounts.total)}") if trains else ()
    return (once, *step)


@dataclass(frozen=True)
class Row:
    path: str
    title: str
    times: Count
    repeat: int
    amounts: Amounts
    bytes: int  # read and written by the forward products
    term: str = ""  # its name in sums

    @property
    def intensity(self) -> Fraction | None:
        """FLOPs for each byte."""
        return Fraction(int(self.amounts.forward), self.bytes) if self.bytes else None


class KindOfWork(NamedTuple):
    kind: str
    amounts: Amounts


@dataclass(frozen=True)
class Traffic:
    """Bytes that a forward pass reads of weights, and reads and writes of caches, on one GPU.

    `weights` is what is expected where tokens choose experts, rounded to a byte, between `weights_least` and
    `weights_largest`."""

    weights: int
    weights_least: int
    weights_largest: int
    kv_cache: int
    state: int


@dataclass(frozen=True)
class FlopsReport(RunReport):
    command: ClassVar[str] = "flops"
    chart: ClassVar[str] = "work"
    traffic: Traffic
    amounts: Amounts
    kinds: dict[str, Amounts]
    tokens: int  # computed in one step
    corpus: int | None
    parameters: int
    rows: tuple[Row, ...]
    depth: int
    explain: bool
    names: bool

    @property
    def forward(self) -> int:
        return int(self.amounts.forward)

    @property
    def backward(self) -> int:
        return int(self.amounts.backward)

    @property
    def total(self) -> int:
        return self.amounts.total

    @property
    def macs(self) -> int:
        return self.amounts.macs

    @property
    def recompute(self) -> int:
        return int(self.amounts.recompute)

    @property
    def elementwise(self) -> int:
        return int(self.amounts.elementwise)

    @property
    def per_token(self) -> Fraction:
        """Matrix products for each token that is computed."""
        return Fraction(self.total, self.tokens)

    @property
    def training(self) -> int | None:
        """Matrix products of a whole training on all GPUs, rounded to one; replicas share the tokens."""
        copies = self.plan.tp * self.plan.cp
        return round(self.corpus * self.per_token * copies) if self.corpus else None

    @property
    def rule(self) -> int | None:
        """The rule of thumb for the same: six for each parameter and token."""
        return 6 * self.parameters * self.corpus if self.corpus else None

    @property
    def trains(self) -> bool:
        return self.mode == "train"

    def answer(self) -> str:
        return " · ".join(in_short(self.amounts, trains=self.trains, gpus=self.plan.gpus))

    def figures(self) -> Sequence[Figure]:
        back = int(self.amounts.elementwise_backward)
        passes = "forward and backward" if back else ""
        listed = [
            (True, Figure("forward", self.forward, "flops")),
            (True, Figure("MACs", self.macs, "flops", note="multiply-adds, forward")),
            (self.trains, Figure("backward", self.backward, "flops")),
            (self.trains, Figure("training step", self.total, "flops")),
            (self.recompute, Figure("recomputed", self.recompute, "flops")),
            (True, Figure("elementwise ops", self.elementwise + back, "flops", note=passes)),
            (True, self._each("forward", self.forward)),
            (self.trains, self._each("step", self.total)),
        ]
        return [*(figure for wanted, figure in listed if wanted), *self._moved(), *self._training()]

    def _each(self, name: str, number: int) -> Figure:
        """Of one token, or of one sample."""
        unit = "token" if self.lengths else "sample"
        worked = f"{number:,} over {self.tokens:,}" if number % self.tokens else ""
        return Figure(f"{name} per {unit}", round(Fraction(number, self.tokens)), "flops", worked)

    def _moved(self) -> list[Figure]:
        """In inference, where reading weights and the cache may take longer than the FLOPs; a range where that depends
        on the experts that tokens choose."""
        if self.trains:
            return []
        moved = self.traffic
        least, most = moved.weights_least, moved.weights_largest
        varies = least != most
        listed = [
            (True, Figure("weights read", moved.weights, "bytes", note="expected" if varies else "")),
            (varies, Figure("weights read at least", least, "bytes", note="all tokens choose the same experts")),
            (varies, Figure("weights read at most", most, "bytes", note="as many experts as tokens can choose")),
            (moved.kv_cache, Figure("KV cache moved", moved.kv_cache, "bytes")),
            (moved.state, Figure("state moved", moved.state, "bytes")),
        ]
        return [figure for wanted, figure in listed if wanted]

    def _training(self) -> list[Figure]:
        if self.corpus is None or self.training is None or self.rule is None:
            return []
        off = f"{100 * (self.rule / self.training - 1):+.1f} % off".replace("-", "−")
        unit = "tokens" if self.lengths else "samples"
        return [
            Figure(f"{self.corpus:,} {unit}", self.training, "flops"),
            Figure("6ND rule", self.rule, "flops", note=off),
        ]

    def _amounts(self) -> tuple[Column[Any], ...]:
        """What layers and kinds of work have in common."""
        return (
            Column("", "forward", "count", "amounts.forward"),
            Column("", "backward", "count", "amounts.backward", shown=self.trains, spare=True),
            Column("", "MACs", "count", "amounts.macs", spare=True),
            Column("", "share", "share", "amounts.total", whole=self.total),
        )

    def table(self) -> Table:
        """Kinds of work first: they add up to the total."""
        first = Column[Any]("", "kind of work", "name", "kind")
        products = (KindOfWork(*each) for each in self.kinds.items() if each[1].total)
        return table_of((first, *self._amounts()), products)

    def columns(self) -> tuple[Column[Row], ...]:
        *amounts, share = self._amounts()
        return (
            *keys("path", "repeat"),
            *(Column(name, get=partial(_amount, name)) for name in AMOUNTS),
            Column("bytes"),
            Column("", "layer", "name", "title"),
            Column("", "×", "times", "times"),
            *amounts,
            Column("intensity", "FLOP/B", "ratio", spare=True, about=INTENSITY),
            Column("worked", get=lambda row: row.amounts.forward.worked(names=self.names)),
            share,
        )

    def more(self) -> Sequence[Table]:
        """Layers with matrix products, down to the chosen depth."""
        columns = in_tables(self.columns())
        lines: list[Line] = []
        for row, depth in outline(self.rows, [row.amounts.total for row in self.rows]):
            if row.amounts.forward and depth < self.depth:
                working = Working(row.amounts.forward, (row.term,), "F", self.names) if self.explain else None
                lines.append(Line(cells_of(columns, row), depth, working=working))
        return [Table(columns, tuple(lines))]

    def working(self) -> Working | None:
        """The forward pass, layer by layer."""
        return Working(self.rows[0].amounts.forward, (), "F", self.names) if self.explain and self.rows else None

    def facts(self) -> dict[str, Any]:
        training = {"training": {"tokens": self.corpus, "flops": self.training, "6nd": self.rule}}
        return {
            **super().facts(),
            **self.amounts.record(),
            "traffic": dict(vars(self.traffic)),
            "tokens": self.tokens,
            "per_token": float(self.per_token),
            "kinds": {kind: amounts.record() for kind, amounts in self.kinds.items()},
            **(training if self.corpus else {}),
        }


def _amount(name: str, row: Row) -> int:
    return int(getattr(row.amounts, name))
