"""`hf:owner/name[@revision]`: a config, and headers of weights by range requests. Weights are never downloaded.

The standard library asks; `huggingface_hub` is not needed, but its settings, its tokens and its cache hold here too.
"""

from __future__ import annotations

from archcalc.document import Document
from archcalc.errors import InputError
from archcalc.importers import beside, files
from archcalc.importers.hub import cache, settings, weights
from archcalc.importers.hub.address import Repository, repository
from archcalc.importers.hub.remote import Remote
from archcalc.importers.hub.web import Unreachable
from archcalc.importers.json_object import MAX_JSON

__all__ = ["document", "repository"]


def document(wanted: Repository, *, trace: bool = False) -> Document:
    """The config's spec, compared with the weights' headers where the repository has any."""
    try:
        return _cached(wanted, trace) if settings.is_offline() else _asked(wanted, trace)
    except InputError as error:
        error.file = error.file if error.file.startswith("hf:") else "/".join(filter(None, (wanted.shown, error.file)))
        error.field = "" if error.field == wanted.shown else error.field
        raise


def _asked(wanted: Repository, trace: bool) -> Document:
    try:
        remote = Remote(wanted)
        held = {name: raw for name in beside.NAMES if (raw := remote.whole(name, MAX_JSON)) is not None}
        tensors = weights.tensors(remote)
    except Unreachable as error:
        return _without_network(wanted, error, trace)
    cache.keep(wanted, remote.commit, held)
    if beside.CONFIG not in held:
        return _of_weights(wanted, remote, tensors)
    found = _of_config(wanted, held, trace)
    if tensors and found.data.get("family") != "weights":
        return files.with_weights(found, tensors, "the repository")
    return found


def _of_config(wanted: Repository, held: dict[str, bytes], trace: bool) -> Document:
    try:
        return files.of_files(held, f"{wanted.shown}/{beside.CONFIG}", trace=trace)
    except InputError as error:
        error.file = error.file or beside.CONFIG
        raise


def _of_weights(wanted: Repository, remote: Remote, tensors: object) -> Document:
    if tensors is not None:
        return files.of_tensors(tensors, wanted.shown)
    hint = "archcalc reads config.json and safetensors headers"
    if any(name.endswith(".gguf") for name in remote.names):
        hint = "it holds GGUF files: download one, and name that file"
    raise InputError(f"{wanted.name} has neither a config.json nor safetensors", hint)


def _without_network(wanted: Repository, error: Unreachable, trace: bool) -> Document:
    folder = cache.snapshot(wanted)
    if folder is None:
        raise error
    found = files.of_path(folder, str(folder), trace=trace)
    note = f"{error.fact}: read from the cache of huggingface_hub, commit {folder.name[:8]}"
    found.file_notes = (*found.file_notes, note)
    return found


def _cached(wanted: Repository, trace: bool) -> Document:
    folder = cache.snapshot(wanted)
    if folder is None:
        fact = "HF_HUB_OFFLINE is set, and the cache of huggingface_hub does not hold this repository"
        raise InputError(fact, "unset HF_HUB_OFFLINE, or download it first")
    return files.of_path(folder, str(folder), trace=trace)
