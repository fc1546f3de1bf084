"""A model on one screen: `archcalc MODEL` for short."""

from __future__ import annotations

from archcalc.cli.help import COUNT, Help
from archcalc.cli.options import Format, Like, ModelName, Notes, Set, Trace, loaded, show

EXAMPLES = {
    "gpt2": "what is it, how large, and which card runs it?",
    "llama-3.1-8b --set decoder.blocks=16": "and with half of its layers?",
    "./config.json": "a model of Hugging Face, by its config",
}
HELP = Help(COUNT, EXAMPLES, place=0)


def about(
    model: ModelName = "textbook",
    *,
    set: Set = [],
    like: Like = None,
    format: Format = "table",
    notes: Notes = False,
    trace: Trace = False,
) -> None:
    """A model on one screen: parameters, the smallest usual card for inference and in which format, what fine-tuning
    takes, context and KV cache. `archcalc MODEL` is short for it."""
    from archcalc.analyze.glance import glance

    show(glance(loaded(model, set, like=like, trace=trace), model), format, notes=notes)
