"""Parses a repository's name: `hf:owner/name[@revision]`, or the URL of its page on the Hub."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from archcalc.core.errors import InputError
from archcalc.importers.hub.settings import endpoint

_NAME = re.compile(r"[A-Za-z0-9_][\w.-]{0,95}(/[A-Za-z0-9_][\w.-]{0,95})?", re.ASCII)
_REVISION = re.compile(r"[\w.-]+(/[\w.-]+)*", re.ASCII)
_HOSTS = ("huggingface.co", "www.huggingface.co", "hf.co")
_OTHER_PAGES = ("datasets", "spaces", "docs", "blog", "papers", "collections", "api", "models", "learn", "tasks")
_VIEWS = ("tree", "blob", "resolve", "raw", "commit")
_READ = (".json", ".safetensors")
_HINT = "write hf:owner/name, hf:owner/name@revision or https://huggingface.co/owner/name"


@dataclass(frozen=True)
class Repository:
    """A repository of models, at a branch, a tag or a commit."""

    name: str
    revision: str = ""

    @property
    def shown(self) -> str:
        return f"hf:{self.name}@{self.revision}" if self.revision else f"hf:{self.name}"

    @property
    def page(self) -> str:
        return f"{endpoint()}/{self.name}"

    @property
    def listing(self) -> str:
        """Where the Hub tells the repository's commit and files."""
        return f"{endpoint()}/api/models/{self.name}/revision/{quote(self.revision or 'main', safe='')}"

    def file(self, name: str, commit: str = "") -> str:
        return f"{self.page}/resolve/{quote(commit or self.revision or 'main', safe='')}/{quote(name)}"


def repository(written: str) -> Repository:
    """Parses both notations."""
    if written.startswith("hf:"):
        name, at, revision = written.removeprefix("hf:").partition("@")
        if at and not revision:
            raise InputError(f"{written} names no revision", "name a branch, a tag or a commit after the @")
    else:
        name, revision = _of_url(written)
    whole = _NAME.fullmatch(name) and ".." not in name
    if not whole or (revision and (not _REVISION.fullmatch(revision) or ".." in revision)):
        raise InputError(f"{written} is not a repository", _HINT)
    return Repository(name, revision)


def _of_url(written: str) -> tuple[str, str]:
    """Parses a Hub URL: the repository's page, its tree at a revision, or one of the files that archcalc reads."""
    try:
        parts = urlsplit(written if "://" in written else f"https://{written}")
        known = (*_HOSTS, urlsplit(endpoint()).hostname)
        ours = parts.scheme in ("http", "https") and parts.hostname in known
    except ValueError:
        ours = False
    if not ours:
        raise InputError(f"{written} is not a page of the Hugging Face Hub", f"download the file; or {_HINT}")
    path = [unquote(part) for part in parts.path.split("/") if part]
    if not path or path[0] in _OTHER_PAGES:
        raise InputError(f"{written} is not the page of a model", _HINT)
    view = next((place for place, part in enumerate(path[1:3], 1) if part in _VIEWS), min(len(path), 2))
    name, behind = "/".join(path[:view]), path[view + 1 :]
    if not path[view:]:
        return name, ""
    # behind `tree` or `blob`: a revision, and a file at the top level of the repository
    file = behind[1] if len(behind) == 2 else ""
    if path[view] not in _VIEWS or not behind or len(behind) > 2 or (file and not file.endswith(_READ)):
        hint = f"archcalc reads only its top level: {_HINT}; or download the file"
        raise InputError(f"{written} points into a subfolder of a repository", hint)
    return name, behind[0]
