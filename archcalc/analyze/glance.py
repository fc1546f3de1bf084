"""A model on one screen: what it is, where it runs, what fine-tuning takes, and the commands that go on from there.

    glance(load("llama-3.1-8b"), "llama-3.1-8b").summary()

Every figure is what `params`, `flops`, `memory` and `fit` answer.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from archcalc.analyze.adapted import counted
from archcalc.analyze.fit.sentence import joined, smallest_card
from archcalc.analyze.fit.uses import INFERENCE, USES, Use, inference, training
from archcalc.analyze.flops.answer import flops
from archcalc.analyze.memory.deployment import deploy
from archcalc.analyze.memory.peak import cache_bytes
from archcalc.analyze.params import ParamsReport
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.network import Network
from archcalc.report.base import Figure, Report, given
from archcalc.report.table import Column, Line, Table, records_of, table_of
from archcalc.run.options import Options
from archcalc.spec.sizes import Sizes
from archcalc.spec.units import binary_bytes, rounded

CARDS = Assumption(
    Topic.CAPACITY, "smallest usual card: of those that `archcalc fit` answers for, with the error band to spare"
)
TRAINING = Assumption(
    Topic.METHOD, "training: adapters of rank 16 on all linear layers, activation checkpointing where there are blocks"
)
NEXT = (  # what people ask then, and the command that answers it
    ("will it fit my card?", "archcalc fit {} --gpu 4090"),
    ("how is it worked out?", "archcalc params {} --explain"),
    ("all of it on one page", "archcalc report {}"),
)


class Cache(NamedTuple):
    """Keys, values and states of one sequence."""

    length: int
    bytes: int
    each: int | None  # byte of a token, where all tokens take as much


@dataclass(frozen=True)
class GlanceReport(Report):
    command: ClassVar[str] = "about"
    chart: ClassVar[str] = "icicle"  # that of its parameters
    kind: str
    typed: str  # the name that it goes by on the command line
    params: ParamsReport
    longest: int | None  # context; None where the model has no limit, or no sequence
    cache: Cache | None
    flops_per_token: int | None
    rows: tuple[Use, ...]
    unit: str = "token"  # or sample

    def title(self) -> str:
        return f"{self.model} · {self.kind}"

    def answer(self) -> str:
        """`8.03 B parameters; smallest usual card: 24 GB in bf16, 12 GB with q8_0; LoRA from 24 GB`."""
        params = self.params
        count = f"{rounded(int(params.total))} parameters"
        if params.active != params.total:
            count += f", {rounded(params.active)} active per token"
        trained = ", ".join(f"{use.name} from {use.size}" for use in self.rows if use.name != INFERENCE)
        return joined((count, smallest_card([use for use in self.rows if use.name == INFERENCE]), trained))

    def summary(self) -> str:
        return self.answer()

    def figures(self) -> Sequence[Figure]:
        params, cache = self.params, self.cache
        listed: list[tuple[object, Figure]] = [
            (True, Figure("parameters", params.total)),
            (params.active != params.total, Figure("active per token", params.active)),
            (True, Figure(f"weights in {params.precision}", params.bytes, "bytes")),
            (params.stored is not None, Figure("weights as stored", params.stored, "bytes")),
            (self.longest, Figure("longest context", self.longest, "bound", "tokens")),
        ]
        if cache:
            each = f"{binary_bytes(cache.each)} a token" if cache.each else ""
            listed.append((True, Figure(f"cache of {cache.length:,} tokens", cache.bytes, "bytes", each)))
        listed.append(
            (self.flops_per_token, Figure(f"FLOPs per {self.unit}", self.flops_per_token, "flops", "forward"))
        )
        return [figure for wanted, figure in listed if wanted]

    def columns(self) -> Sequence[Column[Use]]:
        has_context = any(use.max_seq for use in self.rows)
        return (
            *USES,
            Column("", "memory", "binary", "required_bytes"),
            Column("", "left", "room", "left_bytes"),
            Column("", "context", "bound", "max_seq", shown=has_context),
            Column("", "run", "text", "how", spare=True),
        )

    def table(self) -> Table:
        return table_of(self.columns(), self.rows) if self.rows else Table((), ())

    def more(self) -> Sequence[Table]:
        name = shlex.quote(self.typed)
        columns: tuple[Column[Any], ...] = (Column("", "then", "name"), Column("", "command", "text"))
        return [Table(columns, tuple(Line((question, command.format(name))) for question, command in NEXT))]

    def facts(self) -> dict[str, Any]:
        cache = self.cache
        return {
            "summary": self.summary(),
            **super().facts(),
            "kind": self.kind,
            "parameters": int(self.params.total),
            "active": self.params.active,
            "weights_bytes": self.params.bytes,
            **given(max_context=self.longest, flops_per_token=self.flops_per_token),
            **given(cache=cache and cache._asdict()),
        }

    def records(self) -> list[dict[str, Any]]:
        return records_of(USES, self.rows)


def glance(model: Network, typed: str) -> GlanceReport:
    """What a model is not able to (a list of tensors computes nothing) is left out."""
    params = counted(model, Options.of("params", {}))
    uses = [*_asked(model)] if model.spec.is_computed else []
    notes = [*params.assumptions]
    if uses:
        notes += [_sizes(model), CARDS]
    if any(use.name != INFERENCE for use in uses):
        notes.append(TRAINING)
    longest = [one.length for one in model.resolved.lengths.values()][-1:] if model.spec.is_computed else []
    work = flops(model, Options.of("flops", {"mode": "forward"})) if model.spec.is_computed else None
    return GlanceReport(
        model=model.name,
        assumptions=tuple(notes),
        scope=model.scope,
        kind=model.kind,
        typed=typed,
        params=params,
        longest=next(iter(longest), None),
        cache=_cache(model) if model.spec.is_computed else None,
        flops_per_token=round(work.per_token) if work else None,
        rows=tuple(uses),
        unit="token" if model.resolved.lengths else "sample",
    )


def _asked(model: Network) -> list[Use]:
    """What no card is known to run is left out."""
    try:
        return [*inference(model, Options.of("fit", {})), *training(model, Sizes())]
    except InputError:
        return []


def _sizes(model: Network) -> Assumption:
    """Of every use."""
    work = model.workload(mode="prefill")
    lengths = (f"{name} {length:,}" for name, length in work.lengths.items())
    return Assumption(
        Topic.BATCH, f"uses: {', '.join((f'batch {work.batch}', *lengths))}", work.batch, "`archcalc fit`"
    )


def _cache(model: Network) -> Cache | None:
    """At the longest context of a decoder, or at the usual length; None where nothing is kept for later tokens."""
    lengths = model.resolved.lengths
    if list(lengths) != ["seq"]:
        return None
    length = lengths["seq"].length or model.workload(mode="prefill").lengths["seq"]
    deployment = deploy(model, Options.of("memory", {}))
    whole, one = (cache_bytes(deployment, Sizes(batch=1, seq=size)) for size in (length, 1))
    return Cache(length, whole, one if one * length == whole else None) if whole else None
