"""A model as it is traced: its spec with every value filled in, the file it was read from, and the tree of its ops.

    network.build(network.workload(batch=8))        the tree that every number is read from

Analyses are functions of it; `archcalc.model.Model` is the same with the questions as methods.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Self

from archcalc.archs import families, family_module, family_of
from archcalc.core.assumptions import Topic, all_on
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, walk
from archcalc.core.visible import SURROGATES, escaped
from archcalc.spec.defaults import Default, assumed
from archcalc.spec.gathering import gathering
from archcalc.spec.media import NOTHING_ASKED, Media, refused
from archcalc.spec.model_spec import LeftOutPart, ModelSpec
from archcalc.spec.option import flag_of
from archcalc.spec.option_checks import checked
from archcalc.spec.overrides import blame, changed
from archcalc.spec.paths import data_root
from archcalc.spec.reading import read_node, with_family
from archcalc.spec.resolved import Resolved
from archcalc.spec.scope import TRACED, WHOLE, LeftOut, Scope
from archcalc.spec.sizes import Sizes
from archcalc.spec.traces import MOST, Change, sizes_of
from archcalc.spec.workload import Workload, workload
from archcalc.spec.yaml_reader import Document

if TYPE_CHECKING:
    from archcalc.spec.encoders import Step, Tried
    from archcalc.storage.weight_storage import StoredWeights

BY_RULE = "weights: the spec was changed, so their bytes follow from the spec, not from the tensors in the file"


@dataclass(frozen=True)
class Network:
    """Sizes are given as ints; whatever is left out comes from the spec."""

    name: str
    spec: ModelSpec = field(hash=False)  # may hold mappings, which do not hash; equal models have equal names
    resolved: Resolved = field(compare=False)  # follows from the spec
    document: Document = field(hash=False)
    edited: bool = False
    changes: tuple[str, ...] = ()  # by which it was edited, as `--set` takes them
    media: Media = NOTHING_ASKED  # what was asked for, of images and audio
    as_read: Self | None = field(default=None, repr=False, compare=False)  # before it was given other media
    load: Callable[[str], Self] | None = field(default=None, repr=False, compare=False)  # another, by name or path
    _others: dict[str, Self] = field(default_factory=dict, init=False, repr=False, compare=False)
    _trees: dict[Hashable, Module] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def from_document(cls, document: Document, name: str, changes: tuple[str, ...] = ()) -> Self:
        """Validate and resolve a spec that was read, with `--set` changes on top."""
        with document.locating():
            family = family_module(family_of(document.data))
            try:
                spec = as_read = read_node(family.Spec, document.data)
            except InputError as error:
                raise with_family(error, family, document.data, _specs) from None
            try:
                for change in changes:
                    spec = changed(spec, change)
                notes = document.notes
                if changes:  # what was published, and what is said of the file, is not what is counted now
                    spec = spec.model_copy(update={"published": None, "hub": None})
                    document = replace(document, file_notes=())
                    notes += (BY_RULE,) * (document.weights is not None)
                if notes:
                    spec = noted(spec, notes)
                with gathering():
                    resolved = family.resolve(spec)
                title = ", ".join((spec.name or name, *changes))
                made = cls(title, spec, resolved, document, edited=bool(changes), changes=changes)
                _ = made.stored  # a mistake in it is told with its line, as any other
            except InputError as error:
                blame(error, as_read, changes)
                raise
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles leave out what was worked out on the way, such as traced trees."""
        return {one.name: getattr(self, one.name) if one.init else {} for one in fields(self)}

    def changed(self, *changes: str) -> Self:
        """With further changes, as `--set` takes them; what was read is not read again."""
        made = self.from_document(self.document, self.name, (*self.changes, *changes)).fed(self.media)
        return replace(made, name=", ".join((self.name, *changes)), load=self.load)

    @cached_property
    def stored(self) -> StoredWeights | None:
        """How the model's files store its weights; None if unquantised in the spec's precision.

        The tensors of a file apply only to the unchanged model: after --set, the spec alone decides.
        """
        of_file: StoredWeights | None = self.document.weights
        if of_file is not None and not self.edited:
            return of_file
        if not self.spec.quantization:
            return None
        from archcalc.storage.quantization_config.methods import quantised

        source = "quantization_config" if self.document.config else "the spec"
        found = quantised(self.spec.quantization, "quantization")
        return replace(found, source=found.source or source) if found else None

    def fed(self, media: Media) -> Self:
        """With other images, or more audio, than the spec says: the same model, which reads something else."""
        if not media.given():
            return self
        family = family_module(self.spec.family)
        if not hasattr(family, "fed"):
            raise refused(next(iter(media.given())), "images or audio whose size can be chosen")
        spec = family.fed(self.spec, media)
        try:
            made = replace(self, spec=spec, resolved=family.resolve(spec), media=self.media.changed(media))
            made = replace(made, as_read=self.as_read or self)
        except InputError as error:
            error.field = ", ".join(map(flag_of, media.given()))
            raise
        if media.is_of_another_size and made.total != self.total:
            sized = ", ".join(flag_of(name) for name in media.given())
            hint = "leave it out; `--set` with another shape of that input makes another model"
            raise InputError("the model has weights for each place in an image of its own size", hint, field=sized)
        return made

    def with_another_image(self) -> tuple[Self, int] | None:
        """With one more image in each sequence, and the positions that it takes there; None where there are none."""
        family = family_module(self.spec.family)
        found = family.another_image(self.resolved) if hasattr(family, "another_image") else None
        return (self.fed(Media(images=found.number)), found.positions) if found else None

    @property
    def generated_by(self) -> str:
        """The family that generates tokens: of a model of several parts that of the part which does."""
        return str(getattr(self.resolved, "generated_by", self.spec.family))

    def profiled(self, step: Step) -> tuple[Self, Tried] | None:
        """As an engine tries its encoders before its KV cache gets a size: with as many of the largest images as a step
        holds, apart from the text, whatever a request has. None where it has no encoders."""
        family, read = family_module(self.spec.family), self.as_read or self
        found = family.profiled(read.spec, read.resolved, step) if hasattr(family, "profiled") else None
        return (replace(self, resolved=found[0], name=f"{self.name}, {found[1]}"), found[1]) if found else None

    def without(self, media: Iterable[str]) -> Self:
        """Without images, or audio, as an engine runs it that does not load what reads them."""
        read = set(getattr(self.resolved, "media", {}).values())
        none = {"images": Media(images=0), "audio": Media(audio_seconds=0)}
        made = self
        for medium in sorted(read.intersection(media)):
            made = made.fed(none[medium])
        return made

    def apart(self) -> Self:
        """With one image at once, apart from the text, as an engine runs encoders by themselves."""
        family = family_module(self.spec.family)
        if not hasattr(family, "apart"):
            return self
        return replace(self, resolved=family.apart(self.spec, self.resolved), name=f"{self.name}, apart")

    def part(self, name: str) -> Self:
        """One part of a model of several, labelled as that."""
        family = family_module(self.spec.family)
        if not hasattr(family, "alone"):
            raise InputError("this model is in one piece", "leave --part out", field="--part")
        spec = family.alone(self.spec, self.resolved, name, self.name)
        title = f"{self.name}, {name} alone"
        return replace(self, name=title, spec=spec, resolved=family_module(spec.family).resolve(spec), edited=True)

    def another(self, name: str, option: str) -> Self:
        """A second model that an option names, such as a draft model; loaded once."""
        if self.load is None:
            raise InputError("this model was not loaded by name", "use archcalc.load for it", field=option)
        if name not in self._others:
            self._others[name] = self.load(name)
        return self._others[name]

    @property
    def model_type(self) -> str:
        """Its family in transformers, as a config.json names it; nothing where it has none."""
        return str(self.document.config.get("model_type") or self.spec.transformers or "")

    @property
    def config(self) -> dict[str, Any]:
        """The config.json that it was read from, or that a preset was compared with; empty where there is none."""
        if self.document.config or not self.document.shipped:
            return self.document.config
        return _preset_configs().get(self.document.file.removeprefix("preset "), {})

    @cached_property
    def scope(self) -> Scope:
        """Which part of a model this is, where the spec says that it is one."""
        said, is_doubted = self.spec.scope, bool(self.spec.doubts)
        if said is None:
            return replace(WHOLE, is_doubted=is_doubted)
        counts_further = bool(getattr(self._predicting[1], "mtp", None))
        left_out = tuple(self._left_out(part) for part in said.left_out if not (part.mtp and counts_further))
        if not left_out:
            return replace(WHOLE, is_doubted=is_doubted)
        return Scope(said.part, said.of or "", left_out, TRACED if self.document.whole else "", is_doubted)

    @property
    def _predicting(self) -> tuple[str, object]:
        """The head that predicts tokens, and where it stands: in a model of parts that of the last one."""
        *_, last = getattr(self.resolved, "parts", None) or (None,)
        if last is None:
            return "", getattr(self.resolved, "head", None)
        return f"parts.{last.name}.", getattr(last.resolved, "head", None)

    def _left_out(self, part: LeftOutPart) -> LeftOut:
        """With the parameters of blocks for multi-token prediction, which follow from the last block of the spec."""
        parameters, copies = part.parameters, None
        at, head = self._predicting
        if part.mtp and getattr(head, "kind", "") in ("lm", "tied") and parameters is None:
            said = part.mtp.model_dump(exclude_unset=True)
            mtp = [f"{at}head.mtp.{name}={value}" for name, value in said.items()]
            alone, shared, own = (
                self.changed(*changes).total for changes in ((), mtp, [*mtp, f"{at}head.mtp.own_tables=true"])
            )
            parameters, copies = shared - alone, own - shared
        return LeftOut(part.part, parameters, part.needed, copies)

    @property
    def total(self) -> int:
        """Parameters of all copies of all layers."""
        each = ((times, param.size) for module, times in walk(self.build()) for param in module.params.values())
        return sum(int(times) * int(size) for times, size in each)

    @property
    def kind(self) -> str:
        """The family, and which kind of it: `encoder-decoder transformer`."""
        return f"{self.resolved.kind} {self.spec.family}".strip()

    @checked
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
        """The traced model, with some changes made to it: the tree that every number is read from. It is shared, and
        must not be modified: who passes changes gets a tree of its own, which is kept as well."""
        work = work or self.workload()
        key = (sizes_of(work), changes)
        found = self._trees.pop(key, None)
        if found is None:
            found = family_module(self.spec.family).build(self.resolved, work)
            assert isinstance(found, Module)
            found.words.notes[:0] = all_on(Topic.SOURCE, (*self.document.file_notes, *self.spec.notes))
            found.words.notes[:0] = all_on(Topic.ESTIMATE, self.spec.doubts)
            document = self.document
            if not (document.shipped or document.config or document.whole or document.weights):
                # a person's own spec, which may leave choices to defaults without knowing
                found.words.notes += assumed(self.spec, self.defaults)
            for change in changes:
                change(found)
        self._trees[key] = found
        if len(self._trees) > MOST:
            del self._trees[next(iter(self._trees))]
        return found

    @property
    def defaults(self) -> tuple[Default, ...]:
        """What the family takes for fields that a spec leaves out."""
        declared = getattr(family_module(self.spec.family), "defaults", None)
        return tuple(declared(self.spec, self.resolved)) if declared else ()

    def check_computation(self, wanted: str) -> None:
        if not self.spec.is_computed:
            hint = f"`archcalc params --depth 9` lists them; for {wanted} give the model's config.json or a spec"
            raise InputError("a list of tensors does not describe the computation", hint, field=self.name)


@cache
def _preset_configs() -> dict[str, dict[str, Any]]:
    """The config.json of each preset that has one, as published: its values were compared with the preset's."""
    found: dict[str, dict[str, Any]] = json.loads((data_root() / "configs.json").read_text(encoding="utf-8"))
    return found


def _specs() -> dict[str, Any]:
    return {name: family_module(name).Spec for name in families()}


def noted(spec: ModelSpec, notes: tuple[str, ...]) -> ModelSpec:
    """Add an importer's notes to the spec, so that `show` prints them too."""
    own = tuple(SURROGATES.sub(lambda found: escaped(found[0]), note) for note in notes)  # which no file can hold
    return spec.model_copy(update={"notes": (*own, *spec.notes)})
