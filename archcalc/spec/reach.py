"""What may be read for a model that is named by somebody else than who started archcalc: presets always, no file but
below one folder, the network only where that was asked for, and standard input never.

    with within(Reach(Path("models"))):
        load(name)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from archcalc.core.errors import InputError


@dataclass(frozen=True)
class Reach:
    folder: Path | None = None
    network: bool = False

    def placed(self, path: Path) -> Path | None:
        """Where a file of the folder is; None for any other, of which nothing is found out, be it that it exists. What
        lies beside a file is read with it, so that no link there may lead out of the folder either."""
        if self.folder is None:
            return None
        try:
            root, found = self.folder.resolve(), (self.folder / path).resolve()
            return found if found.is_relative_to(root) and _stays(found, root) else None
        except (OSError, ValueError, RuntimeError):  # no path, or one that ends nowhere
            return None

    def refused(self, name: str) -> InputError:
        there = f"files are read in {self.folder} alone, and where no link beside them leads out of it"
        fact = there if self.folder else "no file is read here"
        return InputError(fact, "name a preset, or give the text of a spec or of a config.json", field=name)

    def check_network(self, name: str) -> None:
        if not self.network:
            hint = "start archcalc with --network, or give the text of its config.json"
            raise InputError("the network is not asked here", hint, field=name)


def _stays(path: Path, root: Path) -> bool:
    """Whether every file that may be read with it lies in the folder."""
    near = path if path.is_dir() else path.parent
    return all(file.resolve().is_relative_to(root) for file in near.iterdir() if file.is_file())


_reach: ContextVar[Reach | None] = ContextVar("reach", default=None)  # None: whatever the user can read
reach = _reach.get


@contextmanager
def within(bounds: Reach) -> Iterator[None]:
    token = _reach.set(bounds)
    try:
        yield
    finally:
        _reach.reset(token)
