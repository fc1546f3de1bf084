"""A model: its spec, and the analyses of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from archcalc.archs import families, family_module
from archcalc.core.assumptions import Topic, all_on
from archcalc.core.errors import InputError
from archcalc.core.ir import Module
from archcalc.core.visible import SURROGATES, UNSEEN, escaped
from archcalc.run.keywords import ChartKeywords, FitKeywords, FlopsKeywords, MemoryKeywords, ParamsKeywords
from archcalc.run.options import Options
from archcalc.run.traces import Change, Traces
from archcalc.spec.defaults import Default, assumed
from archcalc.spec.gathering import gathering
from archcalc.spec.node import ModelSpec
from archcalc.spec.option_checks import checked
from archcalc.spec.overrides import blaming, changed
from archcalc.spec.reading import read_spec
from archcalc.spec.resolved import Resolved
from archcalc.spec.scope import TRACED, WHOLE, LeftOut, Scope
from archcalc.spec.sizes import Sizes
from archcalc.spec.workload import Workload, workload
from archcalc.spec.yaml_reader import Document

if TYPE_CHECKING:
    from archcalc.analyze.diagram.report import DiagramReport
    from archcalc.analyze.flops.report import FlopsReport
    from archcalc.analyze.kernel.report import KernelReport
    from archcalc.analyze.memory.report import MemoryReport
    from archcalc.analyze.overview import Overview
    from archcalc.analyze.params import ParamsReport
    from archcalc.analyze.plot.report import PlotReport
    from archcalc.analyze.shapes import ShapesReport
    from archcalc.storage.weight_storage import StoredWeights


BY_RULE = "weights: the spec was changed, so their bytes follow from the spec, not from the tensors in the file"


@dataclass(frozen=True)
class Model:
    """Made by `archcalc.load`. Sizes are given as ints; whatever is left out comes from the spec."""

    name: str
    spec: ModelSpec
    resolved: Resolved = field(compare=False)  # follows from the spec
    document: Document
    edited: bool = False
    changes: tuple[str, ...] = ()  # by which it was edited, as `--set` takes them
    load: Callable[[str], Model] | None = field(default=None, repr=False, compare=False)  # another, by name or path

    def __hash__(self) -> int:
        """Equal models have equal names; specs may hold mappings, which do not hash."""
        return hash((self.name, self.changes))

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles leave out what was worked out on the way, such as traced trees."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def changed(self, *changes: str) -> Model:
        """With further changes, as `--set` takes them; what was read is not read again."""
        made = from_document(self.document, self.name, (*self.changes, *changes))
        return replace(made, name=", ".join((self.name, *changes)), load=self.load)

    @cached_property
    def stored(self) -> StoredWeights | None:
        """How the model's files store its weights; None if unquantised in the spec's precision.

        The tensors of a file apply only to the unchanged model: after --set, the spec alone decides.
        """
        if self.document.weights is not None and not self.edited:
            return self.document.weights
        if not self.spec.quantization:
            return None
        from archcalc.storage.quantization_config.methods import quantised

        source = "quantization_config" if self.document.config else "the spec"
        found = quantised(self.spec.quantization, "quantization")
        return replace(found, source=found.source or source) if found else None

    @property
    def stored_bytes(self) -> int | None:
        """Bytes of the weights as stored; None if they are not quantised or the layout is unknown."""
        if not self.stored or self.stored.unknown:
            return None
        from archcalc.analyze.memory.answer import Memory

        return Memory(self).parameters.states["weights"]

    def another(self, name: str, option: str) -> Model:
        """A second model that an option names, such as a draft model; loaded once."""
        if self.load is None:
            raise InputError("this model was not loaded by name", "use archcalc.load for it", field=option)
        if name not in self._others:
            self._others[name] = self.load(name)
        return self._others[name]

    @cached_property
    def _others(self) -> dict[str, Model]:
        return {}

    @property
    def model_type(self) -> str:
        """Its family in transformers, as a config.json names it; nothing where it has none."""
        return str(self.document.config.get("model_type") or self.spec.transformers or "")

    @property
    def config(self) -> dict[str, Any]:
        """The config.json that it was read from, or that a preset was compared with; empty where there is none."""
        from archcalc.spec.preset_configs import config_of

        if self.document.config or not self.document.shipped:
            return self.document.config
        return config_of(self.document.file.removeprefix("preset "))

    @property
    def scope(self) -> Scope:
        """Which part of a model this is, where the spec says that it is one."""
        said = self.spec.scope
        if said is None:
            return WHOLE
        left_out = tuple(LeftOut(each.part, each.parameters) for each in said.left_out)
        return Scope(said.part, said.of or "", left_out, TRACED if self.document.whole else "")

    @property
    def kind(self) -> str:
        """The family, and which kind of it: `encoder-decoder transformer`."""
        return f"{self.resolved.kind} {self.spec.family}".strip()

    @checked()
    def workload(
        self,
        *,
        batch: int | None = None,
        seq: int | None = None,
        src_seq: int | None = None,
        tgt_seq: int | None = None,
        context: int | None = None,
        mode: str = "train",
        attention: str = "eager",
    ) -> Workload:
        """The workload: sizes as given, else those of the spec, else defaults."""
        sizes = Sizes(batch, seq, src_seq, tgt_seq, context)
        return workload(self.spec, self.resolved.lengths, sizes, mode=mode, attention=attention)

    def build(self, work: Workload | None = None, changes: tuple[Change, ...] = ()) -> Module:
        """The traced model, with some changes made to it: the tree that every number is read from. It is shared."""
        return self._traces.of(work or self.workload(), changes)

    @cached_property
    def _traces(self) -> Traces:
        return Traces(self._traced)

    def _traced(self, work: Workload) -> Module:
        module = family_module(self.spec.family).build(self.resolved, work)
        assert isinstance(module, Module)
        module.notes[:0] = all_on(Topic.SOURCE, (*self._file_notes, *self.spec.notes))
        if self.document.is_written_by_hand:
            module.notes += assumed(self.spec, self.defaults)
        return module

    @property
    def defaults(self) -> tuple[Default, ...]:
        """What the family takes for fields that a spec leaves out."""
        declared = getattr(family_module(self.spec.family), "defaults", None)
        return tuple(declared(self.spec, self.resolved)) if declared else ()

    @checked()
    def params(
        self, *, depth: int | None = None, explain: bool = False, names: bool = False, **options: Unpack[ParamsKeywords]
    ) -> ParamsReport:
        """Parameter counts; options are those of `archcalc params`."""
        from archcalc.analyze.adapted import counted

        asked = Options.of("params", options, besides=("depth", "explain", "names"))
        return counted(self, asked, depth=depth, explain=explain, names=names)

    @checked()
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

        self._check_computation("shapes")
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

    @property
    def is_computed(self) -> bool:
        """Whether it says what is computed; a list of tensors does not."""
        return self.spec.family != "weights"

    def _check_computation(self, wanted: str) -> None:
        if not self.is_computed:
            hint = f"`archcalc params --depth 9` lists them; for {wanted} give the model's config.json or a spec"
            raise InputError("a list of tensors does not describe the computation", hint, field=self.name)

    @checked()
    def diagram(
        self,
        *,
        batch: int | None = None,
        seq: int | None = None,
        src_seq: int | None = None,
        tgt_seq: int | None = None,
        symbolic: bool = False,
        depth: int | None = None,
    ) -> DiagramReport:
        """The graph of a picture; `depth` levels of modules are opened."""
        from archcalc.analyze.diagram.report import diagram

        self._check_computation("a diagram")
        work = self.workload(batch=batch, seq=seq, src_seq=src_seq, tgt_seq=tgt_seq)
        return diagram(self.build(work), work, model=self.name, scope=self.scope, symbolic=symbolic, depth=depth)

    @checked()
    def flops(
        self, *, depth: int = 4, explain: bool = False, names: bool = False, **options: Unpack[FlopsKeywords]
    ) -> FlopsReport:
        """FLOPs and bytes moved on each GPU; options are those of `archcalc flops`."""
        from archcalc.analyze.flops.answer import flops

        asked = Options.of("flops", options, besides=("depth", "explain", "names"))
        return flops(self, asked, depth=depth, explain=explain, names=names)

    @checked()
    def memory(
        self, *, depth: int | None = None, timeline: bool = False, **options: Unpack[MemoryKeywords]
    ) -> MemoryReport:
        """Memory on each GPU; options are those of `archcalc memory`."""
        from archcalc.analyze.memory.answer import memory

        asked = Options.of("memory", options, besides=("depth", "timeline"))
        return memory(self, asked, depth=depth, timeline=timeline)

    def plot(self, x: str | Mapping[str, Any], **asked: Unpack[ChartKeywords]) -> PlotReport:
        """Curves over an option or a field of the spec: `archcalc.plot` of this model alone."""
        from archcalc.analyze.plot.answer import plot

        return plot(self, x, **asked)

    @checked()
    def report(self, *, gpus: Sequence[str] | str | None = None, **options: Unpack[FitKeywords]) -> Overview:
        """All of it at once, to look at: `.html()` is one file. Options are those of `archcalc report`."""
        from archcalc.analyze.overview import overview

        return overview(self, gpus, options)

    @checked()
    def kernel(self, *, seq: int | None = None, v_dim: int | None = None) -> KernelReport:
        """Softmax against kernel attention; `v_dim` gives the values of every attention another width."""
        from archcalc.analyze.kernel.answer import kernel

        work = self.workload(seq=seq)
        return kernel(self.resolved, work, title=self.name, precision=self.spec.precision, v_dim=v_dim)

    @property
    def _file_notes(self) -> tuple[str, ...]:
        """Facts read from the file apply only to the unchanged spec."""
        return () if self.edited else self.document.file_notes

    def yaml(self) -> str:
        """The spec as written; or regenerated YAML, if it was changed or contains characters that cannot be shown."""
        written = self.document.text.replace("\r\n", "\n")
        if written and not self.edited and not UNSEEN.search(written.replace("\n", "").replace("\t", "")):
            return written
        from archcalc.spec.yaml_writer import to_yaml

        spec = _noted(self.spec, self._left_behind)
        return to_yaml(spec, order=self.document.data, comments=self._file_notes)

    def resolved_yaml(self) -> str:
        """The spec with every default filled in, each marked as such."""
        from archcalc.spec.filled import filled_yaml

        return filled_yaml(_noted(self.spec, self._left_behind), self.defaults)

    @property
    def _left_behind(self) -> tuple[str, ...]:
        """A note if the bytes of the file's tensors differ from those computed by the spec."""
        if self.document.weights is None or self.edited:
            return ()
        from archcalc.analyze.memory.answer import Memory

        by_rule = replace(self, edited=True)
        file = Memory(self).parameters.weights
        if by_rule.stored and by_rule.stored.unknown:
            return (f"weights: the file that the spec was read from has {file:,} bytes of tensors",)
        rule = Memory(by_rule).parameters.weights
        if file == rule:
            return ()
        return (f"weights: {rule:,} bytes by the spec; the file that it was read from has {file:,} bytes of tensors",)


def from_document(document: Document, name: str, changes: tuple[str, ...] = ()) -> Model:
    """Validate and resolve a spec that was read, with `--set` changes on top."""
    with document.locating():
        family = family_module(document.data.get("family", "transformer"))
        spec = read_spec(family, document.data, _specs)
        with blaming(spec, changes):
            for change in changes:
                spec = changed(spec, change)
            if changes:  # what was published is not what is counted now
                spec = spec.model_copy(update={"published": None})
            changed_file = changes and document.weights is not None
            spec = _noted(spec, (*document.notes, *([BY_RULE] if changed_file else [])))
            with gathering():
                resolved = family.resolve(spec)
            title = ", ".join((spec.name or name, *changes))
            model = Model(title, spec, resolved, document, edited=bool(changes), changes=changes)
            _ = model.stored  # a mistake in it is told with its line, as any other
    return model


def _specs() -> dict[str, Any]:
    return {name: family_module(name).Spec for name in families()}


def _noted(spec: ModelSpec, notes: tuple[str, ...]) -> ModelSpec:
    """Add an importer's notes to the spec, so that `show` prints them too."""
    own = tuple(SURROGATES.sub(lambda found: escaped(found[0]), note) for note in notes)  # which no file can hold
    return spec.model_copy(update={"notes": (*own, *spec.notes)}) if own else spec
