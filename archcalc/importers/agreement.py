"""Whether weights hold what their config says, in one sentence."""

from __future__ import annotations

from archcalc.document import Document
from archcalc.model import from_document
from archcalc.stored_tensors import Stored

PACKED = ("int", "uint", "fp8_e8m0", "fp4")  # formats in which one number may stand for several weights


def told(found: Document, tensors: dict[str, Stored], file: str) -> str:
    """Compare the number of weights; where they differ, name a tensor that alone explains it."""
    if any(stored.format.startswith(PACKED) for stored in tensors.values()):
        return _packed(found, tensors, file)
    counted = int(from_document(found, "model").params().total)
    held = sum(stored.elements for stored in tensors.values())
    if held == counted:
        return f"{file} holds {held:,} weights, as the config says"
    more = held - counted
    return f"{file} holds {held:,} weights, {_difference(more)} than the config says{_reason(more, tensors)}"


def _packed(found: Document, tensors: dict[str, Stored], file: str) -> str:
    """Numbers that stand for several weights: their bytes are compared."""
    told = from_document(found, "model").stored_bytes
    if told is None:
        return f"{file} holds packed numbers, which are not compared with the config"
    more = sum(stored.bytes for stored in tensors.values()) - told
    if not more:
        return f"{file} takes {told:,} bytes, as quantization_config says"
    return f"{file} takes {told + more:,} bytes, {_difference(more)} than quantization_config says"


def _difference(more: int) -> str:
    return f"{abs(more):,} {'more' if more > 0 else 'fewer'}"


def _reason(more: int, tensors: dict[str, Stored]) -> str:
    alone = [name for name, stored in tensors.items() if more > 0 and stored.elements == more]
    if not alone:
        return ""
    head = [name for name in alone if "head" in name or "output" in name]
    return f": {(head or alone)[0]} is as large as that"
