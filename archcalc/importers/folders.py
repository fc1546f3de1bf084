"""Reads a folder as a model: its config or other description, and the weights beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from archcalc.core.errors import InputError
from archcalc.importers import beside, files, gguf_folder, safetensors, weight_names, weights_check
from archcalc.importers.asked import Asked
from archcalc.importers.beside import CONFIG
from archcalc.spec.yaml_reader import Document

DESCRIBING = (CONFIG, "params.json", "model_index.json", "adapter_config.json", "open_clip_config.json")
UNREAD = (  # fields of configs that no translator reads
    *("model_type", "architectures", "_class_name"),
    *("architecture", "vision_cfg", "peft_type"),
)


def document(folder: Path, asked: Asked) -> Document:
    if model := gguf_folder.chosen(folder):
        return files.of_start(model, files.text(model), str(model), asked)
    names = _names(folder)
    name = next((name for name in DESCRIBING if name in names), None)
    if name:
        return described(folder / name, str(folder / name), asked)
    if weights := weight_names.chosen(names):
        return files.of_tensors(read(folder / weights), str(folder / weights))
    hint = "give a folder with a config.json or weights, or the file that describes the model"
    raise InputError(weight_names.unread(names) or "this folder contains no model", hint)


def described(config: Path, shown: str, asked: Asked) -> Document:
    """A config.json or its equivalent, with the files beside it."""
    names = _names(config.parent)
    wanted = beside.NAMES if config.name == CONFIG else ()
    held = {name: files.text(config.parent / name) for name in wanted if name in names}
    weights = weight_names.chosen(names)
    try:
        found = files.of_files({**held, CONFIG: files.text(config)}, shown, asked=asked)
    except InputError as error:
        if not weights or error.field not in UNREAD:
            raise
        try:  # the tensor list of a model whose config archcalc cannot import
            tensors = read(config.parent / weights)
        except InputError:
            raise error from None
        return tensors_alone(tensors, str(config.parent / weights), weights, error)
    why = _absent(config.parent / weights) if weights else weight_names.unread(names)
    if weights and not why:  # a damaged file is an error
        return weights_check.with_weights(found, read(config.parent / weights), weights)
    return by_config_alone(found, why)


def by_config_alone(found: Document, why: str) -> Document:
    """Adds a note that says why the weights were not read, if there are any."""
    found.file_notes = (*found.file_notes, *([f"{why}; bytes are computed from the config"] if why else []))
    return found


def _names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir() if file.is_file()}


def tensors_alone(tensors: safetensors.Tensors, shown: str, name: str, error: InputError) -> Document:
    return files.of_tensors(tensors, shown, f"the tensors of {name}, without a forward pass: {error.fact}")


def _absent(weights: Path) -> str:
    """Why weights cannot be read although they are not damaged: shards that were not downloaded."""
    if safetensors.is_pointer(weights):
        return f"{weights.name} is a Git LFS pointer, not the weights"
    if not weight_names.is_index(weights.name):
        return ""
    index = files.index_in(weights)
    shards = safetensors.shards(index)
    gone = [name for name in shards if not (weights.parent / name).is_file()]
    pointers = [name for name in shards if name not in gone and safetensors.is_pointer(weights.parent / name)]
    if not (gone or pointers):
        return ""
    return not_all(index, weights.name, len(gone) + len(pointers))


def not_all(index: Mapping[str, Any], name: str, gone: int) -> str:
    """A sentence about an index some of whose shards are missing."""
    metadata = index.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    size = f", {total:,} bytes in all" if isinstance(total, int) and not isinstance(total, bool) else ""
    return f"{gone} of the {len(safetensors.shards(index))} shards that {name} lists{size}, are not here"


def read(weights: Path) -> safetensors.Tensors:
    """All tensors of a file, of an index, or of all shards where there is no index."""
    try:
        if weight_names.is_index(weights.name):
            return safetensors.sharded(files.index_in(weights), weights.parent)
        parts = weight_names.parts(weights.name, _names(weights.parent))
        return safetensors.together(parts, lambda name: safetensors.read(weights.parent / name))
    except InputError as error:
        error.file = error.file or str(weights)
        raise
