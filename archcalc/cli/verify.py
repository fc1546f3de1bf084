"""`archcalc verify`: archcalc's numbers beside PyTorch's."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from archcalc.cli.options import Batch, Format, ModelName, Seq, Set, SrcSeq, TgtSeq, loaded, show

if TYPE_CHECKING:
    from archcalc.verify.check import Progress

DIFFERENT = 1


def verify(
    model: ModelName = "textbook",
    batch: Batch = None,
    seq: Seq = None,
    src_seq: SrcSeq = None,
    tgt_seq: TgtSeq = None,
    set: Set = [],
    scale_down: Annotated[
        bool, typer.Option("--scale-down", help="Compare a small twin: the same structure, small sizes.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Parameters at full depth, all else on one period and a short sequence.")
    ] = False,
    all: Annotated[bool, typer.Option("--all", help="Every preset, quickly, one line each.")] = False,
    format: Format = "table",
) -> None:
    """Every number beside PyTorch's: the model is built a second time and run. Exits with 1 where they differ."""
    from archcalc.verify.check import need_torch, workload_of
    from archcalc.verify.check import verify as checked

    if all:
        need_torch()
        raise typer.Exit(_verify_all(format))
    chosen = loaded(model, set)
    sizes = {"batch": batch, "seq": seq, "src_seq": src_seq, "tgt_seq": tgt_seq}
    work = workload_of(chosen, quick=quick and not any(sizes.values()), **sizes)
    with _progress() as progress:
        report = checked(chosen, work, quick=quick, scale_down=scale_down, progress=progress)
    show(report, format)
    if not report.ok:
        raise typer.Exit(DIFFERENT)


def _verify_all(format: str) -> int:
    from archcalc.verify.presets import verify_all

    with _progress() as progress:
        report = verify_all(progress)
    show(report, format)
    return 0 if report.ok else DIFFERENT


@contextmanager
def _progress() -> Iterator[Progress]:
    """A bar on standard error while it works, where a person is looking."""
    if not sys.stderr.isatty():
        yield lambda done, steps, label: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, steps, label: bar.update(task, completed=done, total=steps, description=label)
