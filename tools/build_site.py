"""Builds the explorer as a folder that any static host can serve: the page, with archcalc inside by Pyodide.

    python tools/build_site.py OUT

Fetches Pyodide's core from npm and the wheels that archcalc needs from PyPI, for the Python inside Pyodide; nothing of
that is kept but in OUT. Needs npm and pip. Addresses are relative, so OUT may stand at any path of a host.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from archcalc.ui.ask import ask
from archcalc.ui.pages import files

ROOT = Path(__file__).parent.parent
PYODIDE = "pyodide@314.0.7"  # the version that tests/browser/test_site.py has run with
CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
PREPARED = ("catalog",)  # questions without parts, whose answers are the same for everybody
STEP = 120  # seconds that a download may take


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the explorer for a static host.")
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder to write")
    parser.add_argument("--force", action="store_true", help="replace what OUT holds")
    asked = parser.parse_args()
    if asked.out.exists() and not asked.out.is_dir():
        sys.exit(f"error: {asked.out}: not a folder")
    if asked.out.exists() and any(asked.out.iterdir()) and not asked.force:
        sys.exit(f"error: {asked.out}: the folder is not empty\n  name another, or add --force to replace it")
    try:
        site(asked.out)
    except (subprocess.SubprocessError, OSError) as reason:
        sys.exit(f"error: the site could not be built: {reason}")
    print(f"wrote {asked.out}: {sum(size(asked.out).values()):,} bytes in {len(size(asked.out))} files")


def size(folder: Path) -> dict[str, int]:
    """Bytes of every file."""
    found = (file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.stat().st_size for file in found}


def site(out: Path) -> None:
    """All of it, put in place once it is whole."""
    with tempfile.TemporaryDirectory() as folder:
        made, work = Path(folder) / "site", Path(folder) / "work"
        made.mkdir()
        work.mkdir()
        about = pyodide(made / "pyodide", work)
        wheels = [archcalc(made / "wheels"), *dependencies(made / "wheels", about), yaml(made / "wheels", work)]
        page(made, sorted(wheels))
        if out.exists():
            shutil.rmtree(out)
        shutil.copytree(made, out)


def run(*words: str, folder: Path = ROOT) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=STEP, check=False)
    if done.returncode:
        told = "\n".join((done.stderr or done.stdout).strip().splitlines()[-5:])
        raise OSError(f"{' '.join(words[:4])} …\n{told}")


def pyodide(into: Path, work: Path) -> dict[str, str]:
    """Its core, and what it says of its Python."""
    into.mkdir()
    npm = shutil.which("npm")
    if not npm:
        raise OSError("npm is not installed")
    run(npm, "pack", PYODIDE, "--silent", "--pack-destination", str(work), folder=work)
    (packed,) = work.glob("pyodide-*.tgz")
    with tarfile.open(packed) as archive:
        for name in CORE:
            inner = archive.extractfile(f"package/{name}")
            assert inner is not None
            (into / name).write_bytes(inner.read())
    lock = json.loads((into / "pyodide-lock.json").read_text("utf-8"))
    (into / "pyodide-lock.json").write_text(json.dumps({**lock, "packages": {}}), "utf-8")  # none of them is loaded
    found: dict[str, str] = lock["info"]
    return found


def archcalc(into: Path) -> str:
    into.mkdir()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into))
    (wheel,) = into.glob("archcalc-*.whl")
    return f"wheels/{wheel.name}"


def dependencies(into: Path, about: dict[str, str]) -> list[str]:
    """pydantic and what it needs, compiled for that Python."""
    version = ".".join(about["python"].split(".")[:2])
    wanted = ("--platform", f"pyemscripten_{about['abi_version']}_{about['arch']}", "--python-version", version)
    before = set(into.glob("*.whl"))
    words = (sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--only-binary=:all:")
    run(*words, "--implementation", "cp", *wanted, "-d", str(into), "pydantic")
    return [f"wheels/{wheel.name}" for wheel in into.glob("*.whl") if wheel not in before]


def yaml(into: Path, work: Path) -> str:
    """PyYAML without its C part, which PyPI does not have for Pyodide: the wheel of any machine has the Python part."""
    words = (sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--only-binary=:all:")
    run(*words, "--no-deps", "-d", str(work), "PyYAML")
    (found,) = [wheel for wheel in work.glob("*.whl") if wheel.name.lower().startswith("pyyaml-")]
    name = f"{'-'.join(found.name.split('-')[:2])}-py3-none-any.whl"
    with zipfile.ZipFile(found) as whole, zipfile.ZipFile(into / name, "w", zipfile.ZIP_DEFLATED) as pure:
        for entry in whole.infolist():
            if not entry.filename.endswith((".so", ".pyd")):
                pure.writestr(entry.filename, whole.read(entry))
    return f"wheels/{name}"


def page(made: Path, wheels: list[str]) -> None:
    """The page, which wheels it loads, and answers that need no computing."""
    for path, file in files().items():
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, made / path)
    answers = {name: ask({"ask": name}) for name in PREPARED}
    (made / "answers.json").write_text(json.dumps(answers), "utf-8")
    about = {"pyodide": "pyodide/", "wheels": wheels, "answers": "answers.json"}
    (made / "site.json").write_text(json.dumps(about), "utf-8")
    (made / ".nojekyll").write_text("", "utf-8")  # a host that leaves files of some names out keeps all


if __name__ == "__main__":
    main()
