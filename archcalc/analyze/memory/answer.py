"""Peak memory of a model on each GPU, by part and by layer.

    Memory(model, mode="train", optimizer="adamw").at(batch=8, seq=4096).total_bytes

`Memory` checks the options once and is cheap to ask at many sizes; `total` gives the number alone.
"""

from __future__ import annotations

from typing import Unpack

from archcalc.analyze.memory import peak as peaks
from archcalc.analyze.memory.decode_cache import Cached
from archcalc.analyze.memory.deployment import MODES as MODES
from archcalc.analyze.memory.deployment import Deployment, deploy
from archcalc.analyze.memory.offloading import Offloading
from archcalc.analyze.memory.profile import Instant, Simulated
from archcalc.analyze.memory.report import EVERY_DEPTH, USUAL_DEPTH, MemoryReport
from archcalc.analyze.memory.reporting import report
from archcalc.analyze.memory.states import ParameterMemory
from archcalc.analyze.option_checks import check_sizes
from archcalc.network import Network
from archcalc.run.keywords import MemoryKeywords
from archcalc.run.options import Options
from archcalc.run.pipeline import Stage
from archcalc.run.resolved import Run
from archcalc.spec.option_checks import checked
from archcalc.spec.sizes import Sizes


class Memory:
    """The memory of a model under one set of options, at any batch and length."""

    def __init__(
        self,
        model: Network,
        options: Options | None = None,
        stage: Stage | None = None,
        **keywords: Unpack[MemoryKeywords],
    ) -> None:
        self.model, self.options = model, options or Options.of("memory", keywords)
        self.deployment: Deployment = deploy(model, self.options, stage)

    @checked()
    def at(
        self,
        batch: int | None = None,
        seq: int | None = None,
        *,
        src_seq: int | None = None,
        tgt_seq: int | None = None,
        context: int | None = None,
        depth: int | None = None,
        timeline: bool = False,
    ) -> MemoryReport:
        """The full report; sizes not given come from the spec. `depth` and `timeline` choose what is shown."""
        sizes = Sizes(batch, seq, src_seq, tgt_seq, context)
        return report(self.deployment, sizes, depth=depth, timeline=timeline)

    @checked()
    def total(
        self,
        batch: int | None = None,
        seq: int | None = None,
        *,
        src_seq: int | None = None,
        tgt_seq: int | None = None,
        context: int | None = None,
    ) -> int:
        """The bytes alone."""
        return peaks.peak(self.deployment, Sizes(batch, seq, src_seq, tgt_seq, context)).bytes

    # Asked by analyses of many sizes

    def report(self, sizes: Sizes, *, depth: int | None = None, timeline: bool = False) -> MemoryReport:
        return report(self.deployment, sizes, depth=depth, timeline=timeline)

    def peak_bytes(self, sizes: Sizes) -> int:
        return peaks.peak(self.deployment, sizes).bytes

    def required_bytes(self, sizes: Sizes) -> int:
        return peaks.peak(self.deployment, sizes).required

    def host_bytes(self, sizes: Sizes) -> int:
        found = peaks.Peak(self.deployment, sizes, self.deployment.workload(sizes)).host
        return found.bytes if found else 0

    def peak_at(self, sizes: Sizes) -> Instant:
        check_sizes(self.deployment.workload(sizes), self.options)
        return peaks.peak(self.deployment, sizes).instant

    def simulated(self, sizes: Sizes) -> Simulated:
        return peaks.played(self.deployment, sizes).step

    def check(self, sizes: Sizes) -> None:
        peaks.check(self.deployment, sizes)

    def cached(self, sizes: Sizes) -> list[Cached]:
        deployment = self.deployment
        return deployment.offloading.on_gpu(peaks.cached(deployment, deployment.workload(sizes), deployment.run))

    @property
    def run(self) -> Run:
        return self.deployment.run

    @property
    def least_bytes(self) -> int:
        return self.deployment.least_bytes

    @property
    def offloading(self) -> Offloading:
        return self.deployment.offloading

    @property
    def parameters(self) -> ParameterMemory:
        return self.deployment.parameters


def memory(model: Network, options: Options, *, depth: int | None = None, timeline: bool = False) -> MemoryReport:
    """One answer; `Memory` is for many. A model without a sequence is shown down to its layers."""
    from archcalc.analyze.placement import on_named_device

    depth = depth or (USUAL_DEPTH if model.resolved.lengths else EVERY_DEPTH)
    return report(deploy(model, on_named_device(model, options)), options.sizes, depth=depth, timeline=timeline)
