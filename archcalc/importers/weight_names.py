"""Weight files by name: which formats are read, and the error for the others. Pickles are never opened."""

from __future__ import annotations

import re
from collections.abc import Collection

from archcalc.core.errors import InputError

INDEX = "model.safetensors.index.json"
_INDEX = r".+\.safetensors\.index(\.\w+)?\.json"
SHARD = r"(.+)-([0-9]{5})-of-([0-9]{5})(.*)\.safetensors"
_TAKES = "can run code when it is opened, so archcalc never opens it"
CONVERT = "give the safetensors weights, or the model's config.json"
_KINDS = {
    r".+\.(bin|pt|pth|ckpt|pkl|pickle|th)": f"a PyTorch pickle, which {_TAKES}",
    r".+\.(h5|keras)": "weights of Keras",
    r".+\.msgpack": "weights of Flax",
    r".+\.(onnx|ort|tflite|pb|mlmodel|engine|plan|pdparams|nemo|npz|npy|ot)": "weights of another library",
}
_MAGIC = {
    b"PK\x03\x04": f"a zip archive, as PyTorch pickles are, which {_TAKES}",
    b"\x89HDF": "weights of Keras (HDF5)",
}
POINTER = b"version https://git-lfs"
_MOST_LISTED = 8


def is_index(name: str) -> bool:
    return re.fullmatch(_INDEX, name) is not None


def chosen(names: Collection[str]) -> str | None:
    """The weight file among the names in a folder or repository; None if there is none or more than one."""
    found = sorted(name for name in names if name.endswith(".safetensors") or is_index(name))
    for usual in (INDEX, "model.safetensors", "diffusion_pytorch_model.safetensors.index.json"):
        if usual in found:
            return usual
    first = {_model(name): name for name in reversed(found)}  # an index stands behind its shards
    indices = [name for name in found if is_index(name)]
    return next(iter(indices or first.values())) if len(first) == 1 else None


def parts(name: str, names: Collection[str]) -> list[str]:
    """All shards of the model that a shard belongs to; any other file by itself."""
    shard = re.fullmatch(SHARD, name)
    if not shard:
        return [name]
    number = int(shard[3])
    wanted = [f"{shard[1]}-{part:05}-of-{shard[3]}{shard[4]}.safetensors" for part in range(1, number + 1)]
    gone = [name for name in wanted if name not in names]
    if gone:
        raise InputError(f"the shard {gone[0]} is missing", "download it; all shards belong in one folder")
    return wanted


def _model(name: str) -> str:
    """The name that all shards of a model and their index share."""
    shard = re.fullmatch(SHARD, name)
    if shard:
        return f"{shard[1]}{shard[4]}"
    if is_index(name):
        stem, _, variant = name.removesuffix(".json").partition(".safetensors.index")
        return f"{stem}{variant}"
    return name.removesuffix(".safetensors")


def unread(names: Collection[str]) -> str:
    """A sentence about weight files that are present but not read; empty if there are none."""
    tensors = sorted(name for name in names if name.endswith(".safetensors"))
    if tensors:
        more = f" and {len(tensors) - _MOST_LISTED} more" if len(tensors) > _MOST_LISTED else ""
        return f"there are several weight files here ({', '.join(tensors[:_MOST_LISTED])}{more})"
    for name in sorted(names):
        if what := kind(name):
            return f"{name} is {what}"
    return ""


def kind(name: str, start: bytes = b"") -> str:
    """The kind of an unreadable weight file, by its name and first bytes; empty for one that can be read."""
    if start.startswith(b"\x80") and start[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return f"a pickle, which {_TAKES}"
    magic = next((words for opening, words in _MAGIC.items() if start.startswith(opening)), "")
    return magic or next((words for pattern, words in _KINDS.items() if re.fullmatch(pattern, name.lower())), "")


def check(name: str, start: bytes) -> None:
    """Raise an error for a weight file in a format that is not read."""
    check_fetched(start)
    if what := kind(name, start):
        raise InputError(f"this is {what}", CONVERT)


def check_fetched(start: bytes) -> None:
    """Raise an error for a Git LFS pointer file."""
    if start.startswith(POINTER):
        raise InputError("this is a Git LFS pointer, not the file itself", "run `git lfs pull` in its folder")
