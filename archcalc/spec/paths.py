"""Where presets are found: those that ship, those of the user's config directory, those of ARCHCALC_PRESETS.

A folder that is missing or unreadable counts as empty, so that no command fails because of it; `faults` reports those
that the user set in ARCHCALC_PRESETS. Only regular files are opened.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path

from archcalc.core.errors import InputError

VARIABLE = "ARCHCALC_PRESETS"
_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


@cache
def data_root() -> Path:
    """The shipped `presets` folder: inside the package when installed, beside it in a source tree."""
    package = Path(__file__).parents[1]
    return next(root for root in (package / "presets", package.parent / "presets") if root.is_dir())


def _named() -> list[Path]:
    """The folders of ARCHCALC_PRESETS."""
    written = [Path(name) for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]
    for place, path in enumerate(written):
        with suppress(RuntimeError):  # there is no such user
            written[place] = path.expanduser()
    return written


def presets(kind: str = "models") -> dict[str, Path]:
    """Every preset's file of one kind (`models`, `gpus`) by its name, a later folder winning over an earlier one."""
    home = os.environ.get("APPDATA") if os.name == "nt" else os.environ.get("XDG_CONFIG_HOME")
    found = dict(shipped(kind))
    with suppress(RuntimeError):  # of a user who has no home, as in containers
        found |= _files(Path(home or Path.home() / ".config") / "archcalc" / kind)
    for root in _named():
        found |= _files(root / kind)
    return found


def shipped(kind: str) -> dict[str, Path]:
    """Those that ship alone: of data that archcalc keeps for itself, a user has none."""
    return _listed(data_root() / kind)


def _files(folder: Path) -> dict[str, Path]:
    try:
        found = sorted(file for file in folder.iterdir() if file.suffix == ".yaml" and not file.name.startswith("."))
    except OSError:
        return {}
    return {file.stem: file for file in found}


_listed = cache(_files)  # once: a question about ten devices asks a hundred times which there are


def faults() -> tuple[str, ...]:
    """Errors in the folders that the user set, shown when a preset is not found."""
    reasons: list[tuple[Path, str]] = []
    for folder in (folder for root in _named() for folder in (root, root / "models", root / "gpus")):
        try:
            os.scandir(folder).close()
        except FileNotFoundError:
            if folder.name not in ("models", "gpus"):
                reasons.append((folder, "there is no such folder"))
        except OSError as reason:
            reasons.append((folder, reason.strerror or str(reason)))
    return tuple(f"{VARIABLE}: {folder} cannot be read: {reason}" for folder, reason in reasons)


def plain(file: Path) -> Path:
    """The path, if it is a regular file: reading a pipe could block, and a device may never end."""
    try:
        mode = file.stat().st_mode
    except OSError as reason:
        raise InputError(f"cannot be read: {reason.strerror or reason}", field=str(file)) from None
    if not stat.S_ISREG(mode):
        raise InputError(f"cannot be read: it is {_KINDS.get(stat.S_IFMT(mode), 'a device')}", field=str(file))
    return file
