"""Two or more models side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from archcalc.cli.declared import takes_options
from archcalc.cli.help import LOOK, Help
from archcalc.cli.options import Depth, Format, Like, Models, Notes, Set, labelled, show, split
from archcalc.core.errors import InputError
from archcalc.run.commands import COMPARE

if TYPE_CHECKING:
    from archcalc.model import Model

EXAMPLES = {
    "compare gpt2 gpt2-medium": "which parts differ, and by how much?",
    "compare gpt2 --set decoder.blocks=24": "what does a change of the model do?",
    "compare llama-3.1-8b qwen3-8b --metric memory": "which one needs less memory?",
}
HELP = Help(LOOK, EXAMPLES, place=4)

Metric = Annotated[
    str,
    typer.Option(
        "--metric",
        metavar="params|flops|memory",
        help="What to compare: parameters, FLOPs (of a training step, or with --mode forward) or memory.",
    ),
]


@takes_options
def compare(
    models: Models,
    *,
    set: Set = [],
    like: Like = None,
    metric: Metric = "params",
    options: Annotated[dict[str, Any], COMPARE],
    depth: Depth = None,
    format: Format = "table",
    notes: Notes = False,
) -> None:
    """Two or more models side by side, part by part, with differences and ratios.

    --set changes every model; with a single model, it is compared with itself before the change. Parts that are equal
    in all models, or that only one model has, are not broken down further. Options are those of the metric's own
    command, and so are the answers.
    """
    from archcalc.analyze.compare.answer import compare as compared
    from archcalc.analyze.params import USUAL_DEPTH

    shared = [f"{', '.join(set)} in every model"] if set and len(models) > 1 else []
    contenders = _contenders(models, set, like)
    report = compared(contenders, metric=metric, depth=depth or USUAL_DEPTH, notes=shared, **options)
    show(report, format, notes=notes)


def _contenders(names: list[str], changes: list[str], like: str | None) -> list[tuple[str, Model]]:
    """Each model with the label it goes by."""
    models = labelled(names, changes if len(names) > 1 else [], like=like)
    if len(names) > 1:
        return models
    if not changes:
        hint = f"name a second model, or a change: archcalc compare {names[0]} --set d_model=512"
        raise InputError("there is only one model to compare", hint)
    label, model = models[0]
    _, own = split(names[0])
    return [*models, (f"{label}{',' if own else ':'}{','.join(changes)}", model.changed(*changes))]
