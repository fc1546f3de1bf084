"""What is installed: the presets ship inside the wheel, and archcalc finds them there as in a source tree."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from archcalc.spec import paths

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel holds, as pip would lay it out."""
    made = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(made)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = made.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(made / "site")
    return made / "site"


def test_every_preset_is_in_the_wheel(installed: Path) -> None:
    """Models, devices, starters: all that stands in `presets`."""
    assert _files(installed / "archcalc" / "presets") == _files(ROOT / "presets")
    assert (installed / "archcalc" / "py.typed").is_file()


def test_the_explorers_page_is_in_the_wheel(installed: Path) -> None:
    page = Path("archcalc", "ui", "static")
    assert _files(installed / page) == _files(ROOT / page)
    assert "backend.js" in _files(installed / page)


def _files(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


def test_the_wheel_works_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    """`archcalc params`, right after installation."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "COLUMNS": "80"}
    command = [sys.executable, "-P", "-m", "archcalc", "params"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == "201.5 M parameters · 201,466,160"
    where = subprocess.run(
        [sys.executable, "-P", "-c", "import archcalc; print(archcalc.__file__)"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert where.stdout.startswith(str(installed))


def test_a_source_tree_has_its_presets_beside_it() -> None:
    """An editable install reads them where they are edited."""
    assert paths.data_root() == ROOT / "presets"


def test_the_run_time_dependencies() -> None:
    """Four, and none of them heavy."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {dependency.split(">")[0].split("<")[0].split("=")[0] for dependency in project["dependencies"]}
    assert names == {"typer", "rich", "pydantic", "PyYAML"}
    assert "torch==2.13.0" in project["optional-dependencies"]["test"]
    assert "transformers==5.22.2" in project["optional-dependencies"]["test"]
