"""`hf:owner/name[@revision]`: a config, and headers of weights by range requests. Weights are never downloaded.

All traffic goes through `huggingface_hub`, so that its cache, HF_ENDPOINT, tokens and offline mode hold here too.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from typing import Any, TypeVar

from archcalc.document import Document
from archcalc.errors import InputError, MissingExtra
from archcalc.importers import agreement, files, safetensors
from archcalc.stored_tensors import Stored

_NAME = re.compile(r"hf:([\w.-]+/[\w.-]+|[\w.-]+)(?:@([\w./-]+))?")
T = TypeVar("T")


def document(name: str, *, trace: bool = False) -> Document:
    """The config's spec, compared with the weights' headers where the repository has any."""
    match = _NAME.fullmatch(name)
    if not match:
        raise InputError(f"{name} is not a repository", "write hf:owner/name, or hf:owner/name@revision")
    repository, revision = match[1], match[2]
    said = _config(repository, revision)
    tensors = _tensors(repository, revision)
    if said is None and tensors is None:
        hint = "archcalc reads config.json and safetensors headers"
        raise InputError(f"{repository} has neither a config.json nor safetensors", hint)
    if said is None:
        return files.of_tensors(tensors, name)
    found = files.of_config(said, name, trace=trace)
    if tensors and found.data.get("family") != "weights":
        found.file_notes = (*found.file_notes, agreement.told(found, tensors, "the repository"))
    return found


def _hub() -> Any:
    try:
        import huggingface_hub
        from huggingface_hub import constants, errors
    except ImportError:
        raise MissingExtra("huggingface_hub", "hf") from None
    assert constants and errors  # submodules that are loaded on demand
    words: Any = importlib.import_module("huggingface_hub.utils.logging")
    words.set_verbosity_error()  # what comes of its retries is told once, at the end
    return huggingface_hub


def _config(repository: str, revision: str | None) -> dict[str, Any] | None:
    def ask() -> dict[str, Any]:
        path = _hub().hf_hub_download(repository, "config.json", revision=revision)
        with open(path, encoding="utf-8") as stream:  # noqa: PTH123 (a path of huggingface_hub's cache)
            found = json.load(stream)
        if not isinstance(found, dict):
            raise InputError("config.json is not a JSON object", field=f"hf:{repository}")
        return found

    return _answer(repository, ask)


def _tensors(repository: str, revision: str | None) -> dict[str, Stored] | None:
    """Every tensor that the safetensors headers list; None where there are none, or no network to ask."""

    def ask() -> dict[str, Stored]:
        metadata = _hub().get_safetensors_metadata(repository, revision=revision)
        entries = [item for file in metadata.files_metadata.values() for item in file.tensors.items()]
        return {name: _stored(name, info) for name, info in entries}

    if _hub().constants.HF_HUB_OFFLINE:
        return None
    try:
        return _answer(repository, ask)
    except _hub().errors.NotASafetensorsRepoError:
        return None


def _stored(name: str, info: Any) -> Stored:
    if info.dtype not in safetensors.FORMATS:
        raise InputError(f"{name} has the unknown dtype {info.dtype}")
    begin, end = info.data_offsets
    return Stored(safetensors.FORMATS[info.dtype], tuple(info.shape), end - begin)


def _answer(repository: str, ask: Callable[[], T]) -> T | None:
    """What the Hub says, or why it says nothing; None for a file that the repository does not have."""
    errors, field = _hub().errors, f"hf:{repository}"
    try:
        return ask()
    except errors.GatedRepoError:
        hint = "accept its terms on its page, then log in with `hf auth login` or set HF_TOKEN"
        raise InputError("this repository is gated", hint, field=field) from None
    except errors.RepositoryNotFoundError:
        hint = "check its name; a private one needs `hf auth login` or HF_TOKEN"
        raise InputError("there is no such repository, or it is private", hint, field=field) from None
    except errors.RevisionNotFoundError:
        raise InputError("it has no such revision", "name a branch, a tag or a commit", field=field) from None
    except errors.LocalEntryNotFoundError:
        hint = "check the connection, HF_ENDPOINT and HF_HUB_OFFLINE"
        raise InputError("the Hub cannot be reached, and its config is not in the cache", hint, field=field) from None
    except errors.EntryNotFoundError:
        return None
    except (errors.HfHubHTTPError, OSError, ValueError) as reason:
        raise InputError(f"the Hub does not answer: {str(reason).splitlines()[0][:200]}", field=field) from None
