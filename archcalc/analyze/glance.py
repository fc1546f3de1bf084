"""A model on one screen: what it is, where it runs, what fine-tuning takes, and the commands that go on from there.

    glance(load("llama-3.1-8b"), "llama-3.1-8b").summary()

Every figure is what `params`, `memory` and `fit` answer.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from archcalc.analyze.adapted import counted
from archcalc.analyze.fit.sentence import joined, smallest_card
from archcalc.analyze.fit.uses import INFERENCE, USES, Use, inference, training
from archcalc.analyze.memory.deployment import deploy
from archcalc.analyze.memory.peak import cache_bytes
from archcalc.analyze.params import ParamsReport
from archcalc.core.assumptions import Assumption, Topic, without
from archcalc.core.errors import InputError
from archcalc.network import Network
from archcalc.report.base import Report, given
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
    grows: bool = True  # with the length, as keys and values do and states do not

    @property
    def name(self) -> str:
        return "KV cache" if self.grows else "state"

    def told(self) -> str:
        """`KV cache 128.0 KiB a token, 16.00 GiB for 131,072`."""
        return f"{self.name} {self.sizes()}"

    def sizes(self) -> str:
        if not self.grows:
            return f"{binary_bytes(self.bytes)} a sequence"
        each = f"{binary_bytes(self.each)} a token, " if self.each else ""
        return f"{each}{binary_bytes(self.bytes)} for {self.length:,}"


@dataclass(frozen=True)
class GlanceReport(Report):
    command: ClassVar[str] = "about"
    notes_at_first: ClassVar[int] = 0  # so that all of it is one screen
    kind: str
    typed: str  # the name that it goes by on the command line
    params: ParamsReport
    longest: int | None = None  # context; None where the model has no limit, or no sequence
    cache: Cache | None = None
    rows: tuple[Use, ...] = ()

    def title(self) -> str:
        return f"{self.model} · {self.kind}"

    def answer(self) -> str:
        """`8.03 B parameters; smallest usual card: 24 GB in bf16, 12 GB with q8_0; LoRA from 24 GB`."""
        params = self.params
        count = f"{rounded(int(params.total))} parameters"
        if params.active != params.total:
            count += f", {rounded(params.active)} active per token"
        inferred = [use for use in self.rows if use.name == INFERENCE]
        return joined((count, smallest_card(inferred, is_partial=not self.scope.runs_whole), self.trained))

    @property
    def trained(self) -> str:
        """`LoRA from 24 GB, full training from 2 × 141 GB`."""
        return ", ".join(f"{use.name} from {use.size}" for use in self.rows if use.name != INFERENCE)

    def beneath(self) -> Sequence[str]:
        """The count to the last digit, what it takes, and how long a context may be."""
        params = self.params
        size = params.bytes if params.stored is None else params.stored
        stored = "as stored" if params.stored is not None else f"in {params.precision}"
        exactly = "" if self.scope.left_out else "exactly "
        counted = f"{exactly}{int(params.total):,} parameters, {binary_bytes(size)} {stored}"
        context = f"context up to {self.longest:,} tokens" if self.longest else ""
        return [counted, joined((context, self.cache.told() if self.cache else ""))]

    def summary(self) -> str:
        return self.answer()

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
        columns: tuple[Column[Any], ...] = (Column("", "", "name"), Column("", "", "text"))
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
            **given(max_context=self.longest, cache=cache and cache._asdict()),
        }

    def records(self) -> list[dict[str, Any]]:
        return records_of(USES, self.rows)


def glance(model: Network, typed: str) -> GlanceReport:
    """Of a list of tensors, which computes nothing, its parameters alone."""
    params = counted(model, Options.of("params", {}))
    made = GlanceReport(model.name, params.assumptions, model.kind, typed, params, scope=model.scope)
    return _with_uses(made, model) if model.spec.is_computed else made


def _with_uses(made: GlanceReport, model: Network) -> GlanceReport:
    uses = _asked(model)
    notes = [*without(made.assumptions, Topic.EXACTNESS)]  # which the count's line says
    if uses:
        notes += [_sizes(model), CARDS]
    if any("lora" in use.options for use in uses):
        notes.append(TRAINING)
    longest = next((one.length for one in reversed([*model.resolved.lengths.values()])), None)
    return replace(made, assumptions=tuple(notes), longest=longest, cache=_cache(model), rows=tuple(uses))


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
    if list(lengths) != ["seq"] or lengths["seq"].fixed:
        return None
    length, least = lengths["seq"].length or model.workload(mode="prefill").lengths["seq"], lengths["seq"].least
    deployment = deploy(model, Options.of("memory", {}))
    whole, short = (cache_bytes(deployment, Sizes(batch=1, seq=size)) for size in (length, least))
    each = whole // length if whole * least == short * length else None
    return Cache(length, whole, each, grows=whole > short) if whole else None
