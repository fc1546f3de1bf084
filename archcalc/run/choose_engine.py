"""The engine of an inference run: the one that was asked for, on a device the one that people run there, else none.

A forward pass alone is PyTorch's: engines keep a cache."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from archcalc.core.errors import InputError
from archcalc.core.ir import Region, walk
from archcalc.core.positions import GROWING
from archcalc.core.tree import ops_in
from archcalc.network import Network
from archcalc.run.choice import Choice, Reason
from archcalc.run.engine import usual
from archcalc.run.engine.catalog import PLAIN
from archcalc.run.engine.rules import EngineRules
from archcalc.run.engine.running import Running, running
from archcalc.run.options import Options
from archcalc.storage.weight_kinds import kind_of_format, kinds_of_config

if TYPE_CHECKING:
    from archcalc.storage.weight_storage import StoredWeights

NO_ENGINE = "no engine: one forward pass in PyTorch, and nothing is set aside"


def chosen_engine(model: Network, asked: Options, stored: StoredWeights | None) -> tuple[Running, Choice]:
    """With every choice of its own made, and why it runs."""
    kinds: tuple[str, ...] = ()  # in which the model's files store some layer
    if stored and stored.file_kind:
        kinds = (stored.file_kind,)
    elif stored and stored.is_quantised:
        kinds = kinds_of_config(model.spec.quantization)
    is_alone = asked.mode == "forward"
    if not asked.engine and (asked.device is None or is_alone):
        made = Choice("engine", PLAIN, "plain PyTorch", Reason.ARCHCALC, NO_ENGINE, is_fixed=is_alone)
        return running(asked, model.generated_by, kinds), made
    reason, why, named = Reason.ASKED, "", asked.engine
    if not named:
        named, because = usual.usual_engine(_question(model, asked, kinds))
        reason, why = Reason.ARCHCALC, f": {because}"
    used = running(
        replace(asked, engine=named), model.generated_by, kinds, lambda: model.document.whole or model.config
    )
    used = replace(used, rules=_for_model(used, model))
    words = "plain PyTorch" if used.rules.name == PLAIN else used.rules.title
    return used, Choice("engine", used.rules.name, words, reason, f"engine: {words}{why}")


def _for_model(used: Running, model: Network) -> EngineRules:
    """Rules that hold for such a model on such a device, where the engine's file has some."""
    rules = used.rules
    for one in rules.for_models:
        is_of_type = not one.types or model.model_type in one.types
        is_there = not one.generations or used.device.generation in one.generations
        if is_of_type and is_there and (not one.dense or _is_dense(model)):
            rules = rules.model_copy(update=one.changed)
    return rules


def _is_dense(model: Network) -> bool:
    """Whether it has neither experts nor recurrent layers, whose cache does not grow with positions. Of a list of
    tensors nothing is known."""
    if not model.resolved.lengths:
        return False
    root = model.build(model.workload(mode="prefill", attention="flash"))
    kept = (op.output for op in ops_in(root) if op.output.role == "cache")
    is_recurrent = any(not any(dim.positions in GROWING for dim in tensor.dims) for tensor in kept)
    return not is_recurrent and all(module.region != Region.EXPERTS for module, _ in walk(root))


def _question(model: Network, asked: Options, kinds: tuple[str, ...]) -> usual.Choice:
    """What the choice depends on; a list of tensors does not say whether it generates tokens one by one."""
    assert asked.device
    named = kind_of_format(asked.weights) if asked.weights else ""
    is_generating = not (model.spec.is_computed or model.resolved.lengths)
    if model.resolved.lengths:
        with suppress(InputError):
            is_generating = generates(model)
    return usual.Choice(
        device=asked.device,
        family=model.generated_by,
        model_type=model.model_type,
        weights=(named,) if named else kinds,
        generates=is_generating,
        encodes=len(model.resolved.lengths) > 1,
        given=frozenset(asked.given),
        unequal=asked.device.group is not None and not asked.device.group.is_uniform,
    )


def generates(model: Network) -> bool:
    """Whether it generates tokens one by one, with keys and values or a state of those before: as the reading of
    a prompt says, which keeps a cache."""
    root = model.build(model.workload(mode="prefill", attention="flash"))
    return any(op.output.role == "cache" for op in ops_in(root))
