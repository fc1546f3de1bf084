"""Compare every number with PyTorch."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from archcalc.cli.help import LEARN, Help
from archcalc.cli.options import Batch, Format, Like, ModelName, Notes, Seq, Set, SrcSeq, TgtSeq, loaded, show
from archcalc.core.visible import visible

if TYPE_CHECKING:
    from archcalc.verify.check import Progress

EXAMPLES = {
    "verify gpt2 --quick": "does PyTorch count the same?",
    "verify llama-3.1-8b --scale-down": "a model that is too large to build",
    "verify gpt2 --seq 64 --format json": "every number, beside that of PyTorch",
}
HELP = Help(LEARN, EXAMPLES, place=5)


def verify(
    model: ModelName = "textbook",
    batch: Batch = None,
    seq: Seq = None,
    src_seq: SrcSeq = None,
    tgt_seq: TgtSeq = None,
    set: Set = [],
    like: Like = None,
    scale_down: Annotated[
        bool, typer.Option("--scale-down", help="Compare a small model of the same structure.")
    ] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Compare parameters in full, everything else on one repetition of each stack."),
    ] = False,
    all: Annotated[bool, typer.Option("--all", help="Compare every preset as with --quick, one line each.")] = False,
    peak: Annotated[
        bool,
        typer.Option("--peak", help="Compare a training step's memory with the model's class in transformers."),
    ] = False,
    precision: Annotated[str | None, typer.Option(help="With --peak: bf16 or fp32.", metavar="NAME")] = None,
    attention: Annotated[str | None, typer.Option(help="With --peak: eager or flash.", metavar="NAME")] = None,
    recompute: Annotated[str | None, typer.Option(help="With --peak: none or full.", metavar="NAME")] = None,
    optimizer: Annotated[
        str | None,
        typer.Option(help="With --peak: adamw, adamw-fused, adamw-for-loop or sgd.", metavar="NAME"),
    ] = None,
    lora: Annotated[int | None, typer.Option(help="With --peak: the rank of peft's adapters.", metavar="RANK")] = None,
    format: Format = "table",
    notes: Notes = False,
) -> None:
    """Build the model again in plain PyTorch, run it, and compare every number. Exits with 1 if any differs.

    A Hugging Face config is compared with its class in transformers as well.
    """
    if all:
        from archcalc.verify.check import need_torch
        from archcalc.verify.presets import verify_all

        need_torch()
        with _progress() as progress:
            every = verify_all(progress)
        return show(every, format, failed=not every.ok, notes=notes)
    from archcalc.verify.answer import peak_verified, verified

    chosen = loaded(model, set, like=like)
    sizes = {"batch": batch, "seq": seq, "src_seq": src_seq, "tgt_seq": tgt_seq}
    said: dict[str, Any] = {"precision": precision, "attention": attention, "recompute": recompute}
    said |= {"optimizer": optimizer, "lora": lora}
    with _progress() as progress:
        if peak or any(said.values()):
            report = peak_verified(chosen, sizes, said, progress)
        else:
            report = verified(chosen, sizes, quick=quick, scale_down=scale_down, progress=progress)
    return show(report, format, failed=not report.ok, notes=notes)


@contextmanager
def _progress() -> Iterator[Progress]:
    """A progress bar on standard error, if that is a terminal."""
    if not (sys.stderr and sys.stderr.isatty()):
        yield lambda done, steps, label: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = BarColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, steps, label: bar.update(task, completed=done, total=steps, description=visible(label))
