"""What `archcalc verify` answers of one model: by archcalc's own reference, and by transformers where that has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.model import Model
from archcalc.report.of_verify import VerifyReport
from archcalc.spec.workload import Workload
from archcalc.verify.check import Progress, need_torch, verify
from archcalc.verify.lengths import workload_of
from archcalc.verify.small import with_small_images

PEAK_SEQ = 128  # positions of a step that is compared tensor by tensor


def silent(done: int, steps: int, label: str) -> None:
    """Nobody watches."""


def verified(
    model: Model,
    sizes: Mapping[str, int | None],
    *,
    quick: bool = False,
    scale_down: bool = False,
    progress: Progress = silent,
) -> VerifyReport:
    """Every number; sizes are batch and lengths."""
    need_torch()
    model = with_small_images(model) if quick else model
    work = workload_of(model, quick=quick and not any(sizes.values()), **sizes)
    report = _compared(model, work, quick=quick, scale_down=scale_down, progress=progress)
    return replace(report, scope=model.scope, assumptions=(*report.assumptions, *_left_out(model)))


def peak_verified(
    model: Model, sizes: Mapping[str, int | None], said: dict[str, Any], progress: Progress = silent
) -> VerifyReport:
    """A training step's memory; `said` are precision, attention, recompute, optimizer and lora."""
    need_torch()
    from archcalc.verify.hf.peak import asked_ways, verify_peak

    return verify_peak(model, asked_ways(said), sizes["batch"] or 1, sizes["seq"] or PEAK_SEQ, progress)


def _compared(model: Model, work: Workload, *, quick: bool, scale_down: bool, progress: Progress) -> VerifyReport:
    """Compare a config with transformers as well, unless --set or --scale-down changed the model."""
    if model.document.config and not (model.edited or scale_down):
        from archcalc.verify.hf.rows import verify_config

        return verify_config(model, work, quick=quick, progress=progress)
    report = verify(model, work, quick=quick, scale_down=scale_down, progress=progress)
    if not model.document.config:
        return report
    asked = "--set changed" if model.edited else "--scale-down shrank"
    return replace(report, left_out={"transformers": f"transformers builds the model of config.json, which {asked}"})


def _left_out(model: Model) -> tuple[Assumption, ...]:
    """What a partly imported model lacks of the whole that transformers builds, in both numbers; else nothing."""
    if not model.document.whole or model.edited:
        return ()
    from archcalc.importers import trace

    try:
        traced = trace.document(model.document.whole, model.document.file, "a part of it alone")
    except InputError as reason:
        return (Assumption(Topic.SCOPE, f"the number of parameters not counted is unknown: {reason.fact}"),)
    whole, counted = int(Model.from_document(traced, "whole").params().total), int(model.params().total)
    text = f"transformers builds {whole:,} parameters in all: {whole - counted:,} are left out here"
    return (Assumption(Topic.SCOPE, text, whole - counted),)
