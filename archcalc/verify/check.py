"""Compares a model with PyTorch: builds it again in `archcalc.reference`, runs it, and compares all numbers.

Counts are taken on the meta device, where a model of any size runs without memory. The numbers themselves are checked
on real data, by the model itself below 1 GiB, else by its small twin.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from archcalc.analyze.flops.cost import work
from archcalc.analyze.memory.activations import saved_activations
from archcalc.analyze.memory.decode_cache import CacheFormats, cached
from archcalc.core.assumptions import Assumption, Topic, all_on
from archcalc.core.errors import InputError, MissingExtra
from archcalc.core.execution import never
from archcalc.core.ir import walk
from archcalc.core.tree import ops_in
from archcalc.model import Model
from archcalc.report.of_verify import Row, VerifyReport
from archcalc.spec.workload import Workload
from archcalc.styles.activations import UNKNOWN
from archcalc.verify import names
from archcalc.verify.lengths import few
from archcalc.verify.plain import plain
from archcalc.verify.small import no_twin, shortened, twin, with_small_images, within

if TYPE_CHECKING:
    from archcalc.reference.family import Family

REALLY_RUN = 2**30  # bytes of fp32 weights; larger models are run as their small twin
PRECISIONS = ("fp32", "bf16")
SHORTENED = Assumption(
    Topic.SCOPE, "parameters at full depth, everything else on one period of each stack, or two if it repeats"
)
SMALL_TWIN = Assumption(
    Topic.SCOPE,
    "a smaller model of the same structure was compared, at sequence lengths that its position tables allow",
)
NO_TOLERANCE = Assumption(Topic.EXACTNESS, "no tolerance: counts are equal to the last digit, or they differ")
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Subject:
    """A model, what it is given, and its reference."""

    model: Model
    work: Workload

    @property
    def config(self) -> dict[str, Any]:
        """The resolved spec as plain Python values."""
        made = plain(_of_lengths(self.model.resolved, self.work.lengths))
        assert isinstance(made, dict)
        return made

    @cached_property
    def reference(self) -> Family:
        """The model's family in `archcalc.reference`; a new family may not have a file there yet."""
        need_torch()
        family = self.model.spec.family
        if family == "weights":
            fact = "a list of weights has no forward pass that PyTorch could run"
            raise InputError(fact, "verify the model's config, or a spec", field=self.model.name)
        name = f"archcalc.reference.{family}"
        try:
            made: Family = importlib.import_module(name).FAMILY(self.config)
        except ModuleNotFoundError as missing:
            if missing.name != name:
                raise
            fact = f"archcalc has no PyTorch reference of the family {family}, so there is nothing to compare with"
            hint = f"its other commands work; archcalc/reference/{family}.py would be the reference"
            raise InputError(fact, hint) from None
        return made

    def built(self, device: str = "meta", dtype: str = "fp32", **options: str) -> Any:
        """The reference model, built without any number computed by archcalc."""
        import torch

        types = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp64": torch.float64}
        with torch.device(device):
            made = self.reference.build({"attention": "eager", "recompute": "none", **options})
        return made.to(types[dtype])

    def inputs(self, built: Any, work: Workload | None = None) -> list[Any]:
        """Random token ids, images or vectors, on the model's device and in its precision."""
        work, like = work or self.work, next(built.parameters())
        given = self.reference.inputs(work.batch, work.lengths, like.device)
        return [tensor.to(like.dtype) if tensor.is_floating_point() else tensor for tensor in given]


def _of_lengths(resolved: Any, lengths: dict[str, int]) -> Any:
    """A network's layers are those for so many positions."""
    return resolved.of_lengths(lengths) if hasattr(resolved, "of_lengths") else resolved


def need_torch() -> None:
    """Raises an error that says how to install PyTorch, if it is missing."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise MissingExtra("PyTorch, which verify compares with,", "verify") from None


def verify(
    model: Model,
    work: Workload,
    *,
    quick: bool = False,
    scale_down: bool = False,
    way: tuple[str, str] | None = None,
    progress: Progress = lambda done, steps, label: None,
) -> VerifyReport:
    """`quick` compares all but the parameters on a shortened stack; `scale_down` all of it on the small twin.

    `way` limits training to one way of computing it: how attention is computed, and what is recomputed.
    """
    need_torch()
    if missing := unwitnessed(model):
        hint = "`archcalc verify config.json` compares with transformers"
        raise InputError(f"archcalc's own PyTorch reference has no {missing}", hint, field=model.name)
    _check_trainable(model, work)
    whole = Subject(model, work)
    if scale_down and (reason := no_twin(model)):
        raise InputError(reason, "leave --scale-down out", field="--scale-down")
    if scale_down:  # inputs fit the small model: its image, audio and position tables are small too
        small = twin(model)
        whole = Subject(small, within(small, work))
    subject = replace(whole, model=shortened(whole.model)) if quick else whole
    broken = subject.reference.broken()
    is_run = not no_twin(model) or not _is_large(subject)
    steps = list(_steps(whole, subject, way, is_run))[: 1 if broken else None]
    rows: list[Row] = []
    for index, (label, step) in enumerate(steps):
        progress(index, len(steps), label)
        rows.extend(step())
    progress(len(steps), len(steps), "")
    left_out = {"numbers on real data": no_twin(model)} if not is_run else {}
    if broken:
        left_out = {"all but the parameters": broken}
    noted = tuple(_assumptions(whole, subject, scale_down))
    return VerifyReport(model.name, noted, setting_of(whole.work), tuple(rows), left_out)


def setting_of(work: Workload) -> str:
    return ", ".join(f"{name} {size:,}" for name, size in {"batch": work.batch, **work.lengths}.items())


def unwitnessed(model: Model) -> str:
    """What the second witness does not have; nothing of nearly all models."""
    layers = str(getattr(model.resolved, "unwitnessed", ""))
    is_unknown = any(op.kind == UNKNOWN for op in ops_in(model.build()))
    return " and ".join(filter(None, (layers, "formula for its activation" if is_unknown else "")))


def _check_trainable(model: Model, work: Workload) -> None:
    if not any(module.params for module, _ in walk(model.build(work))):
        raise InputError("a model without parameters has no training step to compare", field=model.name)
    smallest = getattr(_of_lengths(model.resolved, work.lengths), "smallest_batch", 1)
    if work.batch < smallest:
        fact = "PyTorch refuses to train a batch norm on a single number per channel"
        raise InputError(fact, f"use --batch {smallest} or more", field="--batch")


def _assumptions(whole: Subject, subject: Subject, scale_down: bool) -> Iterator[Assumption]:
    from archcalc.verify.differences import differences

    if scale_down:
        yield SMALL_TWIN
    if subject is not whole:
        yield SHORTENED
    yield NO_TOLERANCE
    yield from all_on(Topic.REFERENCE, differences(subject.model.resolved))


Step = tuple[str, Callable[[], list[Row]]]


def ways(model: Model) -> list[tuple[str, str]]:
    """The attention implementations and recomputation options that this model supports."""
    reference = Subject(model, model.workload()).reference
    attentions = reference.attentions()
    every = [(attention, recompute) for attention in attentions for recompute in reference.recomputes(attention)]
    return every if "backward" in reference.compared() else [way for way in every if way[1] == "none"]


def _steps(whole: Subject, subject: Subject, way: tuple[str, str] | None, is_run: bool) -> Iterator[Step]:
    reference = subject.reference
    yield "parameters", lambda: _parameters(whole)
    yield "shapes", lambda: _shapes(subject)
    for attention, recompute in [way] if way else ways(subject.model):
        yield _group(attention, recompute), partial(_training, subject, attention, recompute)
    if reference.decodes() and min(subject.work.lengths.values(), default=0) > 1:
        yield "decoding", lambda: _decoding(subject)
    if is_run:
        yield "numbers", lambda: _numbers(whole, whole is not subject)


def _group(attention: str, recompute: str) -> str:
    said = {"core": "attention core recomputed", "block": "blocks recomputed", "ops": "blocks recomputed op by op"}
    how = (f"{attention} attention" if attention else "", said.get(recompute, ""))
    return ", ".join(filter(None, ("training", *how)))


def _parameters(subject: Subject) -> list[Row]:
    from archcalc.analyze.params import one_copy
    from archcalc.reference import measure

    root = subject.model.build(subject.work)
    ours, theirs = names.parameters(root), measure.parameters(subject.built())
    counted, count = int(one_copy(root)), sum(map(math.prod, theirs.values()))
    first = _first_difference(ours, theirs)
    return [
        Row("parameters", counted, count, first=first if counted != count else ""),
        Row("parameter tensors, by name and shape", len(ours), len(theirs), first=first),
    ]


def _first_difference(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """`encoder.norm.weight: 512 against 768`, or which of the two has it."""
    for name in dict.fromkeys((*ours, *theirs)):
        if ours.get(name) != theirs.get(name):
            one, other = (" × ".join(map(str, side[name])) if name in side else "none" for side in (ours, theirs))
            return f"{name}: {one or 'a number'} against {other or 'a number'}"
    return ""


def _shapes(subject: Subject) -> list[Row]:
    """Container modules are never called, so hooks do not see them."""
    from torch import nn

    from archcalc.reference import measure

    built = subject.built().eval()
    given = subject.inputs(built)
    called = measure.shapes(built, lambda: built(*given))
    ours = names.shapes(subject.model.build(replace(subject.work, mode="forward")))
    containers = {name for name, module in built.named_modules() if type(module) in (nn.Module, nn.ModuleList)}
    ours = {name: shape for name, shape in ours.items() if name in called or name not in containers}
    theirs = {name: shape for name, shape in called.items() if name in ours}
    return [Row("module shapes", len(ours), len(theirs), first=_first_difference(ours, theirs))]


def _training(subject: Subject, attention: str, recompute: str) -> list[Row]:
    from archcalc.reference import measure

    root = subject.model.build(replace(subject.work, attention=attention or "eager"))
    done, group = work(root, recompute=recompute), _group(attention, recompute)
    rows: list[Row] = []
    step = _measured(measure.training_step, subject, attention, recompute, "fp32")
    compared = subject.reference.compared()
    if recompute == "none":
        rows.append(Row("forward FLOPs", int(done.forward), step.forward, group))
    if "backward" in compared:
        rows.append(Row("backward FLOPs", int(done.backward) + int(done.recompute), step.backward, group))
    if "saved" not in compared:
        return rows
    narrow = _measured(measure.saved_bytes, subject, attention, recompute, "bf16")
    for precision, theirs in (("fp32", step.saved), ("bf16", narrow)):
        ours = saved_activations(root, precision, recompute=recompute).bytes
        rows.append(Row(f"bytes saved for backward, {precision}", ours, theirs, group))
    return rows


def _measured(how: Any, subject: Subject, attention: str, recompute: str, precision: str) -> Any:
    built = subject.built(dtype=precision, attention=attention or "eager", recompute=recompute)
    given = subject.inputs(built)
    return how(built, lambda: subject.reference.loss(built(*given), given))


def _decoding(subject: Subject) -> list[Row]:
    """Decodes the last token with a cache of all earlier ones."""
    from archcalc.reference import measure
    from archcalc.reference.watch import Watch

    *_, name = subject.work.lengths
    context = subject.work.lengths[name] - 1
    decoding = replace(subject.work, mode="decode", context=context, lengths={**subject.work.lengths, name: 1})
    root, group = subject.model.build(decoding), f"decoding one token after {context:,}"
    rows: list[Row] = []
    for precision in PRECISIONS:
        built = subject.built(dtype=precision).eval()
        with Watch():
            step, kept = subject.reference.decode_step(built, subject.inputs(built))
        flops = measure.forward_flops(step)
        if precision == "fp32":
            rows.append(Row("FLOPs", int(work(root, trainable=never).forward), flops, group))
        theirs = measure.kept_bytes(subject.reference.kept_tensors(kept))
        ours = sum(one.bytes for one in cached(root, decoding, CacheFormats.plain(precision)))
        rows.append(Row(f"bytes cached for the next token, {precision}", ours, theirs, group))
    return rows


def _numbers(whole: Subject, quick: bool) -> list[Row]:
    """Checks values on real data: a short sequence, small images, by the model itself if it is small enough to run."""
    import torch

    from archcalc.reference.family import randomise

    read = with_small_images(whole.model)
    subject = replace(whole, model=shortened(read) if quick else read)
    small = not no_twin(read) and (quick or _is_large(subject))
    subject = replace(subject, model=twin(subject.model)) if small else subject
    group = "real data, in a small model of the same structure" if small else "real data"
    torch.manual_seed(0)
    built = subject.built(device="cpu", dtype="fp64").eval()
    randomise(built)
    lengths = {name: few(limit) for name, limit in subject.model.resolved.lengths.items()}
    given = subject.inputs(built, replace(subject.work, batch=2, lengths=lengths))
    holds = subject.reference.properties(built, given)
    return [Row(name, True, value, group) for name, value in holds.items()]


def _is_large(subject: Subject) -> bool:
    from archcalc.analyze.params import one_copy

    return 4 * int(one_copy(subject.model.build(subject.work))) >= REALLY_RUN
