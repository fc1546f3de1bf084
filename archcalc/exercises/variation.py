"""Other sizes of the same model: every seed gives a student a sheet of their own.

Equal sizes stay equal, and what is drawn is kept only if the model can be built: heads divide widths, images divide
into patches, residuals add equal widths, as the family itself checks it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from archcalc.core.errors import InputError
from archcalc.model import Model
from archcalc.spec.yaml_reader import Document

TRIES = 500
SMALLEST = 4  # smaller sizes are part of the structure: three colours, kernels of three, two segments
COUNTS = frozenset({"batch", "blocks", "layers", "repeat"})  # of equal things, any number of which will do
STRUCTURE = frozenset({"offset", "theta", "kernels", "strides", "quantization", "scope", "spare"})
ABOUT_THE_ORIGINAL = ("about", "source", "hub", "released", "published", "notes")
ROUND = 64  # widths are multiples of it, where they were
GROUPS = {"batch": "batch", "kernel": "kernel"}  # sizes of one group that are equal stay equal; all others are widths
GROUPS |= dict.fromkeys(("blocks", "layers", "repeat"), "depth")
GROUPS |= {"seq": "length", "length": "length", "vocab": "answers", "classes": "answers"}
Change = Callable[[str, int], int]


def data_of(model: Model) -> dict[str, Any]:
    """Every field that was written, in full (no scalar stands for a mapping), and in the order of the file."""
    fields: dict[str, Any] = model.spec.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    order = [field for field in model.document.data if field in fields]
    return {field: fields[field] for field in (*order, *fields)}


def with_sizes(model: Model) -> Model:
    """The model with its batch and sequence length written out, and without what is told of it, such as its count."""
    work, limits = model.workload(), model.resolved.lengths
    chosen = {work.lengths[name] for name, limit in limits.items() if not limit.fixed}
    sizes = {"batch": work.batch, **({"seq": chosen.pop()} if len(chosen) == 1 else {})}
    told = {field: value for field, value in data_of(model).items() if field not in ABOUT_THE_ORIGINAL}
    return rebuilt(model, {**told, **sizes}) or model


def varied(model: Model, seed: int) -> Model:
    """The same architecture in other sizes: one seed gives one model."""
    draw = random.Random(f"archcalc {seed}")
    data = {"name": "", **data_of(model)} | {"name": f"{model.name}, seed {seed}"}
    sizes: dict[tuple[str, int], None] = {}
    _mapped(data, "", lambda name, size: sizes.setdefault((_group(name), size)) or size)
    for attempt in range(TRIES):
        changed = _mapped(data, "", _change(list(sizes), attempt, draw))
        found = rebuilt(model, changed) if changed != data else None
        if found:
            return found
    hint = "leave --seed out, or give a spec whose sizes can change"
    raise InputError("no other sizes were found that fit together in this model", hint, field="--seed")


def _group(name: str) -> str:
    return GROUPS.get(name, "width")


def _change(sizes: list[tuple[str, int]], attempt: int, draw: random.Random) -> Change:
    """The more tries have failed, the fewer sizes change."""
    share = max(0.15, 1 - attempt / 100)
    near = {(group, size): _near(group, size, draw) for group, size in sizes}
    chosen = {one for one in sizes if draw.random() < share}

    def change(name: str, size: int) -> int:
        one = (_group(name), size)
        varies = one in chosen and (size >= SMALLEST or name in COUNTS)
        return near[one] if varies else size

    return change


def _near(group: str, size: int, draw: random.Random) -> int:
    """From half the size to one and a half times it, as round as the size itself."""
    if group == "kernel":  # an odd kernel stays odd, so that it has a middle
        return max(1, size + draw.choice((-2, 0, 2)))
    step = _step(size)
    low, high = max(1, size // (2 * step)), max(2, 3 * size // (2 * step))
    return step * draw.randint(low, high)


def _step(size: int) -> int:
    """What such a size is a multiple of: 64 for 1024, 1000 for 30,000 and 50,257, 1 for 12."""
    even = size & -size
    if size >= 10_000 and even <= ROUND:
        return int(10 ** (len(str(size)) - 2))
    return min(even, ROUND, 1 << max(0, (size // 8).bit_length() - 1))


def rebuilt(model: Model, data: dict[str, Any]) -> Model | None:
    """The model of other data, traced once to see that it can be; None where its sizes do not fit together."""
    try:
        made = Model.from_document(Document("the worksheet's model", data=data), model.name)
        made.build()
    except (InputError, ValueError):  # two sizes of one dim
        return None
    return made


def _mapped(value: Any, name: str, change: Change) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return change(name, value)
    if isinstance(value, dict):
        return {key: inner if key in STRUCTURE else _mapped(inner, key, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [_mapped(inner, name, change) for inner in value]
    return value
