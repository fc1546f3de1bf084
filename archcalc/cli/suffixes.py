"""Which type of file -o asks for."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from archcalc.core.errors import InputError


def suffix_of(output: str, known: Collection[str]) -> str:
    """One of those that are known, in small letters."""
    suffix = Path(output).suffix.lower()
    if suffix not in known:
        fact = f"no type of file is known by the suffix {suffix}" if suffix else "the file's name has no suffix"
        raise InputError(fact, f"choose from: {' '.join(known)}", field=output or "-o")
    return suffix
