"""The run of every preset in every mode, without a device and on some: `python tools/runs.py > tests/golden/runs.txt`.

A line for each, as the first line of an answer has it. The same line heads flops, memory, fit and report.
"""

from __future__ import annotations

from collections.abc import Iterator

from archcalc.analyze.memory.deployment import MODES
from archcalc.analyze.placement import on_named_device
from archcalc.core.errors import InputError
from archcalc.loading import from_file
from archcalc.model import Model
from archcalc.run.choice import run_line
from archcalc.run.options import Options
from archcalc.run.resolve import resolve
from archcalc.run.shown import shown_choices, size_choices
from archcalc.spec import paths

ASKED = {  # modes, and the devices that each is asked for on
    "train": ("", "h100", "v100-32gb"),
    "infer": ("", "h100", "rtx-4090", "gtx-1080-ti", "m4-max-64gb", "mi300x"),
    "decode": ("",),
}


def runs(name: str) -> Iterator[str]:
    """Of one preset."""
    model = from_file(paths.presets()[name])
    for mode, devices in ASKED.items():
        yield from (f"{name} | {mode} | {device or '–'} | {_line(model, mode, device)}" for device in devices)


def _line(model: Model, mode: str, device: str) -> str:
    """Or why there is none."""
    given = {"mode": mode, **({"gpu": device} if device else {})}
    try:
        options = on_named_device(model, Options.of("memory", given))
        run, work = resolve(model, options), model.workload(mode=MODES[mode])
        choices = shown_choices(run, model, model.build(model.workload(attention="flash")))
        return run_line((), (*size_choices(work, run.said), *choices), run.cards)
    except InputError as refused:
        return f"refused: {refused.fact}"


if __name__ == "__main__":
    for preset in sorted(paths.presets()):
        print("\n".join(runs(preset)))
