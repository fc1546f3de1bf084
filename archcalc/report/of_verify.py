"""The report of `archcalc verify`: for each quantity, archcalc's number and PyTorch's."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, ClassVar

from archcalc.report.base import Report
from archcalc.report.table import Column, Line, Table, cells_of, heading, in_tables, keys

REFERENCE = "archcalc's own PyTorch reference"


@dataclass(frozen=True)
class Row:
    """One compared quantity. `first` names the first thing that differs, where it is made of many; `against` says
    whose number the other one is."""

    quantity: str
    archcalc: Any
    reference: Any
    group: str = ""
    first: str = ""
    against: str = REFERENCE
    tolerance: float = 0  # a share of the other number

    @property
    def equal(self) -> bool:
        """A count is right or wrong; only where a tolerance is stated, it may be off by so much."""
        if self.tolerance:
            return abs(self.archcalc - self.reference) <= self.tolerance * self.reference and not self.first
        return bool(self.archcalc == self.reference) and not self.first

    @property
    def is_check(self) -> bool:
        """Of the other model's values alone, such as that they are finite: no number of archcalc's is compared."""
        return isinstance(self.archcalc, bool)

    @property
    def verdict(self) -> str:
        """✓, or the difference."""
        if self.equal:
            return "✓"
        numbers = isinstance(self.archcalc, int) and isinstance(self.reference, int)
        off = f"{self.archcalc - self.reference:+,}" if numbers and self.archcalc != self.reference else ""
        return " ".join(("✗", off or ("" if self.first else "fails"), self.first)).strip()


@dataclass(frozen=True)
class VerifyReport(Report):
    """`ok` if every row agrees. `left_out` is what could not be compared, and why."""

    command: ClassVar[str] = "verify"
    setting: str
    rows: tuple[Row, ...]
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Every row agrees."""
        return all(row.equal for row in self.rows)

    def answer(self) -> str:
        """How many agree, and the first that does not."""
        wrong = [row for row in self.rows if not row.equal]
        if not self.rows:
            return f"nothing was compared · {self.setting}"
        if not wrong:
            apart = f", {len(self.left_out)} not compared" if self.left_out else ""
            return f"✓ {self._equal()}{apart} · {self.setting}"
        first = ": ".join(filter(None, (wrong[0].group, wrong[0].quantity, wrong[0].first)))
        return f"✗ {len(wrong)} of {len(self.rows)} quantities differ, the first: {first} · {self.setting}"

    def _equal(self) -> str:
        """How many are equal, to which: `6 quantities equal transformers' GPT2Model, 26 archcalc's PyTorch …`."""
        numbers = Counter(row.against for row in self.rows if not row.is_check)
        (first, number), *others = numbers.items()
        every = "all " if not others else ""
        rest = "".join(f"; {number} equal {against}" for against, number in others)
        told, checks = f"{every}{number} quantities equal {first}{rest}", sum(row.is_check for row in self.rows)
        if not checks:
            return told
        return f"{told}; {'1 check on real data passes' if checks == 1 else f'{checks} checks on real data pass'}"

    def columns(self) -> tuple[Column[Row], ...]:
        return COLUMNS

    def table(self) -> Table:
        """Quantities under the headings of their groups."""
        columns, lines, seen = in_tables(COLUMNS), [], {""}
        for row in self.rows:
            if row.group not in seen:
                lines.append(heading(row.group, columns))
                seen.add(row.group)
            lines.append(Line(cells_of(columns, row), depth=int(bool(row.group))))
        lines += [Line((name, None, None, "– not compared"), below=why) for name, why in self.left_out.items()]
        return Table(columns, tuple(lines))

    def facts(self) -> dict[str, Any]:
        return {"model": self.model, "scope": self.scope.name, "ok": self.ok, "setting": self.setting}

    def details(self) -> dict[str, Any]:
        return {"left_out": self.left_out}


def _shown(value: Any) -> Any:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


COLUMNS: tuple[Column[Row], ...] = (
    Column("quantity", get=lambda row: ": ".join(filter(None, (row.group, row.quantity)))),
    Column("", "quantity", "name", "quantity"),
    Column("archcalc"),
    Column("", "archcalc", "count", lambda row: _shown(row.archcalc)),
    Column("reference"),
    Column("", "PyTorch", "count", lambda row: _shown(row.reference)),
    *keys("against", "equal"),
    Column("first", get=lambda row: row.first or None),
    Column("", "", "text", "verdict"),
)
