"""The report of `archcalc flops`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import Count
from archcalc.core.mesh import Plan
from archcalc.report.base import SCHEMA_VERSION, Column, Figure, Line, Report, Table, Working
from archcalc.report.tree import outline
from archcalc.run.choice import MODE_WORDS, Choice, run_line, run_record
from archcalc.spec.units import flops

INTENSITY = Assumption(
    Topic.TABLE, "FLOP/B: forward matrix products per byte of their inputs and outputs, each read or written once"
)


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
        names = ("forward", "backward", "total", "macs", "recompute", "elementwise", "elementwise_backward")
        return {name: int(getattr(self, name)) for name in names}


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
    def depth(self) -> int:
        return self.path.count(".")

    @property
    def intensity(self) -> Fraction | None:
        """FLOPs for each byte."""
        return Fraction(int(self.amounts.forward), self.bytes) if self.bytes else None


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

    def record(self) -> dict[str, int]:
        return asdict(self)


@dataclass(frozen=True)
class FlopsReport(Report):
    command: ClassVar[str] = "flops"
    chart: ClassVar[str] = "work"
    choices: tuple[Choice, ...]  # of the run, sizes and plan among them
    cards: str  # that it runs on, where they were named
    asked_mode: str
    mode: str  # of the pass that is counted
    batch: int
    lengths: dict[str, int]
    context: int
    plan: Plan
    weights: str  # the format that they are read in
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

    def title(self) -> str:
        """The run in one line: what was asked for, then what was assumed."""
        return run_line((self.model, MODE_WORDS.get(self.asked_mode, self.asked_mode)), self.choices, self.cards)

    @property
    def trains(self) -> bool:
        return self.mode == "train"

    def answer(self) -> str:
        """The forward pass first, which is what a model costs to run once."""
        where = " on each GPU" if self.plan.gpus > 1 else ""
        once = f"forward{where} {flops(self.forward)} FLOPs, {flops(self.macs)} MACs"
        step = [f"backward {flops(self.backward)}", f"training step {flops(self.total)}"] if self.trains else []
        return " · ".join((once, *step))

    def figures(self) -> Sequence[Figure]:
        recomputed = [Figure("recomputed besides", self.recompute, "flops")] if self.recompute else []
        return [
            Figure("forward", self.forward, "flops"),
            Figure("MACs", self.macs, "flops", note="multiply-adds, forward"),
            *self._step(),
            *recomputed,
            *self._elementwise(),
            *self._each(),
            *self._moved(),
            *self._training(),
        ]

    def _step(self) -> list[Figure]:
        passes = {"backward": self.backward, "training step": self.total}
        return [Figure(name, number, "flops") for name, number in passes.items()] if self.trains else []

    def _each(self) -> list[Figure]:
        """Of one token, or of one sample."""
        unit = "token" if self.lengths else "sample"
        numbers = {"forward": self.forward, **({"step": self.total} if self.trains else {})}
        each = {name: round(Fraction(number, self.tokens)) for name, number in numbers.items()}
        return [Figure(f"{name} per {unit}", each[name], "flops", self._of(number)) for name, number in numbers.items()]

    def _elementwise(self) -> list[Figure]:
        back = int(self.amounts.elementwise_backward)
        return [
            Figure("elementwise besides", self.elementwise + back, "flops", note="forward and backward" if back else "")
        ]

    def _moved(self) -> list[Figure]:
        """In inference, where reading weights and the cache may take longer than the FLOPs."""
        moved = self.traffic
        if self.trains:
            return []
        caches = (("KV cache moved", moved.kv_cache), ("state moved", moved.state))
        return [*self._read(), *(Figure(name, number, "bytes") for name, number in caches if number)]

    def _read(self) -> list[Figure]:
        """A range where it depends on the experts that tokens choose."""
        moved = self.traffic
        if moved.weights_least == moved.weights_largest:
            return [Figure("weights read", moved.weights, "bytes")]
        return [
            Figure("weights read", moved.weights, "bytes", note="expected"),
            Figure("weights read at least", moved.weights_least, "bytes", note="all tokens choose the same experts"),
            Figure("weights read at most", moved.weights_largest, "bytes", note="as many experts as tokens can choose"),
        ]

    def _of(self, number: int) -> str:
        return f"{number:,} over {self.tokens:,}" if number % self.tokens else ""

    def _training(self) -> list[Figure]:
        if self.corpus is None or self.training is None or self.rule is None:
            return []
        off = f"{100 * (self.rule / self.training - 1):+.1f} % off".replace("-", "−")
        unit = "tokens" if self.lengths else "samples"
        return [
            Figure(f"{self.corpus:,} {unit}", self.training, "flops"),
            Figure("6ND rule", self.rule, "flops", note=off),
        ]

    def table(self) -> Table:
        """Kinds of work first: they add up to the total."""
        products = {kind: amounts for kind, amounts in self.kinds.items() if amounts.total}
        lines = [Line((kind, *self._cells(amounts), self._share(amounts.total))) for kind, amounts in products.items()]
        return Table((Column("kind of work", "name"), *self._columns(), Column("share", "share")), tuple(lines))

    def more(self) -> Sequence[Table]:
        columns = (Column("layer", "name"), Column("×", "times"), *self._columns())
        wide = (Column("FLOP/B", "ratio", spare=True, about=INTENSITY), Column("share", "share"))
        return [Table((*columns, *wide), tuple(self._line(row, depth) for row, depth in self._shown()))]

    def _columns(self) -> tuple[Column, ...]:
        back = (Column("backward", "count", spare=True),) if self.trains else ()
        return (Column("forward", "count"), *back, Column("MACs", "count", spare=True))

    def _cells(self, amounts: Amounts) -> tuple[int, ...]:
        back = (int(amounts.backward),) if self.trains else ()
        return (int(amounts.forward), *back, amounts.macs)

    def _shown(self) -> Iterator[tuple[Row, int]]:
        """Layers with matrix products, and their depth in the tree."""
        for row, depth in outline(self.rows, lambda row: row.amounts.total):
            if row.amounts.forward and depth < self.depth:
                yield row, depth

    def _line(self, row: Row, depth: int) -> Line:
        working = Working(row.amounts.forward, (row.term,), "F", self.names) if self.explain else None
        cells = (row.title, row.times, *self._cells(row.amounts), row.intensity, self._share(row.amounts.total))
        return Line(cells, depth, working=working)

    def working(self) -> Working | None:
        """The forward pass, layer by layer."""
        return Working(self.rows[0].amounts.forward, (), "F", self.names) if self.explain and self.rows else None

    def _share(self, number: int) -> float:
        return number / self.total if self.total else 0.0

    def record(self) -> dict[str, Any]:
        context = {"context": self.context} if self.mode == "decode" else {}
        training = {"tokens": self.corpus, "flops": self.training, "6nd": self.rule}
        return {
            "schema_version": SCHEMA_VERSION,
            "model": self.model,
            "run": run_record(self.title(), self.choices),
            **self.scope.record(),
            "mode": self.mode,
            "batch": self.batch,
            **self.lengths,
            **context,
            **self.plan.record(),
            "weights_format": self.weights,
            **self.amounts.record(),
            "traffic": self.traffic.record(),
            "tokens": self.tokens,
            "per_token": float(self.per_token),
            "kinds": {kind: amounts.record() for kind, amounts in self.kinds.items()},
            **({"training": training} if self.corpus else {}),
            "assumptions": self.assumed(),
            "rows": [self._row_record(row) for row in self.rows],
        }

    def _row_record(self, row: Row) -> dict[str, Any]:
        worked = row.amounts.forward.worked(names=self.names)
        intensity = float(row.intensity) if row.intensity is not None else None
        named = {"path": row.path, "repeat": row.repeat, **row.amounts.record()}
        return {**named, "bytes": row.bytes, "intensity": intensity, "worked": worked}
