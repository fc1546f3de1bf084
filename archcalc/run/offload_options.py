"""What is kept in host RAM in place of GPU memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.option_words import BYTES, FIT, INFERENCE, MODES, TRAIN
from archcalc.spec.option import option
from archcalc.spec.option_checks import flag, memory_size, names, number
from archcalc.spec.units import parse_rated

OF_INFERENCE: dict[str, Any] = {"modes": INFERENCE, "commands": BYTES}
PARTS = {  # what --offload takes, and in which modes it has an effect
    "optimizer": TRAIN,
    "params": TRAIN,
    "activations": TRAIN,
    "experts": INFERENCE,
    "embedding": MODES,
}
OTHER_WORDS = {  # of DeepSpeed, FSDP, torchtune and TRL
    "optimizer_states": "optimizer",
    "param": "params",
    "parameters": "params",
    "activation": "activations",
    "embeddings": "embedding",
    "moe": "experts",
}


def parts(value: Any, option: str) -> tuple[str, ...] | None:
    """Names of what is offloaded, each once, in the order of `PARTS`."""
    found = {OTHER_WORDS.get(name, name) for name in names(value, option) or ()}
    for name in sorted(found - set(PARTS)):
        fact = f"no part called {name} can be offloaded; choose from {', '.join(PARTS)}"
        raise InputError(fact, did_you_mean(name, PARTS), field=option)
    return tuple(name for name in PARTS if name in found) or None


def ram(value: Any, option: str) -> int:
    """Bytes of host RAM; modules sold with 64GB have 64GiB."""
    try:
        rated = parse_rated(value) if isinstance(value, str) else None
    except ValueError:
        rated = None
    return rated.bytes if rated else memory_size(value, option)


@dataclass(frozen=True)
class OffloadOptions:
    """Offload to host RAM; the options that llama.cpp has too mean what they mean there."""

    offload: tuple[str, ...] | None = option(
        "Keep these in host RAM. Training: optimizer, params, activations, embedding. Inference: experts, embedding.",
        parts,
        metavar="PARTS",
        commands=BYTES,
    )
    ngl: int | None = option(
        "Keep only the last N layers on the GPU, of which the output layer is one, and the others in host RAM.",
        number,
        metavar="N",
        **OF_INFERENCE,
        also=("n_gpu_layers", "gpu_layers"),
        one_dash=("-ngl",),
    )
    cpu_moe: bool | None = option(
        "Keep the experts of all layers in host RAM, as --offload experts does.",
        flag,
        **OF_INFERENCE,
        one_dash=("-cmoe",),
    )
    n_cpu_moe: int | None = option(
        "Keep the experts of the first N layers in host RAM.",
        number,
        metavar="N",
        **OF_INFERENCE,
        one_dash=("-ncmoe",),
    )
    host: int | None = option(
        "Host RAM that there is, such as 64GB: the model fits if what is offloaded fits there too.",
        ram,
        metavar="SIZE",
        commands=FIT,
    )
