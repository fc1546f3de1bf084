"""Each figure of a log beside the same as archcalc counts it, and what may explain a difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from archcalc.analyze.oom.figures import FIGURES, Counted, Kind
from archcalc.analyze.oom.reading import Log
from archcalc.spec.units import binary_bytes

NEAR = 0.05  # of a figure: a difference that needs no explanation
POOL = ("kv_pool", "kv_tokens", "concurrency", "longest")
BESIDE_POOL = ("weights", "activations", "non_torch")  # within the share of an engine
PART = 0.25  # of a difference, from which on it is an explanation
ELSE = "activations of a step, other processes, or another share or card (--gpu-memory-utilization, --gpu)"
WHY = {
    "activations": "the tokens and requests of a step (--max-num-batched-tokens, --max-num-seqs)",
    "compute": "the tokens of a step (--ubatch-size), or --attention",
    "non_torch": "libraries and links between cards, of which an estimate is counted",
    "graphs": "the number of CUDA graphs, of which an estimate is counted",
    "cache": "the context or the format of the KV cache (--seq, --batch, --kv-dtype)",
    "state": "the number of sequences (--batch)",
    "kv_request": "the context or the format of the KV cache (--seq, --kv-dtype)",
}


@dataclass(frozen=True)
class Row:
    """A figure of the log, as it is counted (None: it is not), and what may explain the difference."""

    figure: str
    log: float
    counted: float | None = None
    why: str = ""

    @property
    def kind(self) -> Kind:
        return FIGURES[self.figure]

    @property
    def difference(self) -> float | None:
        """Of the log, as a share of what is counted; None of a run that failed before it had all that it needs."""
        if not self.counted or (self.figure == "needed" and self.log < self.counted):
            return None
        return self.log / self.counted - 1

    @property
    def more(self) -> float:
        """What the log has beyond what is counted."""
        return self.log - (self.counted or 0)

    @property
    def is_near(self) -> bool:
        return self.difference is not None and abs(self.difference) <= NEAR


def compared(log: Log, run: Counted) -> tuple[Row, ...]:
    """In the order in which they are explained: a pool behind what stands beside it."""
    rows: list[Row] = []
    for name, kind in FIGURES.items():
        if name in log.figures:
            said = log.figures[name].value if kind.unit == "fold" else log.get(name)
            rows.append(Row(name, said, kind.counted(run)))
    return tuple(replace(one, why="; ".join(_why(one, rows, run))) for one in rows)


def _why(row: Row, rows: list[Row], run: Counted) -> Iterator[str]:
    if row.difference is None or row.is_near:
        return
    if row.figure in WHY:
        yield WHY[row.figure]
    if row.figure == "weights":
        held = run.request.deployment.parameters.held
        elements = sum(one.elements * one.copies for one in held) or 1
        bits = (8 * size / elements for size in (row.log, row.counted or 0))
        yield "{:.1f} bits a weight in the log, {:.1f} counted (--weights, --tp)".format(*bits)
    if row.figure in POOL:
        names, deployment = [*BESIDE_POOL], run.request.deployment
        if not deployment.run.engine.graphs_outside(deployment.layers):
            names.append("graphs")
        yield _beside(row, rows, names) or ELSE


def _beside(row: Row, rows: list[Row], names: Sequence[str]) -> str:
    """Of what is within the share and no cache, what differs most; of a pool of the right size the bytes of a token."""
    known = {one.figure: one for one in rows if one.counted}
    if row.figure != "kv_pool" and "kv_pool" in known and known["kv_pool"].is_near:
        return "the bytes of a token, or how the engine counts them (--kv-dtype, --seq)"
    sign, word = (1, "more") if row.more < 0 else (-1, "less")
    beside = {known[name].kind.label: sign * round(known[name].more) for name in names if name in known}
    label, most = max(beside.items(), key=itemgetter(1), default=("", 0))
    if most <= 0 or most < PART * abs(known.get("kv_pool", row).more):
        return ""
    return f"{binary_bytes(most)} {word} of {label} in the log than counted"
