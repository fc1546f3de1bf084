"""The engine that people mostly run a model with on a device, where none is named.

usual_engine(Choice(DeviceFacts.of(card), family="transformer", model_type="llama"))    ("vllm", "vLLM is …")
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from archcalc.run.engine import catalog
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.engine.rules import UsualEngines
from archcalc.run.engine.supports import refusal
from archcalc.spec import paths
from archcalc.spec.data_files import node
from archcalc.spec.option import flag_of


class Usual(NamedTuple):
    """The engine's name as `--engine` takes it, and why it is taken."""

    name: str
    why: str


@dataclass(frozen=True)
class Choice:
    """What the choice depends on."""

    device: DeviceFacts
    family: str  # of the spec
    model_type: str = ""  # of transformers; empty where the spec names none
    weights: tuple[str, ...] = ()  # kinds of formats: archcalc.storage.weight_kinds
    generates: bool = True  # whether the model generates tokens one by one, with a cache
    encodes: bool = False  # whether an encoder reads a sequence first
    given: frozenset[str] = frozenset()  # names of the options that were given
    unequal: bool = False  # whether the devices differ


def usual_engine(choice: Choice) -> Usual:
    """By the first rule that holds; the last one holds for all."""
    device = choice.device
    for rule in node(paths.shipped("usual")["engines"], UsualEngines).rules:
        listed = (
            (rule.options, choice.given),
            (rule.weights, choice.weights),
            (rule.makers, [device.maker]),
            (rule.kinds, [device.kind]),
        )
        facts = (
            (rule.named, bool(choice.model_type)),
            (rule.generates, choice.generates),
            (rule.encodes, choice.encodes),
            (rule.unequal, choice.unequal),
            (rule.unknown, not device.maker),
        )
        holds = (
            all(not wanted or set(wanted) & set(there) for wanted, there in listed)
            and all(wanted is None or wanted == there for wanted, there in facts)
            and choice.family not in rule.families_without
        )
        if holds and not (rule.runs and refusal(catalog.engine(rule.engine), device, weights=choice.weights)):
            option = next((name for name in rule.options if name in choice.given), "")
            return Usual(rule.engine, rule.why.replace("{option}", flag_of(option)))
    raise AssertionError("the last rule holds for all")
