"""The one place where a question becomes a run: what was left out is filled in, each value with its reason.

    resolve(model, Options.of("memory", {"mode": "train", "lora": 16}))

Every command asks here, so that the same question has the same run everywhere.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.assumptions import Assumption, Topic, all_on
from archcalc.core.errors import InputError
from archcalc.network import Network
from archcalc.run.choice import Choice, Reason
from archcalc.run.device.host import CPU
from archcalc.run.engine.running import SWITCHES
from archcalc.run.offload import Offload
from archcalc.run.options import Options
from archcalc.run.resolve_inference import inference_run
from archcalc.run.resolve_training import training_run
from archcalc.run.resolved import Run
from archcalc.spec.option import flag_of


def _unloaded(model: Network, made: Run) -> frozenset[str]:
    """What the towers read that the engine does not load."""
    read = set(getattr(model.resolved, "media", {}).values())
    for name in SWITCHES:
        if name in made.engine.chosen and not read:
            raise InputError("this model has no towers for images or audio", "leave it out", field=flag_of(name))
    asked = {one: model.media.asks_for(one) for one in read}
    return frozenset(one for one in read if not made.engine.loads(one, model.model_type, asked[one]))


def resolve(model: Network, asked: Options) -> Run:
    """Options that are not given get the defaults of the code or engine that runs, as model and device allow."""
    filled = training_run(model, asked) if asked.trains else inference_run(model, asked)
    offload = Offload.of(asked)
    on_cpu = asked.device is not None and asked.device.kind == CPU
    if on_cpu and offload:
        hint = "leave --ngl and --offload out, or name a GPU"
        raise InputError("a CPU computes in host RAM, and has no GPU beside it", hint, field="--gpu")
    if "embedding" in filled.engine.rules.host and not on_cpu:
        offload = replace(offload, embedding=True)
    choices, words = filled.choices, " · ".join(asked.plan.words())
    if asked.is_planned:
        text = f"{words}: no plan was given; --tp, --dp and --zero give one"
        choices = (Choice("plan", words, words, Reason.ARCHCALC, text, Topic.PARALLELISM, is_fixed=True), *choices)
    elif words:
        choices = (Choice("plan", words, words, Reason.ASKED), *choices)
    traced = "flash" if filled.engine.rules.attention else filled.attention
    made = replace(filled, choices=choices, said=frozenset(asked.given), offload=offload, traced_attention=traced)
    made = replace(made, shift=asked.shift) if asked.shift else made
    made = replace(made, unloaded=_unloaded(model, made))
    if asked.device is None:
        return made
    cards, group = "", asked.device.group
    said: tuple[Assumption, ...] = ()
    if group:
        cards = group.words if group.count > 1 else f"{asked.plan.gpus} × {group.words}"
        said = all_on(Topic.DEVICE, [group.said] if group.said else [])
    return replace(made, cards=cards, devices=asked.device.kind, assumptions=(*made.assumptions, *said))
