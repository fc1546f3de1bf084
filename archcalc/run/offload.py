"""What a question keeps in host RAM, and which options of that contradict others."""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.core.errors import InputError
from archcalc.run.all_options import AllOptions
from archcalc.run.option_words import OFFLOADED

EVERY = 2**40  # layers: all that there are
UPDATED_THERE = ("optimizer", "params")  # parts with which the CPU computes the optimizer's step


@dataclass(frozen=True)
class Offload:
    """What is in host RAM. `experts` is of how many of the first layers; `gpu_layers` how many layers are not there,
    None where layers are not dealt out."""

    optimizer: bool = False
    params: bool = False
    activations: bool = False
    embedding: bool = False
    experts: int = 0
    gpu_layers: int | None = None
    updates: bool = False  # the optimizer's step is computed by the CPU, where its states and the gradients are

    @classmethod
    def of(cls, asked: AllOptions) -> Offload:
        said = set(asked.offload or ())
        every = "experts" in said or asked.cpu_moe
        return cls(
            optimizer="optimizer" in said,
            params="params" in said,
            activations="activations" in said,
            embedding="embedding" in said,
            experts=EVERY if every else asked.n_cpu_moe or 0,
            gpu_layers=asked.ngl,
            updates=not said.isdisjoint(UPDATED_THERE),
        )

    def __bool__(self) -> bool:
        return self != Offload()


INSTEAD = {
    "params": "use --ngl N, which keeps the last N layers on the GPU, or leave params out",
    "experts": "use --offload params, or leave experts out",
}


def check_offload(asked: AllOptions) -> None:
    """Refuse parts that have no effect in this mode, and options that contradict each other."""
    offload = Offload.of(asked)
    for part in asked.offload or ():
        if asked.mode not in OFFLOADED[part]:
            hint = INSTEAD.get(part, f"add --mode train, or leave {part} out")
            raise InputError(f"{part} has no effect with --mode {asked.mode}", hint, field="--offload")
    if asked.n_cpu_moe is not None and offload.experts == EVERY:
        fact = "the experts of all layers are in host RAM already"
        raise InputError(fact, "leave --n-cpu-moe out, or --cpu-moe", field="--n-cpu-moe")
    if asked.ngl is not None and asked.kv_rule == "vllm":
        fact = "vLLM deals out no layers between GPU and host RAM"
        raise InputError(fact, "leave --ngl out, or --kv-rule", field="--ngl")
    if asked.host is not None and not offload:
        raise InputError("nothing is offloaded", "add --offload or --ngl, or leave --host out", field="--host")
    if offload.params and asked.zero in (1, 2):  # parameters are offloaded in shards
        fact = f"ZeRO stage {asked.zero} keeps all parameters on every GPU"
        raise InputError(fact, "use --zero 3 with --offload params", field="--offload")
    if offload.embedding and (offload.params or asked.zero == 3):
        fact = "ZeRO-3 gathers the input tables like all other weights"
        raise InputError(fact, "leave embedding out: --offload params has the tables among them", field="--offload")
