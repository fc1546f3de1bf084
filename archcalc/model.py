"""A model: its spec, and the analyses of it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from archcalc.core.visible import UNSEEN
from archcalc.network import Network, noted
from archcalc.run.options import Options
from archcalc.spec.media import Media
from archcalc.spec.option_checks import checked

if TYPE_CHECKING:
    from archcalc.analyze.diagram.report import DiagramReport
    from archcalc.analyze.fit.report import FitReport
    from archcalc.analyze.flops.report import FlopsReport
    from archcalc.analyze.kernel.report import KernelReport
    from archcalc.analyze.memory.report import MemoryReport
    from archcalc.analyze.oom.report import OomReport
    from archcalc.analyze.overview import Overview
    from archcalc.analyze.params import ParamsReport
    from archcalc.analyze.plot.answer import ChartKeywords
    from archcalc.analyze.plot.report import PlotReport
    from archcalc.analyze.shapes import ShapesReport
    from archcalc.analyze.summary import SummaryReport
    from archcalc.analyze.walk.report import WalkReport
    from archcalc.report.of_verify import VerifyReport
    from archcalc.run.keywords import FitKeywords, FlopsKeywords, MemoryKeywords, OomKeywords, ParamsKeywords
    from archcalc.spec.model_spec import ModelSpec


@dataclass(frozen=True)
class Model(Network):
    """Made by `archcalc.load`: a network, with each question about it as a method."""

    def with_media(self, **media: Any) -> Model:
        """The same model with other images or more audio: `images=2, image_size="1024x768", audio_seconds=30`."""
        return self.fed(Media.of(media))

    @checked
    def params(
        self, *, depth: int | None = None, explain: bool = False, names: bool = False, **options: Unpack[ParamsKeywords]
    ) -> ParamsReport:
        """Parameter counts; options are those of `archcalc params`."""
        from archcalc.analyze.adapted import counted

        asked = Options.of("params", options, besides=("depth", "explain", "names"))
        return counted(self, asked, depth=depth, explain=explain, names=names)

    @checked
    def shapes(
        self,
        *,
        batch: int | None = None,
        seq: int | None = None,
        src_seq: int | None = None,
        tgt_seq: int | None = None,
        symbolic: bool = False,
        parameters: bool = False,
        explain: bool = False,
        depth: int | None = None,
    ) -> ShapesReport:
        from archcalc.analyze.shapes import shapes

        self.check_computation("shapes")
        work = self.workload(batch=batch, seq=seq, src_seq=src_seq, tgt_seq=tgt_seq)
        root = self.build(work)
        return shapes(
            root,
            work,
            model=self.name,
            scope=self.scope,
            symbolic=symbolic,
            parameters=parameters,
            explain=explain,
            depth=depth,
        )

    @checked
    def summary(
        self,
        *,
        batch: int | None = None,
        seq: int | None = None,
        src_seq: int | None = None,
        tgt_seq: int | None = None,
        depth: int | None = None,
    ) -> SummaryReport:
        """Layer, output shape, parameters and FLOPs side by side."""
        from archcalc.analyze.summary import summary

        self.check_computation("a summary")
        work = self.workload(batch=batch, seq=seq, src_seq=src_seq, tgt_seq=tgt_seq)
        return summary(self.build(work), work, model=self.name, scope=self.scope, depth=depth)

    @checked
    def diagram(
        self,
        *,
        batch: int | None = None,
        seq: int | None = None,
        src_seq: int | None = None,
        tgt_seq: int | None = None,
        symbolic: bool = False,
        depth: int | None = None,
        fold: bool = True,
        landscape: bool = False,
    ) -> DiagramReport:
        """The graph of a picture; `depth` levels of modules are opened."""
        from archcalc.analyze.diagram.report import diagram

        self.check_computation("a diagram")
        work = self.workload(batch=batch, seq=seq, src_seq=src_seq, tgt_seq=tgt_seq)
        return diagram(
            self.build(work),
            work,
            model=self.name,
            scope=self.scope,
            symbolic=symbolic,
            depth=depth,
            fold=fold,
            landscape=landscape,
        )

    @checked
    def walk(
        self,
        *,
        step: str | None = None,
        batch: int | None = None,
        seq: int | None = None,
        src_seq: int | None = None,
        tgt_seq: int | None = None,
        symbolic: bool = False,
    ) -> WalkReport:
        """What becomes of the input, step by step; of a `step`, by its number or path, that one with its working."""
        from archcalc.analyze.walk.answer import walked

        self.check_computation("a walk")
        work = self.workload(batch=batch, seq=seq, src_seq=src_seq, tgt_seq=tgt_seq)
        return walked(self, work, step=step, symbolic=symbolic)

    @checked
    def flops(
        self, *, depth: int = 4, explain: bool = False, names: bool = False, **options: Unpack[FlopsKeywords]
    ) -> FlopsReport:
        """FLOPs and bytes moved on each GPU; options are those of `archcalc flops`."""
        from archcalc.analyze.flops.answer import flops

        asked = Options.of("flops", options, besides=("depth", "explain", "names"))
        return flops(self, asked, depth=depth, explain=explain, names=names)

    @checked
    def memory(
        self, *, depth: int | None = None, timeline: bool = False, **options: Unpack[MemoryKeywords]
    ) -> MemoryReport:
        """Memory on each GPU; options are those of `archcalc memory`."""
        from archcalc.analyze.memory.answer import memory

        asked = Options.of("memory", options, besides=("depth", "timeline"))
        return memory(self, asked, depth=depth, timeline=timeline)

    def fit(self, gpus: Sequence[str] | str | None = None, **options: Unpack[FitKeywords]) -> FitReport:
        """Whether it fits on these devices, by default on ten common ones; options are those of `archcalc fit`."""
        from archcalc.analyze.fit.answer import fit

        return fit(self, gpus, **options)

    @checked
    def verify(
        self,
        *,
        batch: int | None = None,
        seq: int | None = None,
        src_seq: int | None = None,
        tgt_seq: int | None = None,
        quick: bool = False,
        scale_down: bool = False,
    ) -> VerifyReport:
        """Every number compared with PyTorch, which is needed for it: `ok` says whether all of them are equal."""
        sizes = {"batch": batch, "seq": seq, "src_seq": src_seq, "tgt_seq": tgt_seq}
        answer = importlib.import_module("archcalc.verify.answer")  # by its name: it stands above models
        report: VerifyReport = answer.verified(self, sizes, quick=quick, scale_down=scale_down)
        return report

    @checked
    def oom(self, text: str, **options: Unpack[OomKeywords]) -> OomReport:
        """A log with an out-of-memory message or of an engine's start, against this model; options are those of
        `archcalc oom`."""
        from archcalc.analyze.oom.answer import explained
        from archcalc.analyze.oom.reading import read

        return explained(self, read(text), options)

    def plot(self, x: str | Mapping[str, Any], **asked: Unpack[ChartKeywords]) -> PlotReport:
        """Curves over an option or a field of the spec: `archcalc.plot` of this model alone."""
        from archcalc.analyze.plot.answer import plot

        return plot(self, x, **asked)

    @checked
    def report(self, *, gpus: Sequence[str] | str | None = None, **options: Unpack[FitKeywords]) -> Overview:
        """All of it at once, to look at: `.html()` is one file. Options are those of `archcalc report`."""
        from archcalc.analyze.overview import overview

        return overview(self, gpus, options)

    @checked
    def kernel(self, *, seq: int | None = None, v_dim: int | None = None) -> KernelReport:
        """Softmax against kernel attention; `v_dim` gives the values of every attention another width."""
        from archcalc.analyze.kernel.answer import kernel

        work = self.workload(seq=seq)
        return kernel(self.resolved, work, title=self.name, precision=self.spec.precision, v_dim=v_dim)

    def yaml(self) -> str:
        """The spec as written; or regenerated YAML, if it was changed or contains characters that cannot be shown."""
        written = self.document.text.replace("\r\n", "\n")
        if written and not self.edited and not UNSEEN.search(written.replace("\n", "").replace("\t", "")):
            return written
        from archcalc.spec.yaml_writer import to_yaml

        return to_yaml(self._spec_for_files, order=self.document.data, comments=self.document.file_notes)

    def resolved_yaml(self) -> str:
        """The spec with every default filled in, each marked as such."""
        from archcalc.spec.filled import filled_yaml

        return filled_yaml(self._spec_for_files, self.defaults)

    @property
    def _spec_for_files(self) -> ModelSpec:
        """With a note if the bytes of the file's tensors differ from those computed by the spec."""
        if self.document.weights is None or self.edited:
            return self.spec
        from archcalc.analyze.memory.deployment import deploy

        by_rule, asked = replace(self, edited=True), Options.of("memory", {})
        file = deploy(self, asked).parameters.weights
        if by_rule.stored and by_rule.stored.unknown:
            told = f"weights: the file that the spec was read from has {file:,} bytes of tensors"
            return noted(self.spec, (told,))
        rule = deploy(by_rule, asked).parameters.weights
        if file == rule:
            return self.spec
        told = f"weights: {rule:,} bytes by the spec; the file that it was read from has {file:,} bytes of tensors"
        return noted(self.spec, (told,))
