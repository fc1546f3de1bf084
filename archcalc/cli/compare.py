"""The command that lays models side by side."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from archcalc.cli.options import Batch, Depth, Format, Seq, Set, SrcSeq, TgtSeq, completed_preset, loaded, show
from archcalc.core.errors import InputError

if TYPE_CHECKING:
    from archcalc.model import Model

_CHANGES = re.compile(r":(?=[A-Za-z_][\w.]*=)")  # gpt2:heads=8, but neither C:\model.yaml nor {width: 512}
_NEXT = re.compile(r",(?=[A-Za-z_][\w.]*=)")

Models = Annotated[
    list[str],
    typer.Argument(
        metavar="MODEL",
        autocompletion=completed_preset,
        help="Presets, YAML files, or -. A colon changes fields of one model: gpt2:heads=8,ffn=2048.",
    ),
]
Metric = Annotated[
    str,
    typer.Option(
        "--metric",
        metavar="params|flops|memory",
        help="What to compare: parameters, FLOPs of a training step, or memory of inference.",
    ),
]


def compare(
    models: Models,
    set: Set = [],
    metric: Metric = "params",
    batch: Batch = None,
    seq: Seq = None,
    src_seq: SrcSeq = None,
    tgt_seq: TgtSeq = None,
    depth: Depth = None,
    format: Format = "table",
) -> None:
    """Two or more models side by side, part by part, with differences and ratios.

    --set changes every model; with a single model, it is compared with itself before the change. Parts that are equal
    in all models, or that only one model has, are not broken down further.
    """
    from archcalc.analyze.compare.answer import compare as compared
    from archcalc.analyze.params import USUAL_DEPTH

    notes = [f"{', '.join(set)} in every model"] if set and len(models) > 1 else []
    asked = {"batch": batch, "seq": seq, "src_seq": src_seq, "tgt_seq": tgt_seq}
    sizes = {name: size for name, size in asked.items() if size}
    if sizes and metric == "params":
        raise InputError("has no effect on parameter counts", "add --metric flops or memory", field=f"--{min(sizes)}")
    contenders = _contenders(models, set)
    show(compared(contenders, metric=metric, sizes=sizes, depth=depth or USUAL_DEPTH, notes=notes), format)


def _contenders(names: list[str], changes: list[str]) -> list[tuple[str, Model]]:
    """Each model with the label it goes by."""
    models = [_named(name, changes if len(names) > 1 else []) for name in names]
    labels = [model.name if name == "-" else name for name, model in zip(names, models, strict=True)]
    if len(names) > 1:
        return list(zip(labels, models, strict=True))
    if not changes:
        hint = f"name a second model, or a change: archcalc compare {names[0]} --set d_model=512"
        raise InputError("there is only one model to compare", hint)
    return [(labels[0], models[0]), _changed(names[0], labels[0], models[0], changes)]


def _changed(text: str, label: str, model: Model, changes: list[str]) -> tuple[str, Model]:
    """The same model, read once, with more changes."""
    from archcalc.model import from_document

    _, own = _split(text)
    return f"{label}{',' if own else ':'}{','.join(changes)}", from_document(model.document, label, (*own, *changes))


def _named(text: str, changes: list[str]) -> Model:
    """A model with its own changes, then those of all."""
    name, own = _split(text)
    try:
        return loaded(name, [*own, *changes])
    except InputError as error:
        change = error.file.removeprefix("--set ")
        if change in own:
            error.file = text
        elif change in changes:
            error.more = f"this is {text}; to change one model alone, write MODEL:{change}"
        raise


def _split(text: str) -> tuple[str, list[str]]:
    """`gpt2:heads=8,ffn=2048` is gpt2 with two changes."""
    from archcalc.loading import certainly

    if certainly(Path(text).exists):
        return text, []
    name, *changes = _CHANGES.split(text, maxsplit=1)
    return name, [change for all_of_them in changes for change in _NEXT.split(all_of_them)]
