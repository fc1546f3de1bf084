"""A weights file of which only the start is at hand, as a browser reads it: the header says all that is counted.

Raises `Short` where more of the file is needed to read its header.
"""

from __future__ import annotations

from io import BytesIO

from archcalc.core.errors import InputError
from archcalc.importers import gguf, gguf_spec, safetensors, weight_names
from archcalc.importers.files import of_shard, of_tensors
from archcalc.spec.yaml_reader import Document

_LENGTH = 8  # bytes that say how long the header of a safetensors file is


class Short(InputError):
    """The header reaches further than what is at hand."""

    def __init__(self) -> None:
        super().__init__("the header is longer than the start of the file that was read")


def of_start(raw: bytes, size: int, name: str) -> Document:
    """The document of a file called `name` of `size` bytes that begins with `raw`."""
    try:
        return _read(raw, max(size, len(raw)), name)
    except InputError as error:
        error.file = error.file or name
        raise


def _read(raw: bytes, size: int, name: str) -> Document:
    if raw[:4] == b"GGUF":
        try:
            return gguf_spec.of_header(gguf.of_start(raw, size), name)
        except gguf.Cut:
            if len(raw) < size:
                raise Short from None
            raise
    weight_names.check(name, raw)
    if name.endswith(".gguf"):
        raise InputError("not a GGUF file: it does not begin with GGUF", "download it again")
    length = int.from_bytes(raw[:_LENGTH], "little")
    if length <= safetensors.LONGEST and len(raw) < _LENGTH + length <= size:  # a longer one is left to its reader
        raise Short
    tensors = safetensors.tensors(safetensors.header(BytesIO(raw), size), size)
    return of_tensors(tensors, name, *of_shard(name))
