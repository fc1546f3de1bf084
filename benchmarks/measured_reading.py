"""Figures out of the JSON that a command prints: one place that knows where each stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from measured_command import Record, Refused

from archcalc.run.code.library import base

COMPUTED = ("activations", "logits", "temporary", "buffers")


def figure(quantity: str, record: Record) -> float:
    """In bytes, or as a count; refused where the record has no such figure."""
    try:
        found = READ[quantity](record)
    except (KeyError, IndexError, TypeError, ZeroDivisionError):
        found = None
    if found is None:
        raise Refused(f"the answer has no figure for {quantity}")
    return float(found)


def band(record: Record, quantity: str = "") -> float | None:
    """The error that the answer states, as a fraction; None where it states none. A pool has a band of its own, and so
    have the figures of a training step."""
    if quantity == "pool":
        stated = _row(record).get("kv_pool_band")
    else:
        stated = (record.get("bands") or {}).get(quantity, record.get("band"))
    return float(stated) if stated is not None else None


def capacity(record: Record) -> float:
    """The memory of the device, in bytes."""
    return float(_row(record)["capacity_bytes"])


def verdict(record: Record) -> str | None:
    """fits, tight, does not fit, cannot say; None of a command that does not judge."""
    return record["rows"][0].get("verdict") if record.get("rows") else None


def is_part(record: Record) -> bool:
    """Whether parts that the run needs are not counted, as `fit` says of its devices."""
    return any(row.get("not_counted") for row in record.get("rows") or ())


def runner(record: Record, typed: str | None) -> str:
    """Whose memory the answer is: the code or engine that was resolved, else the one that was typed; of a code that
    trains another's layers, that other."""
    choices = (record.get("run") or {}).get("choices") or {}
    name = "code" if record.get("mode") == "train" else "engine"
    chosen = choices.get(name, {}).get("value")
    found = str(chosen or typed or "plain").partition("@")[0].lower()
    return base(found) if name == "code" else found


def _row(record: Record) -> dict[str, Any]:
    """The one device that was asked about."""
    found: dict[str, Any] = record["rows"][0]
    return found


def _token(record: Record) -> float:
    """Of a pool, its bytes by its tokens; without one, the cache of what was asked."""
    row = record["rows"][0] if record["rows"] else {}
    if row.get("kv_pool_tokens"):
        return float(row["kv_pool_bytes"] / row["kv_pool_tokens"])
    return float(record["parts"]["kv_cache"] / (record["batch"] * record["seq"]))


def _file(record: Record) -> int:
    """All weights, those in host RAM too."""
    return int(record["parts"]["weights"] + (record.get("host_parts") or {}).get("weights", 0))


READ: dict[str, Callable[[Record], Any]] = {
    "allocated": lambda record: record["allocated_bytes"],
    "reserved": lambda record: record["reserved_bytes"],
    "device": lambda record: record["required_bytes"],
    "host": lambda record: record["host_bytes"],
    "inference": lambda record: record["total_bytes"] - record["parts"]["overhead"],
    "weights": lambda record: record["parts"]["weights"],
    "file": _file,
    "pool": lambda record: _row(record)["kv_pool_bytes"],
    "token": _token,
    "cache": lambda record: record["parts"]["kv_cache"],
    "state": lambda record: record["parts"]["state"],
    "compute": lambda record: sum(record["parts"].get(part, 0) for part in COMPUTED),
    "host_buffer": lambda record: record["host_parts"]["buffers"],
    "parameters": lambda record: record["total"],
    "flops": lambda record: (record["forward"] + record["backward"]) / record["tokens"],
    "rule": lambda record: record["rule"],
}
