"""Which presets are asked for: of a kind, a modality, a year, a size."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Protocol

from archcalc.catalog.kinds import MODALITIES, belongs, known
from archcalc.core.errors import InputError, close_guess
from archcalc.spec.preset_names import squeezed

YEARS = re.compile(r"(\d{4})(-(\d{4})?)?")  # 2025, 2024-2026, 2025-


class Described(Protocol):
    """What is known of a preset."""

    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> int | None: ...
    @property
    def released(self) -> str: ...
    @property
    def reads(self) -> tuple[str, ...]: ...
    @property
    def facts(self) -> frozenset[str]: ...


@dataclass(frozen=True)
class Asked:
    """What nobody asks for is an empty text, or no bound."""

    kind: str
    modality: str
    year: str
    min_params: int
    max_params: int | None
    name: str = ""

    def fits(self, one: Described) -> bool:
        is_so = belongs(self.kind, one.facts) and belongs(self.modality, frozenset(one.reads))
        return is_so and self._called(one) and self._of_size(one.parameters) and self._of_year(one.released)

    def _called(self, one: Described) -> bool:
        """Whether each word stands in its name, or is true of it."""
        spelled = squeezed(one.name)
        return all(squeezed(word) in spelled or belongs(word, one.facts) for word in self.name.split())

    def _of_size(self, parameters: int | None) -> bool:
        """What cannot be read is not hidden by a bound."""
        if parameters is None:
            return True
        return self.min_params <= parameters and (self.max_params is None or parameters <= self.max_params)

    def _of_year(self, released: str) -> bool:
        found = YEARS.fullmatch(self.year)
        if not found:
            return True
        first, has_last, last = found.groups()
        until = last or ("9999" if has_last else first)
        return bool(released) and first <= released[:4] <= until

    def words(self) -> str:
        """The question again: `'moe' of 2025 that reads images`."""
        bounds = [f"of {self.min_params:,} parameters or more"] if self.min_params > 1 else []
        bounds += [f"of {self.max_params:,} parameters or fewer"] if self.max_params is not None else []
        named = " ".join(filter(None, (self.name, self.kind)))
        kind = [f"'{named}'"] if named else []
        year = [f"of {self.year}"] if self.year else []
        size = [" and ".join(bounds)] if bounds else []
        modality = [f"that reads '{self.modality}'"] if self.modality else []
        return " ".join([*(kind or (["one"] if modality else [])), *year, *size, *modality])

    def close_guess(self) -> str:
        """What a misspelt word may have meant."""
        words = [(word, known()) for word in f"{self.name} {self.kind}".split()]
        words += [(word, MODALITIES) for word in self.modality.split()]
        return next((guess for word, among in words if word not in among and (guess := close_guess(word, among))), "")


def years(value: Any, option: str) -> str:
    """A year, or several, as a text; the check of `--year`. An empty text asks for none."""
    written = value if isinstance(value, str) else ""
    if type(value) is int and value in range(10**4):
        written = str(value)
    if isinstance(value, str) and not value:
        return ""
    if not YEARS.fullmatch(written):
        raise InputError("expected a year", "write 2025, 2024-2026 or 2025-", field=option)
    return written
