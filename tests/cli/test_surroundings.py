"""Where archcalc is run: without a home, with folders that may not be read, with files that are none."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from archcalc.core.errors import InputError
from archcalc.loading import load
from archcalc.spec import paths

if TYPE_CHECKING:
    from conftest import Run, Write

GPU = "name: Mine\nmemory: 24GB\n"
MODEL = "vocab: 10\nd_model: 8\nheads: 2\nffn: 8\ndecoder: 1\n"
PARAMETERS = 10 * 8 + 8 * 10  # see that a model of one's own is counted: at least its two tables


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of presets of one's own."""
    for kind in ("models", "gpus"):
        (tmp_path / "own" / kind).mkdir(parents=True)
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path / "own"))
    return tmp_path / "own"


def refusing(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """As if this folder might not be entered; root, as whom tests may run, may enter every one."""

    def guarded(name: str) -> None:
        real = getattr(os, name)

        def call(path: Any, *rest: Any, **options: Any) -> Any:
            if isinstance(path, str | os.PathLike) and Path(path).is_relative_to(folder):
                raise PermissionError(13, "Permission denied", str(path))
            return real(path, *rest, **options)

        monkeypatch.setattr(os, name, call)

    for name in ("stat", "lstat", "scandir", "listdir", "open"):
        guarded(name)


def test_a_user_without_a_home(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container a number may be all that is known of a user."""

    def unknown(*_: object) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    monkeypatch.setattr(Path, "expanduser", unknown)
    monkeypatch.setenv("ARCHCALC_PRESETS", "~/presets")
    assert run("params", "gpt2").code == 0
    assert run("gpus", "h100").code == 0
    assert "~/x.yaml: this user has no home folder" in run("params", "~/x.yaml").err


@pytest.mark.wide(2)
@pytest.mark.parametrize("name", ["HOME", "XDG_CONFIG_HOME", "ARCHCALC_PRESETS"])
@pytest.mark.parametrize("command", [["params", "gpt2"], ["presets", "--max-params", "50M"], ["gpus", "--kind", "tpu"]])
def test_a_folder_that_may_not_be_entered(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, command: list[str]
) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv(name, str(tmp_path))
    refusing(monkeypatch, tmp_path)
    answer = run(*command)
    assert (answer.code, answer.err) == (0, "")
    told = f"ARCHCALC_PRESETS: {tmp_path} cannot be read: Permission denied"
    assert (told in " ".join(answer.out.split())) == (name == "ARCHCALC_PRESETS" and command[0] != "params")


@pytest.mark.parametrize("folder", ["x" * 5000, "/nowhere/at/all", "~nobody-of-that-name/x", "/dev/null", ""])
def test_presets_from_nowhere(run: Run, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    monkeypatch.setenv("ARCHCALC_PRESETS", folder)
    assert run("params", "gpt2").code == 0
    answer = run("gpus", "--kind", "tpu", columns=200)
    assert answer.code == 0
    assert ("ARCHCALC_PRESETS: " in answer.out) == bool(folder)


def test_a_model_that_may_not_be_reached(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It may be there: nothing else would be true."""
    refusing(monkeypatch, tmp_path)
    answer = run("params", str(tmp_path / "model.yaml"))
    assert (answer.code, answer.out) == (2, "")
    assert "model.yaml: cannot be read: Permission denied" in answer.err


@pytest.mark.parametrize("name", ["", " ", "\t\n"])
@pytest.mark.parametrize("command", ["params", "compare", "fit", "show", "memory"])
def test_a_name_that_is_empty_is_no_folder(run: Run, name: str, command: str, write: Write) -> None:
    write(json.dumps({"model_type": "gpt2"}), "config.json")  # which would be read for the current folder
    answer = run(command, name, *(["gpt2"] if command == "compare" else []))
    assert (answer.code, answer.out) == (2, "")
    assert "the model's name is empty" in answer.err


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("x" * 300, "no preset and no file is called xxx"),
        ("x" * 300 + ".yaml", "there is no such file"),
        ("a/" * 3000, "there is no such file"),
        ("~nobody-of-that-name/x.yaml", "there is no user called nobody-of-that-name"),
        ("gpt2\0", "no preset and no file is called gpt2\\x00"),
        ("gpt2:" + ",".join(f"batch={n}" for n in range(1, 100)), "no preset and no file"),
    ],
)
def test_names_that_no_file_has(name: str, told: str) -> None:
    with pytest.raises(InputError) as error:
        load(name)
    assert told in str(error.value)


def test_a_hundred_changes_are_no_file(run: Run) -> None:
    """Longer than any name of a file."""
    changes = ",".join(f"batch={n}" for n in range(1, 100))
    assert run("compare", "gpt2", f"gpt2:{changes}").code == 0


def shell(command: str) -> subprocess.CompletedProcess[str]:
    asked = command.replace("archcalc", f"{sys.executable} -m archcalc")
    return subprocess.run(["bash", "-c", asked], capture_output=True, encoding="utf-8", check=False, timeout=60)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("archcalc params - <&-", "standard input is closed"),
        ("archcalc params <(printf 'GGUF....')", "a weights file cannot be read from a pipe"),
        ("archcalc params <(printf '\\x02\\0\\0\\0\\0\\0\\0\\0{}')", "a weights file cannot be read from a pipe"),
        ("""archcalc params <(printf '{"weight_map": {}}')""", "a weights file cannot be read from a pipe"),
    ],
)
def test_streams_that_give_no_model(command: str, told: str) -> None:
    done = shell(command)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_a_spec_may_come_through_a_pipe() -> None:
    assert shell(f"archcalc params <(printf '{MODEL}') --format csv".replace("\n", "\\n")).returncode == 0


@pytest.mark.parametrize("name", ["config.json", "model.safetensors.index.json", "model.yaml"])
def test_a_file_of_three_gigabytes_is_not_read_whole(
    run: Run, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sparse: it takes no room on the disk. Whoever reads all of a file asks for no number of bytes."""
    with (tmp_path / name).open("wb") as stream:
        stream.write(b'{"weight_map": {' if "index" in name else b'{"model_type": "llama"')
        stream.truncate(3 * 10**9)

    def whole(path: Path) -> bytes:
        raise AssertionError(f"{path} is read whole")

    monkeypatch.setattr(Path, "read_bytes", whole)
    answer = run("params", str(tmp_path / name if name.endswith("yaml") else tmp_path))
    assert (answer.code, answer.out) == (2, "")
    assert "Traceback" not in answer.err


def bad_files(folder: Path) -> list[str]:
    """By name, everything that may lie in a folder of presets and is none."""
    (folder / "empty.yaml").write_bytes(b"")
    (folder / "line.yaml").write_text("---\n")
    (folder / "wrong.yaml").write_text("name: [\n")
    (folder / "other.yaml").write_text("colour: green\n")
    (folder / "binary.yaml").write_bytes(bytes(range(256)))
    (folder / "folder.yaml").mkdir()
    (folder / "nowhere.yaml").symlink_to("nothing")
    (folder / "round.yaml").symlink_to("round.yaml")
    (folder / "endless.yaml").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.yaml")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(folder)  # a socket's name may have no more than a hundred characters
        listening.bind("socket.yaml")
        os.chdir(here)
    return sorted(file.stem for file in folder.iterdir())


def test_bad_models_are_listed_and_harm_no_other(run: Run, own: Path) -> None:
    names = bad_files(own / "models")
    (own / "models" / "mine.yaml").write_text(MODEL)
    rows = {row["name"]: row for row in run("presets", "--format", "json").json["rows"]}
    assert set(rows) == {*names, "mine", *paths.presets()}
    assert rows["mine"]["parameters"] >= PARAMETERS and rows["gpt2"]["parameters"] == 124439808
    for name in names:
        assert rows[name]["parameters"] is None
        assert rows[name]["source"].startswith("cannot be read: ")
        answer = run("params", name)
        assert (answer.code, answer.out) == (2, ""), name


def test_bad_devices_are_listed_and_harm_no_other(run: Run, own: Path) -> None:
    names = bad_files(own / "gpus")
    (own / "gpus" / "mine.yaml").write_text(GPU)
    report = run("gpus", "--format", "json").json
    assert sorted(report["unreadable"]) == names
    assert {"mine", "h100"} <= {row["gpu"] for row in report["rows"]}
    out = " ".join(run("gpus").out.split())
    for name in names:
        assert f"· {name} cannot be read: " in out
        answer = run("gpus", name)
        assert (answer.code, answer.out) == (2, ""), name
    assert run("fit", "gpt2", "--gpu", "mine", "--format", "json").json["rows"][0]["capacity_bytes"] == 24 * 2**30
    assert "did you mean h100" in run("fit", "gpt2", "--gpu", "h10").err
    assert run("fit", "gpt2", "--gpu", "rtx4090").code == 0
