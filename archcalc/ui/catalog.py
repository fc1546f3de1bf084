"""What a page can choose from: presets, devices and settings; and the schema that completion in the editor reads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from archcalc.analyze.diagram.graph import PartKind
from archcalc.archs import families
from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.visible import visible
from archcalc.loading import DEFAULT, from_file
from archcalc.render.chart.drawing import CLASS
from archcalc.render.chart.icicle import inks as part_inks
from archcalc.render.chart.walk import INKS as WALK_INKS
from archcalc.render.diagram.svg import style as diagram_style
from archcalc.render.inks import BAD, FAIR, GOOD, INK, MARGINS, MUTED, PAGE, PANEL, RULE, SERIES, rules
from archcalc.run.device import catalog, usual
from archcalc.run.options import options_of
from archcalc.spec import paths
from archcalc.spec.option import Option, flag_of
from archcalc.spec.option_checks import Check, flag, memory_size, number, size
from archcalc.spec.units import binary_bytes, rounded
from archcalc.ui.choices import known
from archcalc.ui.reading import Answer, Question
from archcalc.ui.settings import SIZES, setting_of
from archcalc.version import __version__

KINDS: dict[Check, str] = {flag: "flag", size: "size", number: "size", memory_size: "bytes"}  # of a field, by its check
GPU = "gpu"  # which every question takes as a list, and the page has a field of its own for
PARTS = (ink for kind in PartKind for ink in part_inks(kind))
INKS = (*SERIES, *MARGINS, INK, MUTED, PAGE, PANEL, RULE, GOOD, FAIR, BAD, *WALK_INKS, *PARTS)
# The question that takes the options of a command.
APPLIES = {"flops": "exact", "memory": "memory", "fit": "fit", "plot": "plot", "report": "report"}


def catalog_answer(question: Question) -> Answer:
    settings = {name: one for command in ("fit", *APPLIES) for name, one in options_of(command)}  # in the order of help
    return {
        "version": __version__,
        "presets": grouped(filter(None, map(_preset, paths.presets()))),
        "gpus": [*map(_usual_gpu, usual()), *grouped(_gpu(name) for name in catalog() if name not in usual())],
        "usual_gpus": usual(),
        "settings": [_setting(name, one) for name, one in settings.items() if name != GPU],
        "default": DEFAULT,
        "style": f"{rules(INKS, CLASS)} {diagram_style()}",
    }


def grouped(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The largest groups first; in each by name, 7b before 13b."""
    listed = [*entries]
    sizes = Counter(one["group"] for one in listed)
    return sorted(listed, key=lambda one: (-sizes[one["group"]], one["group"], _natural(one["name"])))


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", name)]


def _gpu(name: str) -> dict[str, Any]:
    device = catalog()[name]
    group = visible(" ".join(word for word in (device.maker, device.kind) if word))
    memory = binary_bytes(device.capacity)
    return {"name": visible(name), "title": visible(device.name), "memory": memory, "group": group}


def _usual_gpu(name: str) -> dict[str, Any]:
    return {**_gpu(name), "group": "common devices"}


def _preset(name: str) -> dict[str, Any] | None:
    """Without counting it, which would take seconds for all. The published count is that of archcalc, by test."""
    try:
        model = from_file(paths.plain(paths.presets()[name]))
    except (InputError, OSError):
        return None
    count = model.spec.published.parameters if model.spec.published else None
    exact, short = (f"{count:,}", rounded(count)) if isinstance(count, int) else (None, None)
    title = visible(model.spec.name or name)
    shown = {"name": visible(name), "title": title, "parameters": exact, "short": short}
    return {**shown, "group": model.kind, "type": model.model_type}


def _setting(name: str, one: Option) -> dict[str, Any]:
    taken = [shown for command, shown in APPLIES.items() if name in dict(options_of(command))]
    taken += ["compare"] if name in SIZES else []
    group = "any"  # by the modes in which it has an effect
    if one.modes:
        group = "training" if "train" in one.modes else "inference"
    kind = "choice" if one.choices else KINDS.get(one.check, "text")
    return {
        "name": setting_of(name),
        "label": flag_of(name),
        "help": one.help,
        "kind": kind,
        "choices": list(one.choices),
        "known": known(name, one),
        "metavar": one.metavar,
        "placeholder": one.unset,
        "group": group,
        "applies": taken,
        "modes": list(one.modes),
    }


def schema_answer(question: Question) -> Answer:
    """Of one family of specs, with what it refers to."""
    from archcalc.json_schema import schema

    family = question.text("family", "transformer")
    if family not in families():
        raise InputError(f"no family is called {family}", did_you_mean(family, families()), field="family")
    whole = schema()
    kept = {name: one for name, one in whole["$defs"].items() if name == family or name.startswith(f"{family}.")}
    return {"schema": {**kept.pop(family), "$defs": kept}, "families": list(families())}
