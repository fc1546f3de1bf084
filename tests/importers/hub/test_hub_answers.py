"""What the Hub answers: statuses that say what to do, redirects that end, tokens that stay with the Hub."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.loopback_hub import Hub, holding, listing, refused
from support.safetensors_files import CONFIG, WEIGHTS, file

import archcalc


@pytest.mark.parametrize(
    ("answer", "token", "fact", "hint"),
    [
        ((401, "RepoNotFound"), "", "no such repository, or it is private (401)", "HF_TOKEN"),
        ((401, ""), "", "no such repository, or it is private (401)", "check the spelling"),
        ((401, ""), "hf_old", "does not accept the token (401)", "hf auth login"),
        ((401, "GatedRepo"), "", "this repository is gated (401)", "accept its licence on http://127.0.0.1"),
        ((403, "GatedRepo"), "hf_mine", "the token's account has no access (403)", "accept its licence"),
        ((403, ""), "", "denies access to this repository (403)", "token"),
        ((404, "RepoNotFound"), "", "no such repository, or it is private (404)", "check the spelling"),
        ((404, "RevisionNotFound"), "", "it has no revision main (404)", "a branch, a tag or a commit"),
        ((429, ""), "", "rate limit is reached (429)", "wait 17 s"),
        ((451, ""), "", "legal reasons (451)", ""),
        ((500, ""), "", "the Hub has a fault (500)", "try again later"),
        ((503, ""), "", "the Hub has a fault (503)", "try again later"),
        ((418, ""), "", "does not understand (418)", "HF_ENDPOINT"),
    ],
)
@pytest.mark.parametrize("where", ["list", "config.json", "model.safetensors"])
def test_each_status_is_told_with_what_to_do(
    hub: type[Hub],
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    answer: tuple[int, str],
    token: str,
    fact: str,
    hint: str,
) -> None:
    """Wherever it is met: the list of a gated repository is public, its files are not."""
    holding(hub, config__json=json.dumps(CONFIG).encode(), model__safetensors=file(WEIGHTS))
    status, code = answer
    hub.answers[where] = (status, {"X-Error-Code": code, "Retry-After": "17"}, b"{}")
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
    message = refused()
    assert fact in message
    assert hint in message


@pytest.mark.parametrize("location", ["/here", "http://127.0.0.1:{port}/there", "//127.0.0.1:{port}/x"])
def test_redirects_have_an_end(hub: type[Hub], monkeypatch: pytest.MonkeyPatch, location: str) -> None:
    port = os.environ["HF_ENDPOINT"].rsplit(":", 1)[1]
    moved = (302, {"Location": location.format(port=port)}, b"")
    hub.answers |= dict.fromkeys(("list", "here", "there", "x"), moved)
    assert "redirects more than 5 times" in refused()
    assert len(hub.asked) == 6


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://host/x", "x:"])
def test_a_redirect_out_of_the_web_is_not_followed(hub: type[Hub], location: str) -> None:
    hub.answers["list"] = (302, {"Location": location}, b"")
    assert "archcalc does not follow that" in refused()


def test_a_token_is_not_given_to_where_the_hub_leads(hub: type[Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights lie on other hosts; here the same one under its other name."""
    port = os.environ["HF_ENDPOINT"].rsplit(":", 1)[1]
    holding(hub, config__json=json.dumps(CONFIG).encode())
    hub.answers["elsewhere"] = hub.answers["config.json"]
    hub.answers["config.json"] = (302, {"Location": f"http://localhost:{port}/elsewhere"}, b"")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    archcalc.load("hf:owner/name")
    sent = {path.rsplit("/", 1)[-1]: token for path, token in hub.asked}
    assert sent == {"main": "Bearer hf_secret", "config.json": "Bearer hf_secret", "elsewhere": None}


def test_the_token_of_a_login_is_used(hub: type[Hub], tmp_path: Path) -> None:
    (tmp_path / "hf").mkdir()
    (tmp_path / "hf" / "token").write_text("hf_kept\n")
    holding(hub, config__json=json.dumps(CONFIG).encode())
    archcalc.load("hf:owner/name")
    assert {token for _, token in hub.asked} == {"Bearer hf_kept"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b'{"siblings": 3}',
        b'{"siblings": [3]}',
        b'{"siblings": [{"rfilename": []}]}',
        b"[" * 99_999,
    ],
)
def test_a_list_of_files_that_is_none_is_told(hub: type[Hub], body: bytes) -> None:
    hub.answers["list"] = (200, {}, body)
    assert "list of the repository's files cannot be read" in refused()


def test_an_endpoint_without_a_list_is_asked_for_the_usual_names(hub: type[Hub]) -> None:
    """Simple mirrors serve files alone."""
    hub.answers["config.json"] = (200, {}, json.dumps(CONFIG).encode())
    counted = archcalc.load("hf:owner/name").params().total
    hub.answers["model.safetensors"] = (200, {}, file(WEIGHTS))
    assert any("as the config says" in note for note in archcalc.load("hf:owner/name").document.file_notes)
    del hub.answers["config.json"]
    assert archcalc.load("hf:owner/name").params().total == counted


def test_a_repository_of_gguf_files_is_told_as_such(hub: type[Hub]) -> None:
    hub.answers["list"] = listing("a-Q4_K_M.gguf", "a-Q8_0.gguf")
    assert "download one" in refused()
