"""A model's size and memory as a Markdown block, for its model card."""

from __future__ import annotations

from archcalc.cli.help import LOOK, Help
from archcalc.cli.options import Format, Like, ModelName, Set, Trace, loaded, show

EXAMPLES = {
    "card llama-3.1-8b": "a block for its model card",
    "card . >> README.md": "the model in this folder, for its README",
    "card gpt2 --set ffn=2048 --format json": "of a changed model, for a program",
}
HELP = Help(LOOK, EXAMPLES, place=6)


def card(
    model: ModelName = "textbook",
    *,
    set: Set = [],
    like: Like = None,
    format: Format = "markdown",
    trace: Trace = False,
) -> None:
    """A Markdown block for a model card: parameters, weights by format, the smallest usual card, context and KV cache,
    with the line that computed them."""
    from archcalc.analyze.card import card as block

    show(block(loaded(model, set, like=like, trace=trace), model), format)
