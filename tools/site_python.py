"""Python in the page: Pyodide's core, and one archive of archcalc with all that it imports there.

The archive is compressed as a whole with xz, which the Python there unpacks (UNPACK in archcalc/ui/static/worker.js);
wheels compress every file alone. What a page never reads is left out.
"""

from __future__ import annotations

import json
import lzma
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYODIDE = "pyodide@314.0.7"  # the version that tests/browser/test_site.py has run with
CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
STEP = 120  # seconds that a download may take
# Of archcalc the other commands and the servers, with their data; of pydantic what only other programs import.
UNREAD = (
    *(f"archcalc/{name}/" for name in ("cli", "reference", "verify", "identities", "exercises", "ui/static")),
    *(f"archcalc/presets/{name}/" for name in ("starters", "identities", "languages", "exercises")),
    *(
        f"archcalc/ui/{name}.py"
        for name in ("server", "connections", "http", "lanes", "rules", "running", "worker", "pages")
    ),
    *("archcalc/catalog/identities.py", "archcalc/render/worksheet/"),
    *("pydantic/v1/", "pydantic/experimental/", "pydantic/mypy.py", "pydantic/color.py"),
    *("pydantic_core/_pydantic_core/", "annotated_types/test_cases.py", "_yaml/"),
)
UNREAD_KINDS = (
    ".pyi",
    ".typed",
    "/METADATA",
    "/RECORD",
    "/WHEEL",
    "/entry_points.txt",
    "/top_level.txt",
    ".cyclonedx.json",
)
DOWNLOAD = (sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--only-binary=:all:")


def run(*words: str, folder: Path = ROOT, given: str = "") -> str:
    """What a program prints."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=STEP, check=False, input=given)
    if done.returncode:
        told = "\n".join((done.stderr or done.stdout).strip().splitlines()[-5:])
        raise OSError(f"{' '.join(words[:4])} …\n{told}")
    return done.stdout


def found(program: str) -> str:
    path = shutil.which(program)
    if not path:
        raise OSError(f"{program} is not installed")
    return path


def pyodide(into: Path, work: Path) -> dict[str, str]:
    """Its core, and what it says of its Python."""
    into.mkdir()
    run(found("npm"), "pack", PYODIDE, "--silent", "--pack-destination", str(work), folder=work)
    (packed,) = work.glob("pyodide-*.tgz")
    with tarfile.open(packed) as archive:
        for name in CORE:
            inner = archive.extractfile(f"package/{name}")
            assert inner is not None
            (into / name).write_bytes(inner.read())
    lock = json.loads((into / "pyodide-lock.json").read_text("utf-8"))
    (into / "pyodide-lock.json").write_text(json.dumps({**lock, "packages": {}}), "utf-8")  # none of them is loaded
    about: dict[str, str] = lock["info"]
    return about


def archive(file: Path, work: Path, about: dict[str, str]) -> None:
    """archcalc and what it imports, each file once, in the order of their names: like beside like."""
    wheels = work / "wheels"
    wheels.mkdir()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels))
    dependencies(wheels, about)
    files: dict[str, bytes] = {}
    for wheel in wheels.glob("*.whl"):
        files |= read(wheel)
    file.write_bytes(lzma.compress(packed(files), preset=9 | lzma.PRESET_EXTREME))


def dependencies(into: Path, about: dict[str, str]) -> None:
    """pydantic and what it needs, compiled for that Python; PyYAML without its C part, which PyPI does not have for
    Pyodide: the wheel of any machine has the Python part."""
    version = ".".join(about["python"].split(".")[:2])
    wanted = ("--platform", f"pyemscripten_{about['abi_version']}_{about['arch']}", "--python-version", version)
    run(*DOWNLOAD, "--implementation", "cp", *wanted, "-d", str(into), "pydantic")
    run(*DOWNLOAD, "--no-deps", "-d", str(into), "PyYAML")


def read(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel that a page reads, and their licence."""
    with zipfile.ZipFile(wheel) as packed:
        names = [name for name in packed.namelist() if not name.endswith("/") and is_read(name)]
        return {name: packed.read(name) for name in names}


def is_read(name: str) -> bool:
    compiled_elsewhere = name.endswith((".so", ".pyd")) and "emscripten" not in name
    return not (compiled_elsewhere or name.startswith(UNREAD) or name.endswith(UNREAD_KINDS))


def packed(files: dict[str, bytes]) -> bytes:
    """A line of JSON with names and sizes, then every file: quicker to unpack in a page than a tar is."""
    texts = {name: files[name] for name in sorted(files)}
    return b"\n".join(
        (json.dumps({name: len(text) for name, text in texts.items()}).encode(), b"".join(texts.values()))
    )
