"""A Hub repository at one commit: its file list, whole small files, and the first bytes of large ones.

The safetensors headers are read by range requests; weights are never downloaded.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import NamedTuple

from archcalc.core.errors import InputError
from archcalc.importers import beside, files, folders, safetensors, weight_names
from archcalc.importers.hub import settings
from archcalc.importers.hub.address import Repository
from archcalc.importers.hub.cache import COMMIT
from archcalc.importers.hub.web import Answer, Question

MOST_LISTED = 20_000_000  # bytes of JSON: some hundred thousand files
FIRST = 100_000  # bytes: the whole header of most files
AT_ONCE = 8
MOST_SHARDS = 2000
_DAMAGED = "the file in the repository is damaged; its owner can fix it"
_RANGE = re.compile(r"bytes 0-\d{1,18}/(\d{1,18})", re.ASCII)


class Start(NamedTuple):
    """The first bytes of a file, and its whole length if the Hub reports it."""

    raw: bytes
    size: int | None


class Remote:
    """Names are those of files at the top of the repository."""

    def __init__(self, repository: Repository) -> None:
        self.repository, self.token, self.commit = repository, settings.token(), ""
        raw = self._body(Question(repository.listing, most=MOST_LISTED, token=self.token).answer())
        self.is_listed = raw is not None  # an endpoint may lack the list: then the usual names are tried
        self.names = {*beside.NAMES, *files.WEIGHTS} if raw is None else self._listed(raw)

    def whole(self, name: str, most: int) -> bytes | None:
        """None for a file that is not there."""
        if name not in self.names:
            return None
        question = Question(self._url(name), most=most, token=self.token)
        try:
            found = self._body(question.answer())
        except InputError as error:
            error.file = error.file or name
            raise
        if found is None:
            self.names.discard(name)
        return found

    def ask(self, name: str, most: int) -> Question:
        """Starts a request for at most that many first bytes, and returns without waiting."""
        return Question(self._url(name), most=most, cut=True, token=self.token, span=f"0-{most - 1}")

    def start(self, question: Question) -> Start | None:
        """None for a file that is not there."""
        found = question.answer()
        raw = b"" if found.status == 416 else self._body(found)  # an empty file has no first byte
        return None if raw is None else Start(raw, _length(found))

    def _url(self, name: str) -> str:
        return self.repository.file(name, self.commit)

    def _body(self, found: Answer) -> bytes | None:
        """None for a file that the repository does not have; every other status is an error."""
        repository, code = self.repository, found.headers.get("x-error-code", "")
        if found.status in (200, 206):
            return found.body
        if found.status == 404 and code in ("", "EntryNotFound"):
            return None
        status, accept = found.status, f"accept its licence on {repository.page}"
        if code == "GatedRepo" and self.token:
            fact = "this repository is gated, and the token's account has no access"
            hint = f"{accept} with that account"
        elif code == "GatedRepo":
            fact, hint = "this repository is gated", f"{accept}, then log in with `hf auth login` or set HF_TOKEN"
        elif code == "RevisionNotFound":
            fact, hint = f"it has no revision {repository.revision or 'main'}", "name a branch, a tag or a commit"
        elif code == "DisabledRepo":
            fact, hint = "this repository has been disabled", f"see {repository.page}"
        elif status == 401 and self.token and code != "RepoNotFound":
            fact, hint = "the Hub does not accept the token", "log in with `hf auth login`, or set HF_TOKEN again"
        elif status in (401, 404):
            private = "is read only with a token of its owner" if self.token else "needs `hf auth login` or HF_TOKEN"
            fact, hint = "there is no such repository, or it is private", f"check the spelling; a private one {private}"
        else:
            fact, hint = _refused(found)
        raise InputError(f"{fact} ({status})", hint, field=repository.shown)

    def _listed(self, raw: bytes) -> set[str]:
        try:
            said = json.loads(raw)
            names = {entry["rfilename"] for entry in said["siblings"]}
            commit = str(said.get("sha", ""))
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
            fact = "the Hub's list of the repository's files cannot be read"
            raise InputError(fact, "check HF_ENDPOINT and proxies", field=self.repository.shown) from None
        self.commit = commit if COMMIT.fullmatch(commit) else ""
        return {name for name in names if isinstance(name, str) and "/" not in name}


def _length(found: Answer) -> int | None:
    """The total in `Content-Range: bytes 0-99999/123456`, or the length of an answer that ignores the range."""
    if found.status == 200:
        told = found.headers.get("content-length", "")
        return int(told) if re.fullmatch(r"[0-9]{1,18}", told) else None
    match = _RANGE.fullmatch(found.headers.get("content-range", ""))
    return int(match[1]) if match else None


def _refused(found: Answer) -> tuple[str, str]:
    """What the Hub's other statuses mean, and what to do."""
    if found.status == 403:
        return "the Hub denies access to this repository", "check what the token may read: HF_TOKEN, `hf auth login`"
    if found.status == 429:
        after = found.headers.get("retry-after", "")
        wait = f"wait {after} s" if after.isascii() and after.isdigit() and len(after) < 6 else "wait some minutes"
        return "the Hub's rate limit is reached", f"{wait}; with HF_TOKEN set it allows more"
    if found.status == 451:
        return "the repository may not be shown for legal reasons", "the Hub says no more"
    if found.status >= 500:
        return "the Hub has a fault", "try again later"
    return "the Hub sent an answer that archcalc does not understand", "check HF_ENDPOINT and proxies"


class NotAll(InputError):
    """Raised when an index lists shards that the repository does not have."""


def headers_of(remote: Remote) -> safetensors.Tensors | None:
    """Every tensor that the headers list; None where there are none."""
    chosen = weight_names.chosen(remote.names)
    if chosen is None:
        return None
    if not weight_names.is_index(chosen):
        held = _headers(remote, weight_names.parts(chosen, remote.names))
        return safetensors.together(list(held), held.__getitem__) if held else None
    raw = remote.whole(chosen, files.MAX_INDEX)
    return headers_of(remote) if raw is None else _sharded(remote, chosen, raw)  # without a list, names are tried


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
