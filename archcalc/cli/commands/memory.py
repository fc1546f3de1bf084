"""Peak memory of each GPU, in inference or training."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from archcalc.cli.declared import takes_options
from archcalc.cli.help import COUNT, OUTPUT, Help
from archcalc.cli.options import Depth, Expect, Format, Like, ModelName, Notes, Set, Trace, loaded, show
from archcalc.run.commands import MEMORY
from archcalc.run.options import Options

EXAMPLES = {
    "memory llama-3.1-8b --context 32k": "what does it need to run, with its KV cache?",
    "memory llama-3.1-8b --mode train --lora 16": "what does fine-tuning with LoRA need?",
    "memory gpt2 --mode train --timeline": "when in the step is the peak?",
}
HELP = Help(COUNT, EXAMPLES, place=5)


@takes_options
def memory(
    model: ModelName = "textbook",
    *,
    options: Annotated[Options, MEMORY],
    timeline: Annotated[
        bool, OUTPUT.option("--timeline", help="Draw memory over the step, instead of layers.")
    ] = False,
    set: Set = [],
    like: Like = None,
    depth: Depth = None,
    format: Format = "table",
    notes: Notes = False,
    trace: Trace = False,
    expect: Expect = None,
) -> None:
    """Memory on each GPU, for inference or training: by part at the peak, and layer by layer."""
    from archcalc.analyze.memory.answer import memory as counted

    chosen = loaded(model, set, like=like, trace=trace)
    report = counted(chosen, options, timeline=timeline, depth=depth)
    _ = report.marginals  # worked out here, so that rendering only writes
    if expect is not None:
        from archcalc.exercises.expect.of_memory import expect_memory

        expected = expect_memory(chosen, report, expect, lambda other: counted(other, options))
        report = replace(report, expected=expected)
    show(report, format, notes=notes)
