"""Where presets are found: those that ship, those of the user's config directory, those of ARCHCALC_PRESETS."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path


@cache
def data_root() -> Path:
    """The shipped `presets` folder: inside the package when installed, beside it in a source tree."""
    package = Path(__file__).parent
    return next(root for root in (package / "presets", package.parent / "presets") if root.is_dir())


def folders(kind: str) -> list[Path]:
    """Folders of one kind (`models`, `gpus`), a later one winning over an earlier one."""
    extra = [Path(folder).expanduser() for folder in os.environ.get("ARCHCALC_PRESETS", "").split(os.pathsep) if folder]
    own = [folder / kind for folder in (user_root(), *extra)]
    return [data_root() / kind, *(folder for folder in own if folder.is_dir())]


def user_root() -> Path:
    home = os.environ.get("APPDATA") if os.name == "nt" else os.environ.get("XDG_CONFIG_HOME")
    return Path(home or Path.home() / ".config") / "archcalc"


def presets(kind: str = "models") -> dict[str, Path]:
    """Every preset's file by its name."""
    files = [file for folder in folders(kind) for file in sorted(folder.glob("*.yaml"))]
    return {file.stem: file for file in files}
