"""Reads the safetensors headers of a repository by range requests; weights are never downloaded."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from io import BytesIO

from archcalc.core.errors import InputError
from archcalc.importers import files, folders, safetensors, weight_names
from archcalc.importers.hub.remote import Remote, Start
from archcalc.importers.hub.web import Question

FIRST = 100_000  # bytes: the whole header of most files
AT_ONCE = 8
MOST_SHARDS = 2000
_DAMAGED = "the file in the repository is damaged; its owner can fix it"


class NotAll(InputError):
    """Raised when an index lists shards that the repository does not have."""


def tensors(remote: Remote) -> safetensors.Tensors | None:
    """Every tensor that the headers list; None where there are none."""
    chosen = weight_names.chosen(remote.names)
    if chosen is None:
        return None
    if not weight_names.is_index(chosen):
        held = _headers(remote, weight_names.parts(chosen, remote.names))
        return safetensors.together(list(held), held.__getitem__) if held else None
    raw = remote.whole(chosen, files.MAX_INDEX)
    return tensors(remote) if raw is None else _sharded(remote, chosen, raw)  # without a list, names are tried


def _sharded(remote: Remote, name: str, raw: bytes) -> safetensors.Tensors:
    index = files.index_of(raw)
    shards = safetensors.shards(index)
    if len(shards) > MOST_SHARDS:
        raise InputError(f"the index names {len(shards):,} shards", f"at most {MOST_SHARDS:,} are read")
    missing = [shard for shard in shards if shard not in remote.names] if remote.is_listed else []
    held = {} if missing else _headers(remote, shards)
    missing = missing or [shard for shard in shards if shard not in held]
    if missing:
        raise NotAll(folders.not_all(index, name, len(missing)), _DAMAGED)
    return safetensors.joined(index, held.__getitem__)


def _headers(remote: Remote, names: Sequence[str]) -> dict[str, safetensors.Tensors]:
    """Of those that are there."""
    found = {}
    for name, question in _asked(remote, names):
        try:
            start = remote.start(question)
            if start is not None:
                found[name] = _read(remote, name, start)
        except InputError as error:
            error.file = error.file or name
            raise
    return found


def _asked(remote: Remote, names: Sequence[str]) -> Iterator[tuple[str, Question]]:
    """A few requests run at a time."""
    waiting: deque[tuple[str, Question]] = deque()
    for name in names:
        waiting.append((name, remote.ask(name, FIRST)))
        if len(waiting) == AT_ONCE:
            yield waiting.popleft()
    yield from waiting


def _read(remote: Remote, name: str, start: Start) -> safetensors.Tensors:
    """Requests a header that is longer than the first request once more, as a whole."""
    raw, length = start.raw, 8 + int.from_bytes(start.raw[:8], "little")
    if FIRST <= len(raw) < length <= 8 + safetensors.LONGEST:
        again = remote.start(remote.ask(name, length))
        raw = raw if again is None else again.raw
    size = 8 + safetensors.LONGEST if start.size is None else start.size
    try:
        return safetensors.tensors(safetensors.header(BytesIO(raw), size), start.size)
    except InputError as error:
        error.hint = _DAMAGED
        raise
