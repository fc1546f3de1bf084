"""Write a file atomically: a full disk or an interrupt leaves an existing file unchanged. And what -o asks for."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path

from archcalc.core.errors import InputError

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def suffix_of(output: str, known: Collection[str]) -> str:
    """One of those that are known, in small letters."""
    suffix = Path(output).suffix.lower()
    if suffix not in known:
        fact = f"no type of file is known by the suffix {suffix}" if suffix else "the file's name has no suffix"
        raise InputError(fact, f"choose from: {' '.join(known)}", field=output or "-o")
    return suffix


def check_output(output: str | None, known: Collection[str], *, has_format: bool, force: bool) -> None:
    """Of a command that prints, or writes a file whose suffix is its format; before anything is computed."""
    if output is not None:
        suffix_of(output, known)
        if has_format:
            raise InputError("the suffix of the file decides", "leave out --format or -o", field="--format")
    elif force:
        raise InputError("--force has no effect where no file is written", "name one with -o", field="--force")


def stem_of(model: str) -> str:
    """By the last part of a model's name or path: `hf:openai-community/gpt2` is `gpt2`."""
    last = re.split(r"[/\\:]", model.rstrip("/\\"))[-1]
    stem = re.sub(r"\.(ya?ml|json|safetensors|gguf)$", "", last)
    return stem if stem.strip(".-") else "model"


def free_path(stem: str, suffix: str) -> Path:
    """`gpt2.svg`, or `gpt2-2.svg` where that is there already."""
    names = chain([stem], (f"{stem}-{number}" for number in count(2)))
    return next(path for path in (Path(f"{name}{suffix}") for name in names) if not os.path.lexists(path))


def write(path: Path, content: str | bytes, *, replace: bool) -> None:
    """Write to a temporary file in the same folder, then move it; an existing file is replaced only with --force."""
    with _told(path):
        mode = _mode_there(path, replace)
        _moved(path, content.encode() if isinstance(content, str) else content, mode)


def check_free(path: Path, *, replace: bool) -> None:
    """Refuse what `write` would refuse, before anything is written."""
    with _told(path):
        _mode_there(path, replace)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise InputError("the file is there already", "choose another name, or add --force", field=str(path)) from None
    except OSError as reason:
        raise InputError(f"cannot be written: {reason.strerror or reason}", field=str(path)) from None


def _mode_there(path: Path, replace: bool) -> int | None:
    """The permissions of the file that will be replaced; None if there is no such file."""
    try:
        there = path.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(there.st_mode):
        hint = "name the file that it points to, or remove the link"
        raise InputError("this is a symbolic link, which archcalc does not write through", hint, field=str(path))
    if not stat.S_ISREG(there.st_mode):
        kind = _KINDS.get(stat.S_IFMT(there.st_mode), "no plain file")
        raise InputError(f"this is {kind}", "name a plain file", field=str(path))
    if not replace:
        raise FileExistsError
    if not os.access(path, os.W_OK):
        raise InputError("cannot be written: the file is read-only", "choose another name", field=str(path))
    return stat.S_IMODE(there.st_mode)


def _moved(path: Path, content: bytes, mode: int | None) -> None:
    """A new file, without a mode, never replaces one that was made meanwhile: linking fails where moving overwrites."""
    handle, name = tempfile.mkstemp(prefix=".archcalc-", dir=path.parent)
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            beside.chmod(mode)
            beside.replace(path)
            return
        mask = os.umask(0)  # which `mkstemp` ignores
        os.umask(mask)
        beside.chmod(0o666 & ~mask)
        try:
            path.hardlink_to(beside)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if path.exists():
                raise FileExistsError from None
            beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
