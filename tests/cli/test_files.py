"""presets, show, init and schema: the commands about specs."""

from __future__ import annotations

import errno
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest
import yaml

from archcalc.cli.commands.init import starters
from archcalc.json_schema import schema
from archcalc.spec import paths
from archcalc.spec.yaml_reader import read

if TYPE_CHECKING:
    from conftest import Run, Write

TINY = "vocab: 100\nd_model: 8\nheads: 2\nffn: 16\ndecoder: 1\n"


def test_presets_are_listed_with_name_family_parameters_and_source(run: Run) -> None:
    """One line each; every one of them can be read."""
    rows = {row["name"]: row for row in run("presets", "--format", "json").json["rows"]}
    assert set(rows) == set(paths.presets())
    assert rows["gpt2"]["parameters"] == 124_439_808
    assert rows["gpt2"]["family"] == "decoder transformer"
    assert "Radford" in rows["gpt2"]["source"]
    assert all(row["parameters"] and row["source"] for row in rows.values())


def test_own_presets_extend_what_ships(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder in the config directory and ARCHCALC_PRESETS both count, the latter winning."""
    for root, vocab in (("config/archcalc", 100), ("more", 200)):
        (tmp_path / root / "models").mkdir(parents=True)
        (tmp_path / root / "models" / "mine.yaml").write_text(TINY.replace("100", str(vocab)))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    first = run("params", "mine", "--format", "json").json["total"]
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path / "more"))
    second = run("params", "mine", "--format", "json").json["total"]
    assert second - first == 2 * 100 * 8  # embedding and head grow by 100 rows each
    assert "mine" in run("presets").out


def test_an_own_preset_that_is_broken_is_listed_as_such(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not take the whole list down with it."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "broken.yaml").write_text("heads: 3\n")
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    rows = {row["name"]: row for row in run("presets", "--format", "json").json["rows"]}
    assert rows["broken"]["parameters"] is None
    assert "cannot be read" in rows["broken"]["source"]
    assert "gpt2" in rows


def test_show_prints_the_file_as_it_is(run: Run) -> None:
    """Comments and all, ready to copy."""
    assert run("show", "textbook").out == paths.presets()["textbook"].read_text(encoding="utf-8")


def test_show_after_a_change_counts_the_same(run: Run) -> None:
    """The YAML of a changed model is the changed model."""
    shown = run("show", "gpt2", "--set", "decoder.blocks=3", "--set", "position=rope").out
    assert yaml.safe_load(shown)["decoder"] == 3
    changed = run("params", "gpt2", "--set", "decoder.blocks=3", "--set", "position=rope", "--format", "json").json
    assert run("params", "-", "--format", "json", stdin=shown).json["total"] == changed["total"]
    assert "published" not in shown


@pytest.mark.wide(10)
@pytest.mark.parametrize("name", sorted(paths.presets()))
def test_every_preset_survives_being_written_out(run: Run, name: str) -> None:
    """What `show` writes after a change without effect is the same model."""
    before = run("params", name, "--format", "json").json
    shown = run("show", name, "--set", "batch=3").out
    after = run("params", "-", "--format", "json", stdin=shown).json
    assert (after["total"], after["rows"]) == (before["total"], before["rows"])


def test_init_writes_a_spec_that_works(run: Run, write: Write) -> None:
    """Written, counted, and not overwritten unless asked."""
    write("", "other")
    assert run("init", "mine.yaml").code == 0
    assert run("params", "mine.yaml").code == 0


@pytest.mark.parametrize("name", starters())
def test_every_starter_answers_every_question(run: Run, name: str) -> None:
    """Found by its name, and complete: nothing that changes a number is left to a default."""
    spec = run("init", "-", "--family", name).out
    for command in ("params", "shapes", "flops", "memory"):
        assert run(command, "-", stdin=spec).code == 0
    first = spec.partition("\n")[0]
    assert first.startswith("# ") and "Try:  archcalc " in first


def test_the_starter_without_a_family_is_a_transformer(run: Run) -> None:
    assert run("init", "-").out == run("init", "-", "--family", "transformer").out


@pytest.mark.parametrize(("family", "guess"), [("lstm", "recurrent"), ("GPT", "transformer"), ("visoin", "vision")])
def test_an_unknown_starter_is_answered_with_those_there_are(run: Run, family: str, guess: str) -> None:
    answer = run("init", "-", "--family", family)
    assert (answer.code, answer.out) == (2, "")
    assert f"did you mean {guess}" in answer.err
    assert ", ".join(starters()) in answer.err


def test_init_never_overwrites_without_force(run: Run, write: Write, tmp_path: Path) -> None:
    """What is there stays there."""
    write("precious", "mine.yaml")
    answer = run("init", "mine.yaml")
    assert (answer.code, "--force" in answer.err) == (2, True)
    assert (tmp_path / "mine.yaml").read_text() == "precious"
    assert run("init", "mine.yaml", "--force").code == 0
    assert "d_model" in (tmp_path / "mine.yaml").read_text()


def test_init_into_a_missing_folder(run: Run, write: Write) -> None:
    """A message, not a traceback."""
    write("", "other")
    answer = run("init", "no/such/folder/mine.yaml")
    assert (answer.code, "cannot be written" in answer.err) == (2, True)


@pytest.mark.wide(7)
@pytest.mark.parametrize("name", sorted(paths.presets()))
def test_the_schema_accepts_every_preset(name: str) -> None:
    """An editor that uses it underlines nothing."""
    spec = read(paths.presets()[name].read_bytes(), name).data  # YAML 1.2, as editors read it: 1e6 is a number
    _validator().validate(spec)


@pytest.mark.parametrize("wrong", ["d_modl: 64", "heads: true", "norm: {place: psot}", "family: nothing", "heads: 0"])
def test_the_schema_refuses_mistakes(wrong: str) -> None:
    """And it underlines what archcalc refuses."""
    spec = {**yaml.safe_load(TINY), **yaml.safe_load(wrong)}
    assert not _validator().is_valid(spec)


def test_the_command_prints_that_schema(run: Run) -> None:
    assert run("schema").json == schema()


@cache
def _validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema())


def test_init_writes_through_no_link(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even when it is told to overwrite: the file behind the link may be anybody's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "link").symlink_to("precious")
    (tmp_path / "dangling").symlink_to("nothing")
    for link in ("link", "dangling"):
        answer = run("init", link, "--force")
        assert (answer.code, "symbolic link" in answer.err) == (2, True)
    assert (tmp_path / "precious").read_text() == "precious"
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_init_writes_plain_files_alone(run: Run, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "there"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)  # opening it would wait for a reader
    else:
        path = Path("/dev/null")
    answer = run("init", str(path), "--force")
    assert (answer.code, f"this is a {kind}" in answer.err) == (2, True)


@pytest.mark.parametrize("reason", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_init_that_fails_half_way_loses_nothing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: BaseException
) -> None:
    """The old file is whole, and nothing lies beside it."""
    (tmp_path / "mine.yaml").write_text("precious")

    def fail(*_: object) -> None:
        raise reason

    monkeypatch.setattr(os, "fsync", fail)
    assert run("init", str(tmp_path / "mine.yaml"), "--force").code != 0
    assert [file.name for file in tmp_path.iterdir()] == ["mine.yaml"]
    assert (tmp_path / "mine.yaml").read_text() == "precious"


def test_init_keeps_permissions_and_follows_the_umask(run: Run, tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text("mine")
    old.chmod(0o640)
    before = os.umask(0o027)
    try:
        assert run("init", str(old), "--force").code == run("init", str(new)).code == 0
    finally:
        os.umask(before)
    assert (old.stat().st_mode & 0o777, new.stat().st_mode & 0o777) == (0o640, 0o640)


def test_init_to_a_dash_prints_the_spec(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a dash means everywhere; no file is called so."""
    monkeypatch.chdir(tmp_path)
    printed = run("init", "-").out
    assert run("params", "-", stdin=printed).code == 0
    assert not list(tmp_path.iterdir())


PUBLISHED = {
    "124M": True,
    "{parameters: 124_439_808, of: GPT2LMHeadModel}": True,
    "{parameters: 7.3B}": True,
    "{parameters: -5}": False,
    "{parameters: 0}": False,
    "{parameters: many}": False,
    "{parameters: 1.5}": False,
    "{parameters: true}": False,
    "{parameters: [1]}": False,
    "{parameters: 1, of: 3}": False,
    "{count: 1}": False,
    "[1, 2]": False,
}


@pytest.mark.wide(10)
@pytest.mark.parametrize("command", ["params", "memory", "fit"])
@pytest.mark.parametrize(("published", "taken"), PUBLISHED.items())
def test_published_counts_are_checked(run: Run, write: Write, published: str, taken: bool, command: str) -> None:
    """They are data like any other field: read, or refused with their line."""
    answer = run(command, write(f"{TINY}published: {published}\n"))
    assert answer.code == (0 if taken else 2)
    assert taken or "model.yaml:6: published" in answer.err
