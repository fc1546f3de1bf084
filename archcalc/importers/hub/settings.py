"""The environment as `huggingface_hub` reads it: endpoint, token, offline mode, and where its cache lies.

Its documentation has them under "Environment variables". They are read here at each call, not once.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from archcalc.core.errors import InputError

ENDPOINT = "https://huggingface.co"
_TRUE = ("1", "ON", "YES", "TRUE")


def endpoint() -> str:
    """HF_ENDPOINT, which must be an address, or the Hub's own."""
    written = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or ENDPOINT
    try:
        parts = urlsplit(written)
        whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number, brackets that do not close
        whole = False
    if not whole or re.search(r"[\s\x00-\x20\x7f-\U0010ffff?#@]", written):
        hint = f"set HF_ENDPOINT to an address such as {ENDPOINT}, or unset it"
        raise InputError(f"HF_ENDPOINT is {written}, which is not an address of http or https", hint)
    return written


def is_set(*names: str) -> bool:
    """Whether one of these switches is on."""
    return any(os.environ.get(name, "").upper() in _TRUE for name in names)


def token() -> str:
    """HF_TOKEN, or the token stored by `hf auth login`; empty if there is none."""
    given = os.environ.get("HF_TOKEN") or os.environ.get("HUGGING_FACE_HUB_TOKEN") or ""
    found = given.strip() or ("" if is_set("HF_HUB_DISABLE_IMPLICIT_TOKEN") else _kept_token())
    if not re.fullmatch(r"[\x21-\x7e]*", found):
        raise InputError("HF_TOKEN contains characters that a token cannot have", "copy the token again")
    return found


def _kept_token() -> str:
    home = _home()
    path = os.environ.get("HF_TOKEN_PATH") or (home / "token" if home else None)
    try:
        return Path(path).expanduser().read_text(encoding="ascii").strip() if path else ""
    except (OSError, ValueError, RuntimeError):  # there is none, or none that can be read
        return ""


def cache() -> Path | None:
    """The folder of the cache; None for a user without a home folder."""
    written = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    if written:
        return Path(written)
    home = _home()
    return home / "hub" if home else None


def _home() -> Path | None:
    written, general = os.environ.get("HF_HOME"), os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(written or Path(general or "~/.cache") / "huggingface").expanduser()
    except RuntimeError:
        return None
