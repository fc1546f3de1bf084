"""The engine of an inference run: the one that was asked for, on a device the one that people run there, else none.

A forward pass alone is PyTorch's: engines keep a cache."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from archcalc.core.errors import InputError
from archcalc.network import Network
from archcalc.run.choice import Choice, Reason
from archcalc.run.engine import usual
from archcalc.run.engine.catalog import PLAIN
from archcalc.run.engine.running import Running, running
from archcalc.run.generating import generates
from archcalc.run.options import Options
from archcalc.storage.weight_kinds import kind_of_format, kinds_of_config

if TYPE_CHECKING:
    from archcalc.storage.weight_storage import StoredWeights

NO_ENGINE = "no engine: one forward pass in PyTorch, and nothing is set aside"


def chosen_engine(model: Network, asked: Options, stored: StoredWeights | None) -> tuple[Running, Choice]:
    """With every choice of its own made, and why it runs."""
    kinds = _kinds(model, stored)
    if asked.engine:
        used = running(asked, model.spec.family, kinds)
        return used, _choice(used, Reason.ASKED)
    is_alone = asked.mode == "forward"
    if asked.device is None or is_alone:
        made = Choice("engine", PLAIN, "plain PyTorch", Reason.ARCHCALC, NO_ENGINE, is_fixed=is_alone)
        return running(asked, model.spec.family, kinds), made
    found = usual.usual_engine(_question(model, asked, kinds))
    used = running(replace(asked, engine=found.name), model.spec.family, kinds)
    return used, _choice(used, Reason.ARCHCALC, f": {found.why}")


def _kinds(model: Network, stored: StoredWeights | None) -> tuple[str, ...]:
    """In which the model's files store some layer."""
    if stored and stored.file_kind:
        return (stored.file_kind,)
    return kinds_of_config(model.spec.quantization) if stored and stored.is_quantised else ()


def _choice(used: Running, reason: Reason, why: str = "") -> Choice:
    words = "plain PyTorch" if used.rules.name == PLAIN else used.words
    return Choice("engine", used.rules.name, words, reason, f"engine: {words}{why}")


def _generates(model: Network) -> bool:
    """Whether it generates tokens one by one; a list of tensors does not say."""
    if not model.resolved.lengths:
        return not model.is_computed
    try:
        return generates(model)
    except InputError:
        return False


def _question(model: Network, asked: Options, kinds: tuple[str, ...]) -> usual.Choice:
    """What the choice depends on."""
    assert asked.device
    named = kind_of_format(asked.weights) if asked.weights else ""
    return usual.Choice(
        device=asked.device,
        family=model.spec.family,
        model_type=model.model_type,
        weights=(named,) if named else kinds,
        generates=_generates(model),
        encodes=len(model.resolved.lengths) > 1,
        given=frozenset(asked.given),
        unequal=asked.device.group is not None and not asked.device.group.is_uniform,
    )
