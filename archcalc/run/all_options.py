"""Every option of a run in one class, without what is asked of them: what a file of a training code may set."""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.run.common_options import CommonOptions
from archcalc.run.extra_options import ExtraOptions
from archcalc.run.inference_options import InferenceOptions
from archcalc.run.offload_options import OffloadOptions
from archcalc.run.parallel_options import ParallelOptions
from archcalc.run.serving_options import ServingOptions
from archcalc.run.training_options import TrainingOptions


@dataclass(frozen=True)
class AllOptions(
    OffloadOptions, ExtraOptions, ParallelOptions, ServingOptions, InferenceOptions, TrainingOptions, CommonOptions
):
    """None if not given. Help lists them in the order of the bases, from the last one on."""
