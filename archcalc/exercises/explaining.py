"""Which mistake explains a wrong number: those of one step first, then those about the model, then units and sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, NamedTuple

from archcalc.core.expression import Leaf
from archcalc.core.windows import counted_by
from archcalc.exercises.arithmetic import is_rounded
from archcalc.exercises.blanks import Blank, Shape, figures
from archcalc.exercises.mistakes.in_a_step import (
    FORGOTTEN_FACTOR,
    MISTAKES,
    RARER_MISTAKES,
    Mistake,
    another_size,
    total,
)
from archcalc.exercises.mistakes.in_the_model import MISREMEMBERED, misreadings
from archcalc.exercises.sheet import Sheet, sizes_of
from archcalc.exercises.steps import Key, Step, evaluated, in_order
from archcalc.exercises.variation import data_of, rebuilt

MOST_SINGLE = 400  # mistakes of which pairs are tried: with more, some pair would explain any number
MOST_PAIRS = 2  # pairs that may explain an answer: where more do, none can be meant
Known = Mapping[Key, int]
NOTHING: Known = {}


# Right figures in another unit: bits for bytes, MiB for bytes, multiply-adds for FLOPs, per sample or per token.
_MEMORY = (
    ("bits for bytes", Fraction(8), "this is in bits: a byte has eight"),
    ("kB for bytes", Fraction(1, 10**3), "this is in kB, not in bytes"),
    ("MB for bytes", Fraction(1, 10**6), "this is in MB (10⁶ bytes), not in bytes"),
    ("GB for bytes", Fraction(1, 10**9), "this is in GB (10⁹ bytes), not in bytes"),
    ("KiB for bytes", Fraction(1, 2**10), "this is in KiB, not in bytes"),
    ("MiB for bytes", Fraction(1, 2**20), "this is in MiB (2²⁰ bytes), not in bytes"),
    ("GiB for bytes", Fraction(1, 2**30), "this is in GiB (2³⁰ bytes), not in bytes"),
    ("MB for MiB", Fraction(10**6, 2**20), "MB (10⁶ bytes) and MiB (2²⁰ bytes) are mixed up"),
    ("MiB for MB", Fraction(2**20, 10**6), "MB (10⁶ bytes) and MiB (2²⁰ bytes) are mixed up"),
)
_FLOPS = (
    ("multiply-adds for FLOPs", Fraction(1, 2), "a multiplication with its addition is two FLOPs"),
    ("training for forward", Fraction(3), "forward and backward together: the forward pass alone is asked"),
)
_PARAMETERS = (
    ("bytes for parameters", Fraction(4), "4 bytes for each parameter: their number is asked, not their bytes"),
    ("bytes for parameters", Fraction(2), "2 bytes for each parameter: their number is asked, not their bytes"),
)
ONE_SAMPLE = "one sample for the batch"
UNITS = {"params": _PARAMETERS, "memory": _MEMORY, "flops": _FLOPS}


def factors(question: str, batch: int) -> Iterator[tuple[str, Fraction, str]]:
    """What a right answer is multiplied by in each of them."""
    yield from UNITS.get(question, ())
    if question == "flops" and batch > 1:
        yield ONE_SAMPLE, Fraction(1, batch), f"the batch of {batch:,} is missing"


class Explained(NamedTuple):
    """The name of a mistake, and a sentence about this answer."""

    mistake: str
    sentence: str


def one_of(found: Sequence[Explained]) -> Explained:
    """The first, and the next one that is as likely, without accusing of either."""
    different = list({one.sentence: one for one in reversed(found)}.values())[::-1]
    if len(different) == 1:
        return different[0]
    return Explained(different[0].mistake, f"could be: {different[0].sentence}; or: {different[1].sentence}")


def at_most_two(found: Iterable[Explained]) -> Explained | None:
    """The first of a few; nothing where many pairs would do."""
    pairs = list(dict.fromkeys(found))
    return pairs[0] if 0 < len(pairs) <= MOST_PAIRS else None


Changes = dict[tuple[int, Explained], Explained]  # how far a mistake leads astray, and the mistake


def _pairs(
    given: Fraction, right: int, each: Changes, units: Iterable[tuple[str, Fraction, str]]
) -> Iterator[Explained]:
    """Two of one kind that add up, or one and another unit."""
    by_change: dict[int | Fraction, list[Explained]] = {}
    for (change, _), one in each.items():
        by_change.setdefault(change, []).append(one)
    for (change, _), one in each.items():
        yield from (both(one, other) for other in by_change.get(given - right - change, ()) if one < other)
    for name, factor, sentence in units:
        yield from (both(one, Explained(name, sentence)) for one in by_change.get(given / factor - right, ()))


def both(one: Explained, other: Explained) -> Explained:
    """Two mistakes as one."""
    words = f"could be two mistakes: {one.sentence}; and: {other.sentence}"
    return Explained(" and ".join(dict.fromkeys((one.mistake, other.mistake))), words)


Candidates = Iterator[tuple[Fraction | int | Shape, Explained]]  # wrong values, and what gives them
OfSteps = Iterator[tuple[int, Explained]]


class Misread(NamedTuple):
    """What a misread model would have in each blank."""

    explained: Explained
    answers: dict[tuple[str, str], int | Shape]


@dataclass(frozen=True)
class Explanations:
    """The mistakes that can be made on one sheet."""

    sheet: Sheet

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Every size of the model by the name of its dim."""
        return sizes_of(self.sheet.model.build())

    @cached_property
    def _misread(self) -> list[Misread]:
        sheet, data, found = self.sheet, data_of(self.sheet.model), list[Misread]()
        for misreading in misreadings().mistakes:
            explained = Explained(misreading.name, misreading.sentence)
            models = (rebuilt(sheet.model, changed) for changed in misreading.changed(data))
            found += [Misread(explained, figures(model, sheet.questions)) for model in models if model]
        for one in MISREMEMBERED:
            with counted_by(one.rule):
                model = rebuilt(sheet.model, data)
                answers = figures(model, sheet.questions) if model else {}
            found.append(Misread(Explained(one.name, one.sentence), answers))
        return found

    def of_number(self, blank: Blank, given: Fraction, known: Known) -> Explained | None:
        """`known` are other wrong answers of the same student, from which this one may go on."""
        step = blank.step
        assert step is not None
        searches: tuple[Callable[[], Candidates], ...] = (
            lambda: _in_step(step, MISTAKES, NOTHING),
            lambda: self._misreadings(blank),
            lambda: _below(step, MISTAKES),
            lambda: _everywhere(step),
            lambda: _in_step(step, RARER_MISTAKES, NOTHING),
            lambda: self._units(blank, given),
            lambda: _in_step(step, self._working, NOTHING),
            lambda: _below(step, self._working),
            lambda: _going_on(_in_step(step, (*MISTAKES, *RARER_MISTAKES, *self._working), known)),
        )
        for search in searches:
            found = [explained for value, explained in search() if value == given and value != blank.answer]
            if found:
                return one_of(found)
        return self._of_two(blank, step, given)

    def _of_two(self, blank: Blank, step: Step, given: Fraction) -> Explained | None:
        """Two at once of those that people make most: both in steps, both about the model, or one and another unit."""
        right, found = blank.answer, list[Explained]()
        assert isinstance(right, int)
        common = tuple(mistake for mistake in MISTAKES if mistake.beside_others)
        in_steps = [*_in_step(step, common, NOTHING), *_below(step, common)]
        units = list(factors(blank.question, self.sheet.model.workload().batch))
        kinds: tuple[Iterable[tuple[Any, Explained]], ...] = (in_steps, self._misreadings(blank))
        for single in kinds:
            each = {(value - right, one): one for value, one in single if isinstance(value, int) and value != right}
            if len(each) <= MOST_SINGLE:
                found += _pairs(given, right, each, units)
        together = (both for value, both in _one_upon_another(step, common) if value == given)
        return at_most_two(found) or at_most_two(together)

    def of_shape(self, blank: Blank, given: Shape) -> Explained | None:
        """A misread model that has such a shape there."""
        found = [explained for shape, explained in self._misreadings(blank) if shape == given]
        return one_of(found) if found else None

    @cached_property
    def _working(self) -> tuple[Mistake, ...]:
        """Mistakes within products, which explain so much that all others are looked for first."""
        return FORGOTTEN_FACTOR, another_size(tuple(Leaf(size, name) for name, size in self.sizes.items()))

    def _misreadings(self, blank: Blank) -> Candidates:
        for one in self._misread:
            found = one.answers.get((blank.question, blank.name))
            if found is not None:
                yield found, one.explained

    def _units(self, blank: Blank, given: Fraction) -> Candidates:
        """The answer in the units that are taken for the one that is asked."""
        assert isinstance(blank.answer, int)
        for name, factor, sentence in factors(blank.question, self.sheet.model.workload().batch):
            value = blank.answer * factor
            yield (given if is_rounded(given, value) else value), Explained(name, sentence)


def _in_step(step: Step, mistakes: tuple[Mistake, ...], known: Known) -> OfSteps:
    for mistake in mistakes:
        for value, sentence in _slips(step, mistake, known):
            yield value, Explained(mistake.name, sentence)


def slips_of(step: Step) -> OfSteps:
    """What a figure comes to with one common mistake, in its own step or in one below."""
    yield from _in_step(step, MISTAKES, NOTHING)
    yield from _below(step, MISTAKES)


def _slips(step: Step, mistake: Mistake, known: Known) -> Iterator[tuple[int, str]]:
    """The values that a step comes to, with sentences."""
    values = {key: value for key, value in known.items() if key != step.key}
    value_of = partial(evaluated, known=values)
    for way in step.every_way:
        for change, sentence in mistake.slips(way, value_of):
            yield total(way, value_of) + change, sentence


def _below(step: Step, mistakes: tuple[Mistake, ...]) -> OfSteps:
    """The same mistakes in what a figure is made of: it depends on each of its parts as often as it holds them."""
    whole = step.value()
    for key, part in step.below.items():
        times = step.value({key: part.value() + 1}) - whole
        if key != step.key and times:
            for value, explained in _in_step(part, mistakes, NOTHING):
                sentence = f"in {part.title}: {explained.sentence}"
                yield whole + times * (value - part.value()), explained._replace(sentence=sentence)


def _one_upon_another(step: Step, mistakes: tuple[Mistake, ...]) -> OfSteps:
    """A mistake in what a figure is made of, and one in the step from there."""
    for key, part in step.below.items():
        for value, first in _in_step(part, mistakes, NOTHING) if key != step.key else ():
            for whole, second in _in_step(step, mistakes, {key: value}):
                yield whole, both(first._replace(sentence=f"in {part.title}: {first.sentence}"), second)


def _everywhere(step: Step) -> OfSteps:
    """A mistake that is made in every layer alike."""
    for mistake in MISTAKES:
        known: dict[Key, int] = {}
        for part in in_order(step) if mistake.everywhere else ():
            slip = next(_slips(part, mistake, known), None)
            if slip:
                known[part.key] = slip[0]
        if known:
            yield evaluated(step, known), Explained(mistake.name, f"{mistake.name} in every layer")


def _going_on(found: OfSteps) -> OfSteps:
    for value, explained in found:
        yield value, explained._replace(sentence=f"going on from your earlier answers: {explained.sentence}")
