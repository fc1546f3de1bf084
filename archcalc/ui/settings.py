"""Settings of the page as options of a command: the same names, values as people type them, the same errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.device import group
from archcalc.run.options import Options, options_of
from archcalc.spec.option import Option, declared, flag_of
from archcalc.spec.option_checks import flag
from archcalc.spec.sizes import Sizes
from archcalc.ui.reading import LONGEST, Question

YES = "true"  # how a page writes that a flag is set
SIZES = {name: one for name, one in declared(Sizes) if not one.modes}  # that every question takes


def options(command: str, settings: Mapping[str, Any]) -> Options:
    """The options of flops, memory or fit."""
    return Options.of(command, values(command, settings))


def values(command: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The options as they are typed, for questions that check them one mode or one value at a time."""
    return dict(_given(settings, dict(options_of(command))))


def on_card(question: Question) -> dict[str, Any]:
    """The settings of a question about memory: on the GPU where a single one was chosen, as its verdict is. Among
    unequal ones `fit` divides a model by their memory, which `memory` does not."""
    gpus = question.texts("gpus")
    chosen = {"gpu": gpus[0]} if len(gpus) == 1 and group(gpus[0]).is_uniform else {}
    return {**question.settings, **chosen}


def sizes(settings: Mapping[str, Any]) -> dict[str, int]:
    """Batch and lengths alone, for questions that take nothing else."""
    return {name: SIZES[name].read(value, flag_of(name)) for name, value in _given(settings, SIZES)}


def setting_of(name: str) -> str:
    """An option as the page calls it: `kv-dtype`."""
    return flag_of(name).removeprefix("--")


def _given(settings: Mapping[str, Any], known: Mapping[str, Option]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for written, value in settings.items():
        name = written.replace("-", "_")
        if name not in known:
            flags = [setting_of(one) for one in known]
            raise InputError("no such option here", did_you_mean(written, flags), field=flag_of(written))
        if known[name].check is flag:
            found.append((name, value is True or value == YES))
        elif not isinstance(value, str) or len(value) > LONGEST:
            raise InputError("expected a text", field=flag_of(written))
        else:
            found.append((name, value.strip()))
    return found
