"""What an engine does not run on a device, with what to do instead.

    refusal(engine("vllm"), device, weights=("fp8",), kv=("fp8",))     None, or the error

The tables are data: presets/engines, and presets/capabilities for the devices. What is not known of a device is never
a reason to refuse. What is replaced, or runs in another way, is in `instead.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from archcalc.core.errors import InputError
from archcalc.run.device.host import CPU
from archcalc.run.engine import catalog
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.engine.requirements import Requirement
from archcalc.run.engine.rules import EngineRules
from archcalc.run.engine.usual_rules import usual_engines

GGUF_EXAMPLE = "q4_k_m"


def refusal(
    rules: EngineRules,
    device: DeviceFacts,
    *,
    weights: Iterable[str] = (),
    kv: Iterable[str] = (),
    precision: str = "",
    attention: str = "",
) -> InputError | None:
    """Why the engine cannot do that on the device. `weights` are kinds of formats (`archcalc.storage.weight_kinds`);
    precision and attention are those that were asked for, since others are replaced."""
    found = (
        _no_device(rules, device),
        *(_no_weights(rules, device, kind) for kind in weights),
        *(_no_cache(rules, device, one) for one in kv),
        _no_number(rules, device, precision),
        _no_kernel(rules, device, attention),
    )
    return next((error for error in found if error), None)


def runs_on(rules: EngineRules, device: DeviceFacts) -> bool:
    return _unmet(rules.devices, device) is None


def _unmet(table: dict[str, Requirement], device: DeviceFacts) -> Requirement | None:
    """The requirement that the device does not meet; None where it meets it, or where nothing is known against it."""
    if not table or not device.maker:
        return None
    found = table.get(device.maker)
    if found is None:
        return Requirement()
    return None if found.is_met(device.capabilities) else found


def _no_device(rules: EngineRules, device: DeviceFacts) -> InputError | None:
    unmet = _unmet(rules.devices, device)
    if unmet is None:
        return None
    if device.maker not in rules.devices:
        other = "not on a CPU here" if device.kind == CPU else f"not on those of {device.maker}"
        fact = f"{rules.name} runs on devices of {', '.join(rules.devices)}, {other}"
    elif unmet.is_below(device.capabilities):
        has = f"{device.name} has {device.capabilities.compute}"
        fact = f"{rules.title} needs compute capability {unmet.least} or higher, and {has}"
    else:
        fact = f"{rules.title} has no kernels for {device.words}"
    return InputError(fact, _other_engine(device), more=_older(rules, unmet, device), field="--engine")


def _older(rules: EngineRules, unmet: Requirement, device: DeviceFacts) -> str:
    """An earlier version that does run there."""
    if not unmet.older:
        return ""
    written = f"{rules.name.lower()}@{unmet.older}"
    return f"or an earlier version: --engine {written}" if runs_on(catalog.engine(written), device) else ""


def _other_engine(device: DeviceFacts) -> str:
    """The first of those that run on most devices, if it runs on this one."""
    for name in usual_engines().anywhere:
        rules = catalog.engine(name)
        if runs_on(rules, device):
            needs = f" --weights {GGUF_EXAMPLE}, or another GGUF format" if rules.weight_files == "gguf" else ""
            return f"{rules.name} runs on it: --engine {name}{needs}"
    return f"choose another engine, such as {catalog.PLAIN}"


def _no_weights(rules: EngineRules, device: DeviceFacts, kind: str) -> InputError | None:
    table = rules.weights.get(kind)
    if table is None:
        return None
    if not table:
        fact = f"{rules.title} does not run weights in {kind}"
        return InputError(fact, _other_format(rules, device), field="--weights")
    unmet = _unmet(table, device)
    hint = f"it loads them as {unmet.loaded_as} there: --weights {unmet.loaded_as}" if unmet and unmet.loaded_as else ""
    return _unmet_by(rules, device, unmet, f"weights in {kind}", hint or _other_format(rules, device), "--weights")


def _other_format(rules: EngineRules, device: DeviceFacts) -> str:
    """Formats of the engine that do run there."""
    if rules.weight_files == "gguf":
        return f"choose a GGUF format, such as --weights {GGUF_EXAMPLE}"
    known = [kind for kind, table in rules.weights.items() if table and _unmet(table, device) is None]
    return f"choose another format, such as --weights {(*known, 'fp16')[0]}, or another engine"


def _no_cache(rules: EngineRules, device: DeviceFacts, kv: str) -> InputError | None:
    unmet = _unmet(rules.kv.get(kv, {}), device)
    return _unmet_by(rules, device, unmet, f"a KV cache in {kv}", "choose fp16, or leave --kv-dtype out", "--kv-dtype")


def _unmet_by(
    rules: EngineRules, device: DeviceFacts, unmet: Requirement | None, what: str, hint: str, option: str
) -> InputError | None:
    if unmet is None:
        return None
    if unmet.is_below(device.capabilities):
        has = f"{device.name} has {device.capabilities.compute}"
        fact = f"{rules.title} runs {what} from compute capability {unmet.least} on, and {has}"
    else:
        fact = f"{rules.title} does not run {what} on {device.name}"
    return InputError(fact, hint, field=option)


def lacks(rules: EngineRules, device: DeviceFacts, precision: str) -> bool:
    """Whether the device has no such arithmetic, and the engine needs it."""
    return precision not in rules.converts and getattr(device.capabilities, precision, None) is False


def _no_number(rules: EngineRules, device: DeviceFacts, precision: str) -> InputError | None:
    if precision not in ("bf16", "fp16") or not lacks(rules, device, precision):
        return None
    other = "fp16" if precision == "bf16" and not lacks(rules, device, "fp16") else "fp32"
    fact = f"{device.words} has no {precision}"
    return InputError(fact, f"choose --precision {other}", field="--precision")


def _no_kernel(rules: EngineRules, device: DeviceFacts, attention: str) -> InputError | None:
    """FlashAttention that was asked for may be another kernel that stores no scores either."""
    if attention != "flash" or not rules.torch_attention or device.capabilities.fused_attention is not False:
        return None
    fact = f"PyTorch has no attention kernel for {device.words} that stores no scores"
    return InputError(fact, "choose --attention eager, or leave it out", field="--attention")
