"""The rows of a report as a data frame; pandas by itself would round integers beside values that are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from archcalc.core.errors import MissingExtra

LARGEST = 2**63 - 1  # of pandas' Int64; a column with larger ones holds Python's integers


def data_frame(rows: Sequence[Mapping[str, Any]], heads: Sequence[str]) -> Any:
    try:
        from pandas import DataFrame
    except ImportError:
        raise MissingExtra("pandas", "pandas") from None
    as_given = DataFrame(rows, columns=heads, dtype=object)
    made = as_given.convert_dtypes()
    for name in heads:
        found = [row[name] for row in rows if row.get(name) is not None]
        if found and all(type(value) is int for value in found):
            fits = max(map(abs, found)) <= LARGEST
            made[name] = as_given[name].astype("Int64" if fits else object)
    return made
