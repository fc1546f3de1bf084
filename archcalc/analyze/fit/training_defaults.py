"""What is trained in when the spec says fp32: presets of older models do, since they were published so.

On devices that have bf16, people train them in mixed precision with flash attention, and so does `fit` if `--gpu` names
such devices and --precision is not given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.run.device import DeviceGroup
from archcalc.run.options import Options

if TYPE_CHECKING:
    from archcalc.model import Model

WIDE = (None, "fp32")
USUAL = "mixed"


def with_usual_precision(
    model: Model, options: Options, groups: Iterable[DeviceGroup]
) -> tuple[Options, tuple[Assumption, ...]]:
    """The options, and what was assumed for them."""
    devices = [one for group in groups for _, one in group.each]
    asked = options.trains and not options.precision and model.spec.precision in WIDE
    if not asked or not devices or not all(one.peak.bf16 for one in devices):
        return options, ()
    try:
        narrower = replace(options, precision=USUAL)
        narrower.check()
    except InputError:
        return options, ()
    spec = f"the spec says {model.spec.precision}" if model.spec.precision else "the spec names none"
    text = f"training in mixed precision with flash attention: {spec}, and every device here has bf16"
    return narrower, (Assumption(Topic.PRECISION, text, USUAL, "--precision"),)
