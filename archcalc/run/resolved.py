"""A run: every option of a question filled in and checked against the model, with the reason for every value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from archcalc.core.assumptions import Assumption
from archcalc.core.mesh import Plan
from archcalc.run.choice import Choice
from archcalc.run.code import OWN, Code
from archcalc.run.engine.running import PLAIN_RUNNING, Running
from archcalc.run.methods import SFT, Method
from archcalc.run.offload import Offload
from archcalc.run.optimizers import Optimizer
from archcalc.run.pipeline import Stage
from archcalc.run.precision_recipes import Recipe
from archcalc.storage.format import Format

if TYPE_CHECKING:
    from archcalc.storage.weight_storage import WeightStorage


@dataclass(frozen=True)
class Run:
    """Number formats, kernels, code or engine, recipe, plan and devices. Made by `archcalc.run.resolve`."""

    mode: str
    plan: Plan
    format: WeightStorage
    activations: str  # number format
    attention: str
    trains: bool = False
    recipe: Recipe | None = None
    optimizer: Optimizer | None = None
    accumulate: int = 1
    recompute: str = "none"
    loss_chunks: int = 1
    compile: str = "none"
    reshard: str = "always"  # after the forward pass: always, but the last block, never
    code: Code = OWN
    allocator: str = "plain"
    method: Method = SFT
    stage: Stage | None = None  # of a pipeline
    offload: Offload = field(default_factory=Offload)
    freeze: tuple[str, ...] = ()
    lora: int | None = None
    lora_targets: tuple[str, ...] = ()
    kv_format: Format | None = None  # of keys, and of values unless they have their own
    value_format: Format | None = None
    kv_rule: str = "window"
    state_format: Format | None = None
    prefill: int | None = None
    shared_prefix: int = 0
    overhead: int | None = None
    shift: int = 0  # of the overhead, such that a measured run is met
    engine: Running = PLAIN_RUNNING
    unloaded: frozenset[str] = frozenset()  # images, audio: what the towers read that the engine does not load
    cards: str = field(default="", compare=False)  # that it runs on, where they were named
    devices: str = ""  # their kind
    choices: tuple[Choice, ...] = ()
    assumptions: tuple[Assumption, ...] = ()  # besides those of the choices
    estimates: tuple[str, ...] = ()
    # as forward code computes it: what an engine's own kernel stores is added to a kernel that stores nothing
    traced_attention: str = ""
    said: frozenset[str] = frozenset()  # the options that were given, and not filled in

    @property
    def cache_name(self) -> str:
        """Of the KV cache, as --kv-dtype takes it."""
        kept = (one.name.lower() for one in (self.kv_format, self.value_format) if one)
        return ",".join(dict.fromkeys(kept))

    def choice(self, name: str) -> Choice | None:
        """The value of one option, with its reason."""
        return next((each for each in self.choices if each.name == name), None)
