"""What a release's count is compared with before it becomes a preset: transformers' class, a published count, the index
of a checkpoint. A difference is an error that says how large it is and where it begins."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

from new_preset import Release

from archcalc.core.errors import InputError
from archcalc.spec.units import parse_size

UNITS = {"k": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}


def compared(release: Release) -> Iterator[str]:
    """What it equals, a sentence each."""
    outside = [*_class(release), *_published(release), *_index(release)]
    if not outside:
        fact = "nothing outside of archcalc says how many parameters it has"
        named = release.as_read.get("model_type", "this type")
        hint = f"install a transformers that has {named}, or give --published or --index"
        raise InputError(fact, hint, field=release.preset)
    yield from outside


def _class(release: Release) -> Iterator[str]:
    """The class that the config names, on the meta device; and archcalc's own reference, which every preset equals."""
    if not importlib.util.find_spec("transformers"):
        return
    import transformers

    if release.as_read.get("model_type") not in transformers.CONFIG_MAPPING:
        return
    report = release.read.verify(quick=True)
    for row in report.rows:
        if not row.equal:
            what = ": ".join(filter(None, (row.group, row.quantity)))
            raise InputError(f"{what}: {_told(row.archcalc, row.reference)}", row.first, field=release.preset)
    yield report.answer().removeprefix("✓ ")
    yield from (f"not compared: {what}: {why}" for what, why in report.left_out.items())


def _published(release: Release) -> Iterator[str]:
    """To the unit, or to the digits printed."""
    said = release.published
    if not said:
        return
    try:
        wanted = parse_size(said)
    except ValueError as reason:
        raise InputError(str(reason), "write 8_190_735_360 or 8.2B", field="--published") from None
    unit = UNITS.get(said[-1], 1)
    decimals = len(said.rstrip("kMBT").partition(".")[2])
    if round(release.total / unit, decimals) != wanted / unit:
        raise InputError(f"published: {_told(release.total, wanted)}", field=release.preset)
    yield f"{release.total:,} parameters are the published {said}"


def _index(release: Release) -> Iterator[str]:
    """The sums that a checkpoint's index gives: parameters in newer ones, bytes in all."""
    if not release.index:
        return
    sums = _metadata(release.index)
    ours = {"total_parameters": release.total, "total_size": _stored(release)}
    known = {name: sums[name] for name in ours if isinstance(sums.get(name), int)}
    if not known:
        raise InputError("neither total_parameters nor total_size is in its metadata", field=str(release.index))
    for name, value in known.items():
        if ours[name] != value:
            hint = "an index counts buffers and multi-token prediction too: name a count without them by --published"
            raise InputError(f"{name} of the index: {_told(ours[name], value)}", hint, field=release.preset)
    yield f"the index has the same {' and '.join(known)}"


def _metadata(index: Path) -> dict[str, object]:
    try:
        said = json.loads(index.read_text(encoding="utf-8"))
    except (OSError, ValueError) as reason:
        raise InputError(f"cannot be read: {reason}", field=str(index)) from None
    found = said.get("metadata") if isinstance(said, dict) else None
    return found if isinstance(found, dict) else {}


def _stored(release: Release) -> int:
    """Bytes of the weights as the checkpoint has them."""
    report = release.read.params()
    return int(report.stored or release.read.memory(seq=1).states["weights"])


def _told(ours: object, theirs: object) -> str:
    off = f", {ours - theirs:+,}" if isinstance(ours, int) and isinstance(theirs, int) and ours != theirs else ""
    counts = (f"{one:,}" if isinstance(one, int) else str(one) for one in (ours, theirs))
    return " against ".join(counts) + off
