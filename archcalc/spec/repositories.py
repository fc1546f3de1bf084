"""The repositories of the Hub that presets name as their own: their field `hub`, without reading the rest as models."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path

from archcalc.core.errors import InputError
from archcalc.spec import paths
from archcalc.spec.yaml_reader import read


def repositories() -> dict[str, tuple[str, ...]]:
    """By preset. A file at fault is told of when it is named."""
    found: dict[str, tuple[str, ...]] = {}
    for preset, file in paths.presets().items():
        with suppress(InputError, OSError):
            found[preset] = _named(paths.plain(file), file.stat().st_mtime_ns)
    return found


@cache
def _named(file: Path, changed: int) -> tuple[str, ...]:
    """Read again where the file changed."""
    said = read(file.read_bytes(), str(file)).data.get("hub", ())
    names = said if isinstance(said, list) else [said]
    return tuple(name for name in names if isinstance(name, str))
