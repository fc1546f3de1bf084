"""FLOPs and bytes moved: a training step, prefill or decode."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from archcalc.cli.declared import takes_options
from archcalc.cli.help import COUNT, OUTPUT, Help
from archcalc.cli.options import Depth, Expect, Format, Like, ModelName, Notes, Set, check_names, loaded, show
from archcalc.run.commands import FLOPS
from archcalc.run.options import Options

EXAMPLES = {
    "flops gpt2 --batch 8": "what does a training step compute?",
    "flops llama-3.1-8b --mode decode --context 8k": "what does one more token cost?",
    "flops llama-3.1-8b --tokens 15T": "what did its training take, beside 6ND?",
}
HELP = Help(COUNT, EXAMPLES, place=4)


@takes_options
def flops(
    model: ModelName = "textbook",
    *,
    options: Annotated[Options, FLOPS],
    set: Set = [],
    like: Like = None,
    explain: Annotated[bool, OUTPUT.option("--explain", help="Show how each number is worked out.")] = False,
    names: Annotated[
        bool,
        OUTPUT.rest.option("--names", help="With --explain: names of dims instead of numbers."),
    ] = False,
    depth: Depth = None,
    format: Format = "table",
    notes: Notes = False,
    expect: Expect = None,
) -> None:
    """FLOPs and bytes moved on each GPU: forward, backward, recomputed, layer by layer and by kind of work."""
    check_names(names, explain, format)
    from archcalc.analyze.flops.answer import flops as counted

    chosen = loaded(model, set, like=like)
    report = counted(chosen, options, explain=explain, names=names, depth=depth or 4)
    if expect is not None:
        from archcalc.exercises.expect.of_flops import expect_flops

        report = replace(report, expected=expect_flops(chosen, report, expect))
    show(report, format, notes=notes)
