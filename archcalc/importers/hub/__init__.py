"""`hf:owner/name[@revision]`: a config, and headers of weights by range requests. Weights are never downloaded.

The standard library asks; `huggingface_hub` is not needed, but its settings, its tokens and its cache hold here too.
"""

from __future__ import annotations

from archcalc.core.errors import InputError
from archcalc.importers import beside, files, folders, weight_names, weights_check
from archcalc.importers.asked import PLAINLY, Asked
from archcalc.importers.hub import cache, settings
from archcalc.importers.hub.address import Repository, repository
from archcalc.importers.hub.remote import NotAll, Remote, headers_of
from archcalc.importers.hub.web import Unreachable
from archcalc.spec.yaml_reader import Document

__all__ = ["document", "repository"]


def document(wanted: Repository, *, asked: Asked = PLAINLY) -> Document:
    """The config's spec, compared with the weights' headers where the repository has any."""
    try:
        if not settings.is_set("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
            return _asked(wanted, asked)
        folder = cache.snapshot(wanted)
        if folder is None:
            fact = "HF_HUB_OFFLINE is set, and this repository is not in the huggingface_hub cache"
            raise InputError(fact, "unset HF_HUB_OFFLINE, or download it first")
        return files.of_path(folder, str(folder), asked=asked)
    except InputError as error:
        error.file = error.file if error.file.startswith("hf:") else "/".join(filter(None, (wanted.shown, error.file)))
        error.field = "" if error.field == wanted.shown else error.field
        raise


def _asked(wanted: Repository, asked: Asked) -> Document:
    try:
        remote = Remote(wanted)
        held = _described(remote)
        return _of_config(remote, held, asked) if held else _of_weights(remote)
    except Unreachable as error:
        folder = cache.snapshot(wanted)
        if folder is None:
            raise
        found = files.of_path(folder, str(folder), asked=asked)
        note = f"{error.fact}: read from the huggingface_hub cache, commit {folder.name[:8]}"
        found.file_notes = (*found.file_notes, note)
        return found


def _described(remote: Remote) -> dict[str, bytes]:
    """The model's config.json or its equivalent, with the files beside it; None if there is none."""
    for name in folders.DESCRIBING:
        raw = remote.whole(name, beside.MAX_JSON)
        if raw is not None:
            wanted = beside.QUANTISED if name == beside.CONFIG else ()
            others = {other: found for other in wanted if (found := remote.whole(other, beside.MAX_JSON)) is not None}
            cache.keep(remote.repository, remote.commit, {name: raw, **others})
            return {beside.CONFIG: raw, **others}
    return {}


def _of_config(remote: Remote, held: dict[str, bytes], asked: Asked) -> Document:
    """As for a folder: if the config cannot be imported, the tensors are listed; missing weights become a note."""
    try:
        found = files.of_files(held, f"{remote.repository.shown}/{beside.CONFIG}", asked=asked)
    except InputError as error:
        error.file = error.file or beside.CONFIG
        if error.field not in folders.UNREAD or not weight_names.chosen(remote.names):
            raise
        try:
            tensors = headers_of(remote)
        except InputError:
            raise error from None
        if tensors is None:
            raise
        return folders.tensors_alone(tensors, remote.repository.shown, "the repository", error)
    if found.data.get("family") == "weights":
        return found
    try:
        tensors = headers_of(remote)
    except NotAll as error:
        return folders.by_config_alone(found, error.fact)
    if tensors is None:
        return folders.by_config_alone(found, weight_names.unread(remote.names))
    return weights_check.with_weights(found, tensors, "the repository")


def _of_weights(remote: Remote) -> Document:
    tensors = headers_of(remote)
    if tensors is not None:
        return files.of_tensors(tensors, remote.repository.shown)
    hint = "archcalc reads config.json and safetensors headers"
    if any(name.endswith(".gguf") for name in remote.names):
        hint = "it contains GGUF files: download one, and give that file"
    raise InputError(f"{remote.repository.name} has neither a config.json nor safetensors", hint)
