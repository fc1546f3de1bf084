"""Training methods, read from presets/methods: what a step computes besides a supervised one.

method(asked)        the method that was asked for, with its reference model and its way to generate
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from archcalc.core.assumptions import Assumption, Topic
from archcalc.spec import paths
from archcalc.spec.data_files import document

if TYPE_CHECKING:
    from archcalc.run.options import Options
    from archcalc.run.precision_recipes import Recipe


@dataclass(frozen=True)
class Method:
    """How a step differs from supervised fine-tuning."""

    name: str = "sft"
    about: str = ""
    source: str = ""
    sequences: int = 1  # that are computed for one of the batch
    reads_tokens: bool = False  # the log-probability of every token makes the loss, in place of the model's own
    reference: str = "none"  # same: a frozen model on the same GPUs
    reference_pass: str = ""  # when it runs: rollout, before the step, or loss, behind the forward pass
    logits: str = "freed"  # or held until the loss is computed
    copied_logits: int = 0  # one in so many is copied besides
    is_fused: bool = False  # the head gives log-probabilities, tile by tile, and no logits
    rollout: str = "none"  # who generates: nobody, policy, same, sleep, other


SFT = Method()


def method(asked: Options, *, is_fused: bool = False) -> Method:
    """With what was asked for in the place of the usual; `is_fused`: by a head that keeps no logits."""
    found = Method(**document(paths.shipped("methods")[asked.method]).data) if asked.method else SFT
    if found.reads_tokens and is_fused:
        found = replace(found, is_fused=True, logits="freed", copied_logits=0)
    return replace(found, reference=asked.reference or found.reference, rollout=asked.rollout or found.rollout)


def returns_fp32(recipe: Recipe) -> bool:
    """Whether the model's logits are fp32: under autocast accelerate casts them (convert_outputs_to_fp32), DeepSpeed,
    FSDP2 and plain training leave them as they are."""
    return recipe.autocast or recipe.activations == "fp32"


def assumed(asked: Options, used: Method, recipe: Recipe) -> Iterator[Assumption]:
    """What a method that reads the log-probability of every token takes for granted, each with the option that changes
    it."""
    name = used.name.upper()
    of = "TRL 1.16" if used.is_fused else "TRL of July 2026"
    yield Assumption(Topic.METHOD, f"{name} as {of} computes it", used.name)
    if used.sequences > 1:
        text = "batch: pairs of a chosen and a rejected sequence, both computed in one forward pass"
        yield Assumption(Topic.METHOD, text, used.sequences)
    logits = "fp32" if returns_fp32(recipe) else recipe.activations
    text = f"logits of every position in {logits}; their log-probabilities are taken one sequence at a time"
    if used.is_fused:
        text = "log-probabilities are taken tile by tile, by a head that keeps no logits"
    yield Assumption(Topic.METHOD, text, logits)
    text, held = "a frozen reference model beside the policy, its weights in the same number format", "same"
    if used.reference == "none":
        why = "beta 0, TRL's default" if used.rollout != "none" else "its log-probabilities are computed beforehand"
        text, held = f"no reference model: {why}", "none"
    elif asked.lora:
        text = "the reference is the policy without its adapters: a forward pass, and no second copy of the weights"
        held = "adapters off"
    yield Assumption(Topic.METHOD, text, held, "" if asked.reference else "--reference")
    if used.rollout in ROLLOUT:
        yield Assumption(Topic.METHOD, ROLLOUT[used.rollout], used.rollout, "" if asked.rollout else "--rollout")


ROLLOUT = {
    "policy": "the policy itself generates (TRL without use_vllm)",
    "same": "an inference engine on the same GPUs generates, and stays there while training",
    "sleep": "an inference engine on the same GPUs generates; while training it sleeps, and takes nothing",
    "other": "an inference engine on other GPUs generates",
}
