"""A model on the devices of one `--gpu`: the plan that was given, or the one that is chosen and said.

placed(model, options, group("2xh100"))         the options with the device, and with a plan over both
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.analyze.option_checks import check_plan
from archcalc.core.errors import InputError
from archcalc.network import Network
from archcalc.run.device import Device, DeviceGroup, group
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.options import Options
from archcalc.run.resolve import resolve

PLANS = ("tp", "dp", "cp", "pp", "ep")
ALONE = ("unified", "embedded", "cpu")  # kinds of devices that are whole computers: two share layers only over a link


def on_named_device(model: Network, options: Options) -> Options:
    """With what `--gpu` means, where it is given."""
    if not options.gpu:
        return options
    devices = group(options.gpu)
    found = placed(model, replace(options, gpu=None), devices)
    if found is None:
        hint = "`archcalc fit` splits layers between them by memory"
        raise InputError(f"the model cannot be divided equally over {devices.words}", hint, field="--gpu")
    return found


def placed(model: Network, options: Options, devices: DeviceGroup) -> Options | None:
    """On these devices; None where their layers have to be split by memory."""
    on_card = replace(options, device=DeviceFacts.of(devices.first, devices))
    if devices.count == 1:
        return on_card
    given = [name for name in PLANS if name in options.given]
    if not devices.is_uniform and given:
        fact = f"{devices.words} are unequal, and --{given[0]} divides a model into equal parts"
        raise InputError(fact, f"leave --{given[0]} out: layers are split by memory", field="--gpu")
    if not devices.is_uniform and options.trains:
        fact = f"{devices.words} are unequal: archcalc has no plan for training on them"
        raise InputError(fact, "name devices of one kind, such as 2xrtx-3090", field="--gpu")
    if not devices.is_uniform:
        return None
    if given and options.plan.gpus != devices.count:
        words = " ".join(options.plan.words()) or "one GPU"
        fact = f"{devices.words} are {devices.count} GPUs, and the plan ({words}) is for {options.plan.gpus}"
        hint = f"make their product {devices.count}, or leave the plan out and one is chosen"
        raise InputError(fact, hint, field="--gpu")
    if given:
        return on_card
    if options.trains:
        return on_card.changed(dp=devices.count, zero=options.zero or 3, is_planned=True)
    return _tensor_parallel(model, on_card, devices)


def shares_layers(device: Device) -> bool:
    """Whether tensor parallelism between two such devices is of use."""
    return device.kind not in ALONE or device.link is not None


def shares_matrices(model: Network, options: Options) -> bool:
    """Whether the engine that runs has tensor parallelism."""
    return resolve(model, options).engine.rules.tensor_parallel


def _tensor_parallel(model: Network, options: Options, devices: DeviceGroup) -> Options | None:
    """None where the model's heads cannot be divided so, or where the engine splits layers instead."""
    if not shares_layers(devices.first) or not shares_matrices(model, options):
        return None
    chosen = options.changed(tp=devices.count, is_planned=True)
    try:
        check_plan(model.build(model.workload(mode="prefill", attention="flash")), chosen.plan)
    except InputError:
        return None
    return chosen
