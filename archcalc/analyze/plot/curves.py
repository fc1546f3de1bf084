"""The curves of a chart: a model and a value of `--by` each, with a number at every place of the axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from archcalc.analyze.plot.axes import Axis, Value
from archcalc.analyze.plot.subject import Measure, Subject
from archcalc.core.errors import InputError
from archcalc.report.picture import Number

Answers = dict[str, Number]
MOST = 8  # curves that can be told apart


@dataclass
class Family:
    """All that is drawn of one question: its curves have one label, and differ in what they measure."""

    subject: Subject
    x: Axis
    measures: tuple[Measure, ...]
    by: Value | None = None
    told: str = ""  # that value, in a label
    found: dict[Value, Answers | InputError] = field(default_factory=dict)

    def at(self, value: Value) -> Answers | InputError:
        """Worked out once; the error where the model or its options do not allow it."""
        if value not in self.found:
            try:
                self.found[value] = self.x.changed(self.subject, value).answers(self.measures)
            except InputError as error:
                # A change of a field is told as `--set`, which nobody typed here.
                if error.file == f"--set {self.x.name}={value}":
                    error.file = f"--x {self.x.name}={value}"
                self.found[value] = error
        return self.found[value]

    def value(self, measure: Measure, value: Value) -> Number | None:
        found = self.at(value)
        return None if isinstance(found, InputError) else found[measure.name]

    @property
    def drawn(self) -> list[Value]:
        """The places that have a number."""
        return [value for value in self.x.values if not isinstance(self.at(value), InputError)]

    @property
    def errors(self) -> dict[Value, InputError]:
        found = {value: self.at(value) for value in self.x.values}
        return {value: each for value, each in found.items() if isinstance(each, InputError)}


def families(
    subjects: Sequence[Subject], x: Axis, by: Axis | None, measures: tuple[Measure, ...]
) -> tuple[list[Family], list[tuple[str, InputError]]]:
    """A family for each model and each value of `--by`, and those that are refused as a whole, with the error.

    If all of them are refused, that is the answer."""
    made: list[Family] = []
    refused: list[tuple[str, InputError]] = []
    for one in subjects:
        for value in by.values if by else (None,):
            family, label = Family(one, x, measures, value), one.label
            try:
                if by and value is not None:
                    label = f"{label}, {value}"
                    family.subject, family.told = by.changed(one, value), by.told(value)
            except InputError as error:
                refused.append((label, error))
                continue
            if family.drawn:
                made.append(family)
            else:
                refused.append((label, next(iter(family.errors.values()))))
    if not made:
        raise refused[0][1]
    if len(made) > MOST:
        hint = "name fewer models or values of --by"
        raise InputError(f"{len(made)} curves are more than the {MOST} that can be told apart", hint)
    return made, refused
