"""Error messages for the Hub's HTTP statuses, each with what to do."""

from __future__ import annotations

from archcalc.core.errors import InputError
from archcalc.importers.hub.address import Repository
from archcalc.importers.hub.web import Answer


def body(found: Answer, repository: Repository, *, token: bool) -> bytes | None:
    """None for a file that the repository does not have; every other status is an error."""
    code = found.headers.get("x-error-code", "")
    if found.status in (200, 206):
        return found.body
    if found.status == 404 and code in ("", "EntryNotFound"):
        return None
    status, accept = found.status, f"accept its licence on {repository.page}"
    if code == "GatedRepo" and token:
        fact, hint = "this repository is gated, and the token's account has no access", f"{accept} with that account"
    elif code == "GatedRepo":
        fact, hint = "this repository is gated", f"{accept}, then log in with `hf auth login` or set HF_TOKEN"
    elif code == "RevisionNotFound":
        fact, hint = f"it has no revision {repository.revision or 'main'}", "name a branch, a tag or a commit"
    elif code == "DisabledRepo":
        fact, hint = "this repository has been disabled", f"see {repository.page}"
    elif status == 401 and token and code != "RepoNotFound":
        fact, hint = "the Hub does not accept the token", "log in with `hf auth login`, or set HF_TOKEN again"
    elif status in (401, 404):
        private = "is read only with a token of its owner" if token else "needs `hf auth login` or HF_TOKEN"
        fact, hint = "there is no such repository, or it is private", f"check the spelling; a private one {private}"
    else:
        fact, hint = _refused(found)
    raise InputError(f"{fact} ({status})", hint, field=repository.shown)


def _refused(found: Answer) -> tuple[str, str]:
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
