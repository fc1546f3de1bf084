"""Folders of GGUF files: which are one model in parts, which are variants, and which read images beside a model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from archcalc.core.errors import InputError

SPLIT = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.gguf")
PROJECTOR = "mmproj"  # stands in the names of such files, which is how llama.cpp tells them apart too
_MOST_LISTED = 20


@dataclass(frozen=True)
class Variant:
    """A model in one file, or in shards represented by the first one present."""

    file: Path
    bytes: int

    @property
    def is_projector(self) -> bool:
        return PROJECTOR in self.file.name.lower()


def variants(folder: Path) -> list[Variant]:
    """Every model in GGUF files of a folder, its parts taken together."""
    found: dict[str, list[Path]] = {}
    for file in sorted(file for file in folder.glob("*.gguf") if file.is_file()):
        match = SPLIT.fullmatch(file.name)
        found.setdefault(f"{match[1]} {match[3]}" if match else file.name, []).append(file)
    return [Variant(parts[0], sum(part.stat().st_size for part in parts)) for parts in found.values()]


def chosen(folder: Path) -> Path | None:
    """The one model that a folder holds as GGUF; where several kinds or variants lie there, a question which."""
    every = variants(folder)
    models = [one for one in every if not one.is_projector] or every
    if not models:
        return None
    # weights in another format: by their index or the config beside them, where there is one
    tensors = sorted(file.name for file in folder.glob("*.safetensors"))
    whole = [name for name in ("config.json", "model.safetensors.index.json") if (folder / name).is_file()]
    others = (whole[:1] or tensors) if tensors else []
    if len(models) == 1 and not others:
        return models[0].file
    named = [*(f"{one.file.name} ({one.bytes:,} bytes)" for one in models), *others]
    hint = f"name one of them, such as {folder / models[0].file.name}"
    more = f" and {len(named) - _MOST_LISTED} more" if len(named) > _MOST_LISTED else ""
    raise InputError(f"this folder holds {len(named)} models: {', '.join(named[:_MOST_LISTED])}{more}", hint)
