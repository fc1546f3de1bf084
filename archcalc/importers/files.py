"""Detects what a file is by its content rather than its name, and reads it as a document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from archcalc.core.errors import InputError
from archcalc.importers import beside, weight_names
from archcalc.importers.asked import PLAINLY, Asked
from archcalc.importers.beside import CONFIG, MAX_JSON, json_object
from archcalc.spec.yaml_reader import MAX_BYTES, Document, read

WEIGHTS = (weight_names.INDEX, "model.safetensors")
MAX_INDEX = 10**8  # the longest that are published have a tenth of that


def of_path(path: Path, shown: str, *, asked: Asked = PLAINLY) -> Document:
    """The spec in a file or folder, or the one that another kind of file stands for."""
    try:
        if path.is_dir() or (path.name == CONFIG and path.is_file()):
            from archcalc.importers import folders

            return folders.document(path, asked) if path.is_dir() else folders.described(path, shown, asked)
        start = text(path)
        # a file that opens as specs do: in letters, and neither as JSON, as weights, nor as what stands for them
        plain = start[:8].isascii() and start[:8].decode().isprintable()
        if plain and path.suffix in _YAML and not start.startswith((b"{", b"GGUF", weight_names.POINTER)):
            return read(start, shown)
        return of_start(path, start, shown, asked)
    except InputError as error:
        error.file = error.file or shown
        raise
    except OSError as reason:
        raise InputError(f"cannot be read: {reason.strerror or reason}", field=shown) from None


def of_bytes(raw: bytes, shown: str, *, asked: Asked = PLAINLY) -> Document:
    """A spec, or a config.json, that is at hand as a whole."""
    said = json_object(raw, shown)
    return (said and of_object(said, shown, asked=asked)) or read(raw, shown)


def of_object(said: dict[str, Any], shown: str, *, asked: Asked = PLAINLY) -> Document | None:
    """A config of transformers, or what stands for one; None for what may be a spec. Others are refused in words."""
    from archcalc.importers import others, params_json

    if other := others.recognised(said):
        other.file = shown
        raise other
    if params_json.is_params(said):
        found = of_config(params_json.config(said), shown, asked=asked)
        found.notes = (*found.notes, *params_json.NOTES)
        return found
    if _CONFIG_KEYS & set(said):
        return of_config(said, shown, asked=asked)
    return None


def of_files(held: Mapping[str, bytes], shown: str, *, asked: Asked = PLAINLY) -> Document:
    """A config.json with what lies beside it, by their names: `beside.NAMES` are read, wherever they come from."""
    said, notes = beside.config(held)
    found = (said and of_object(said, shown, asked=asked)) or read(held[CONFIG], shown)
    found.notes = (*found.notes, *notes)
    return found


def of_data(said: dict[str, Any], *, asked: Asked = PLAINLY) -> Document:
    """The same, as a dict."""
    return of_object(said, "config", asked=asked) or Document("spec", data=said)


_YAML = (".yaml", ".yml")
_CONFIG_KEYS = {"model_type", "architectures", "transformers_version"}  # of every config.json, and of no spec


def of_config(said: dict[str, Any], shown: str, *, asked: Asked = PLAINLY) -> Document:
    """What a translator makes of it; what none reads, or reads in part, transformers builds where that is asked for."""
    from archcalc.importers.hf._helpers import imported

    try:
        found = imported.document(said, shown, asked.like)
    except InputError as error:
        error.file = error.file or shown
        if not asked.trace:
            raise
        why = error.fact
    else:
        if not (asked.trace and found.whole):
            return found
        why = "a part of it alone"
    from archcalc.importers import trace as tracing
    from archcalc.importers.hf._helpers.texts import untraced

    found = tracing.document(said, shown, why)  # the whole model, but for what transformers does not build either
    found.data |= untraced(said)
    return found


def of_start(path: Path, start: bytes, shown: str, asked: Asked) -> Document:
    """What begins with `start`: weights, or a spec or config in JSON."""
    if not path.is_file() and (start[:4] == b"GGUF" or _is_safetensors(start) or _is_index(start)):
        raise InputError("a weights file cannot be read from a pipe", "save them to a file, and name that")
    if path.suffix == ".gguf" and start[:4] != b"GGUF":
        raise InputError("not a GGUF file: it does not begin with GGUF", "download it again")
    if start[:4] == b"GGUF":
        from archcalc.importers import gguf_spec

        return gguf_spec.document(path, shown)
    if _is_safetensors(start) or path.suffix == ".safetensors":
        from archcalc.importers import safetensors

        return of_tensors(safetensors.read(path), shown, *of_shard(path.name))
    if _is_index(start):
        from archcalc.importers import safetensors

        return of_tensors(safetensors.sharded(index_in(path), path.parent), shown)
    weight_names.check(path.name, start)
    return of_bytes(start, shown, asked=asked)


def of_shard(name: str) -> tuple[str, ...]:
    shard = re.fullmatch(weight_names.SHARD, name)
    if not shard:
        return ()
    return (f"shard {int(shard[2])} of {int(shard[3])}: the others are not counted; give the index file",)


def text(path: Path) -> bytes:
    """The start of a file, or the whole of one that may be a long config: a byte more than is read, at most."""
    with path.open("rb") as stream:
        start = stream.read(MAX_BYTES + 1)
        long_json = len(start) > MAX_BYTES and start[:4].lstrip(b"\xef\xbb\xbf \n\r\t")[:1] == b"{" and path.is_file()
        if long_json and not _is_index(start):
            start += stream.read(MAX_JSON - MAX_BYTES)
    return start


def _is_index(start: bytes) -> bool:
    return start.lstrip()[:1] == b"{" and b'"weight_map"' in start


def _is_safetensors(start: bytes) -> bool:
    """The header's length in eight bytes, which no text opens with, and an opening brace behind it."""
    return start[8:9] == b"{" and b"\0" in start[:8]


def index_in(path: Path) -> dict[str, Any]:
    """An index may be longer than any config: it has a line for each tensor."""
    with path.open("rb") as stream:
        raw = stream.read(MAX_INDEX + 1)
    if len(raw) > MAX_INDEX:
        raise InputError(f"more than {MAX_INDEX:,} bytes are too long for an index", "download it again")
    return index_of(raw)


def index_of(raw: bytes) -> dict[str, Any]:
    import json

    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        raise InputError("the index is not JSON", "download it again") from None
    if not isinstance(found, dict):
        raise InputError("the index is not a JSON object", "download it again")
    return found


def of_tensors(tensors: Any, shown: str, *notes: str) -> Document:
    """A file of weights with nothing to say what is computed with them."""
    data = {"family": "weights", "tensors": {name: stored.written() for name, stored in tensors.items()}}
    return Document(shown, data=data, notes=notes, file_notes=(f"in the file: {contents(tensors)}",))


def contents(tensors: Any) -> str:
    """What of a file are parameters, and what stands beside them, with the bytes of each."""
    from archcalc.storage.packed_tensors import BUFFER, PARAMETER, SCALE, UNKNOWN, uses

    used = uses(tensors)

    def those(role: str, *, packed: bool = False) -> dict[str, Any]:
        wanted = {name for name, use in used.items() if use.role == role and use.packed == packed}
        return {name: tensors[name] for name in tensors if name in wanted}

    plain = {**those(PARAMETER), **those(UNKNOWN)}
    words = [by_format(plain)] if plain else []
    if packed := those(PARAMETER, packed=True):
        weights = sum(used[name].weights for name in packed)
        words.append(f"{weights:,} weights packed into {by_format(packed)}")
    for name, role in {"scales and zeros of quantised weights": SCALE, "buffers": BUFFER}.items():
        if held := those(role):
            words.append(f"{name}: {by_format(held)}")
    return "; ".join(words) or "nothing"


def by_format(tensors: Any) -> str:
    """`bf16 8,030,261,248 numbers in 16,060,522,496 bytes`, for each format."""
    numbers: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    for stored in tensors.values():
        numbers[stored.format] += stored.elements
        taken[stored.format] += stored.bytes
    parts = [f"{numbers[name]:,} numbers as {name} in {taken[name]:,} bytes" for name, _ in taken.most_common()]
    return "; ".join(parts) or "nothing"
