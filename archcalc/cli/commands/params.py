"""Parameter counts, layer by layer."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from archcalc.cli.declared import takes_options
from archcalc.cli.help import COUNT, OUTPUT, Help
from archcalc.cli.options import (
    Batch,
    Depth,
    Expect,
    Format,
    Like,
    ModelName,
    Notes,
    Seq,
    Set,
    SrcSeq,
    TgtSeq,
    Trace,
    check_names,
    loaded,
    show,
)
from archcalc.run.commands import PARAMS
from archcalc.run.options import Options

EXAMPLES = {
    "params llama-3.1-8b": "how many parameters, and where are they?",
    "params textbook --explain": "how is each number worked out?",
    "params llama-3.1-8b --lora 16": "how many of them does LoRA train?",
}
HELP = Help(COUNT, EXAMPLES, place=1)


@takes_options
def params(
    model: ModelName = "textbook",
    *,
    options: Annotated[Options, PARAMS],
    set: Set = [],
    like: Like = None,
    explain: Annotated[
        bool,
        OUTPUT.option(
            "--explain",
            help="Show how each number is worked out, and the equations of recurrent layers.",
        ),
    ] = False,
    names: Annotated[
        bool,
        OUTPUT.rest.option("--names", help="With --explain: names of dims instead of numbers."),
    ] = False,
    depth: Depth = None,
    format: Format = "table",
    notes: Notes = False,
    batch: Batch = None,
    seq: Seq = None,
    src_seq: SrcSeq = None,
    tgt_seq: TgtSeq = None,
    trace: Trace = False,
    expect: Expect = None,
) -> None:
    """Parameter counts, layer by layer; with LoRA or frozen layers also which of them are trained."""
    check_names(names, explain, format)
    chosen = loaded(model, set, like=like, trace=trace)
    if batch or seq or src_seq or tgt_seq:  # which change nothing, but may be refused
        chosen.workload(batch=batch, seq=seq, src_seq=src_seq, tgt_seq=tgt_seq)
    from archcalc.analyze.adapted import counted

    report = counted(chosen, options, explain=explain, names=names, depth=depth)
    if expect is not None:
        from archcalc.exercises.expect.of_params import expect_params

        report = replace(report, expected=expect_params(chosen, report, expect))
    show(report, format, notes=notes)
