"""Ways of counting parameters: with and without embeddings, biases, buffers, a tied output layer, idle experts …"""

from __future__ import annotations

from collections.abc import Iterator

from archcalc.analyze.params import ParamsReport
from archcalc.core.ir import Module, ModuleGroup, Param, walk
from archcalc.core.roles import Role
from archcalc.exercises.arithmetic import number
from archcalc.exercises.counts import parameter_steps
from archcalc.exercises.expect.answer import Asked, Candidate, Tier, asked, expected
from archcalc.exercises.explaining import slips_of
from archcalc.exercises.mistakes.in_the_model import Misreading, misreadings
from archcalc.exercises.variation import data_of, rebuilt
from archcalc.model import Model
from archcalc.report.expected import Expected

MANY = 7  # digits of a number that mistakes in a calculation are looked for
BYTES = (4, 2, 1)  # of a parameter in usual formats
ROWS = (64, 128)  # that vocabularies are padded to a multiple of


def expect_params(model: Model, report: ParamsReport, text: str) -> Expected:
    """Compare a number with the parameters of a model."""
    wanted = asked(text)
    tiers = (
        Tier(lambda: _published(model, wanted)),
        Tier(lambda: _kinds(model, report), pairs=True),
        Tier(lambda: _other_models(model), pairs=True),
        Tier(lambda: _in_steps(model), digits=MANY),
        Tier(lambda: _rows(report)),
    )
    return expected(wanted, list(_figures(report)), tiers)


def _figures(report: ParamsReport) -> Iterator[Candidate]:
    yield Candidate("parameters", int(report.total), "the number of parameters")
    for figure in report.figures()[1:]:
        yield Candidate(figure.label, int(figure.value), figure.label, figure.unit == "bytes")


def _published(model: Model, wanted: Asked) -> Iterator[Candidate]:
    """Numbers that were printed elsewhere and that no count of archcalc comes to."""
    for claim in model.spec.published.elsewhere if model.spec.published else ():
        value = number(str(claim.parameters)).value
        if wanted.agrees(value):
            sentence = f"a number that was published, which no count of archcalc comes to: {claim.of}"
            yield Candidate("published elsewhere", value, sentence)


def _kinds(model: Model, report: ParamsReport) -> Iterator[Candidate]:
    """The count without weights of a kind, and with what is none."""
    total, params = int(report.total), _params(model.build())
    for name, role in (("biases", Role.BIAS), ("norms", Role.NORM)):
        number = sum(count for param, count in params if param.weight_role == role)
        if number:
            yield Candidate(f"without {name}", total - number, f"without {name}")
    beside = {"buffers": int(report.buffers), "scales and zeros": int(report.scales)}
    for name, count in beside.items():
        if count:
            yield Candidate(f"with {name}", total + count, f"with {name}")
    for part in model.scope.left_out:
        if part.parameters:
            yield Candidate(f"with {part.part}", total + part.parameters, f"with {part.part}")
    blocks = [child for child in model.build().children if child.group == ModuleGroup.BLOCKS]
    held = [one for child in blocks for one in _params(child)]
    matrices = sum(count for param, count in held if len(param.axes) > 1)
    yield Candidate(
        "matrices of the blocks", matrices, "the matrices of the blocks alone, 12·L·d² in a plain Transformer"
    )
    for size in BYTES:
        yield Candidate(f"{size} bytes each", size * total, f"{size} bytes for each parameter", is_bytes=True)


def _params(root: Module) -> list[tuple[Param, int]]:
    every = ((param, int(copies)) for module, copies in walk(root) for param in module.params.values())
    return [(param, copies * int(param.elements)) for param, copies in every]


def _other_models(model: Model) -> Iterator[Candidate]:
    """What the model would have if it were read in another way."""
    data = data_of(model)
    for reading in (*conventions(model), *misreadings().mistakes):
        for changed in reading.changed(data):
            other = rebuilt(model, changed)
            if other:
                yield Candidate(reading.name, int(other.params().total), reading.name)


def _in_steps(model: Model) -> Iterator[Candidate]:
    for value, explained in slips_of(parameter_steps(model.build())):
        yield Candidate(explained.mistake, value, explained.sentence)


def _rows(report: ParamsReport) -> Iterator[Candidate]:
    for row in report.rows[1:]:
        several = f", all {int(row.repeat):,} together" if row.total != row.each else ""
        yield Candidate(row.path, int(row.each), f"{row.path} alone")
        yield Candidate(row.path, int(row.total), f"{row.path} alone{several}")


def conventions(model: Model) -> list[Misreading]:
    """Layers for further tokens are counted in only where a spec says that it leaves something out."""
    known, vocab = misreadings(), getattr(model.spec, "vocab", None)
    found = [*known.conventions, *(known.left_out if model.scope.left_out else ())]
    if isinstance(vocab, int):  # tables whose rows were rounded up, as for tensor cores: GPT-2 with 50,304 tokens
        sizes = sorted({-(-vocab // multiple) * multiple for multiple in ROWS} - {vocab})
        names = {size: f"with the vocabulary padded to {size:,}" for size in sizes}
        found += [Misreading(name=name, field="vocab", value=size) for size, name in names.items()]
    return found
