"""The values of options that files list, and checks of values that only a run has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.option_words import OFFLOADED
from archcalc.spec import paths
from archcalc.spec.option_checks import memory_size, names
from archcalc.spec.units import parse_rated

COUNTERS = ("nvidia-smi", "allocated", "reserved")  # the driver; torch.cuda.max_memory_allocated, _reserved
OTHER_PARTS = {  # words of DeepSpeed, FSDP, torchtune and TRL
    "optimizer_states": "optimizer",
    "param": "params",
    "parameters": "params",
    "activation": "activations",
    "embeddings": "embedding",
    "moe": "experts",
}


def filed(kind: str) -> Iterable[str]:
    """The names of its files: engines, code, optimizers."""
    return sorted(paths.presets(kind))


def weight_formats() -> Iterable[str]:
    from archcalc.storage.named_formats import names as formats

    return formats()


def cache_formats() -> Iterable[str]:
    from archcalc.storage.named_formats import PLAIN

    return (*PLAIN, *sorted(paths.presets("formats")))


def precisions() -> Iterable[str]:
    """Words for the recipes of training, of which every code has the same, and number formats."""
    from archcalc.spec.data_files import document
    from archcalc.storage.named_formats import PLAIN

    words = document(paths.shipped("code")["plain"]).data["precisions"]
    return dict.fromkeys((*words, *PLAIN))


def parts(value: Any, option: str) -> tuple[str, ...] | None:
    """Names of what is offloaded, each once, in the order of `OFFLOADED`."""
    found = {OTHER_PARTS.get(name, name) for name in names(value, option) or ()}
    for name in sorted(found - set(OFFLOADED)):
        fact = f"no part called {name} can be offloaded; choose from {', '.join(OFFLOADED)}"
        raise InputError(fact, did_you_mean(name, OFFLOADED), field=option)
    return tuple(name for name in OFFLOADED if name in found) or None


def measured(value: Any, option: str) -> tuple[str, int]:
    """Who counted, and how many bytes: `21.3 GiB` is what nvidia-smi shows; `allocated:18.2GiB` and `reserved:19GiB`
    are PyTorch's own counts."""
    by, colon, size = value.partition(":") if isinstance(value, str) else ("", "", value)
    if not colon:
        by, size = COUNTERS[0], value
    found = memory_size(size, option)
    if by.strip() not in COUNTERS:
        raise InputError(f"nothing counts memory as {by.strip()}", did_you_mean(by.strip(), COUNTERS), field=option)
    if not found:
        raise InputError("expected more than 0 bytes", "write what was measured, such as 21.3GiB", field=option)
    return by.strip(), found


def ram(value: Any, option: str) -> int:
    """Bytes of host RAM; modules sold with 64GB have 64GiB."""
    try:
        rated = parse_rated(value) if isinstance(value, str) else None
    except ValueError:
        rated = None
    return rated.bytes if rated else memory_size(value, option)
