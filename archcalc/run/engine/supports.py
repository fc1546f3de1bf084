"""What an engine does not run on a device, with what to do instead, and what it takes in place of a model's own.

    refusal(engine("vllm"), device, weights=("fp8",), kv=("fp8",))     None, or the error
    replacement(engine("vllm"), device, "bf16")                        fp16 on devices without bf16

The tables are data: presets/engines, and presets/capabilities for the devices. What is not known of a device is never
a reason to refuse.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from archcalc.core.errors import InputError
from archcalc.run.device.host import CPU
from archcalc.run.engine import catalog
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.engine.rules import EngineRules, Requirement, UsualEngines, is_below
from archcalc.spec import paths
from archcalc.spec.data_files import node

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
    if unmet := _unmet(rules.devices, device):
        return _no_device(rules, device, unmet)
    for kind in weights:
        if error := _no_weights(rules, device, kind):
            return error
    for one in kv:
        if unmet := _unmet(rules.kv.get(one, {}), device):
            hint = "choose fp16, or leave --kv-dtype out"
            return _unmet_by(rules, device, unmet, f"a KV cache in {one}", hint, "--kv-dtype")
    if precision in ("bf16", "fp16") and lacks(rules, device, precision):
        other = "fp16" if precision == "bf16" and not lacks(rules, device, "fp16") else "fp32"
        return InputError(f"{device.words} has no {precision}", f"choose --precision {other}", field="--precision")
    # FlashAttention that was asked for may be another kernel that stores no scores either
    if attention == "flash" and rules.torch_attention and device.capabilities.fused_attention is False:
        fact = f"PyTorch has no attention kernel for {device.words} that stores no scores"
        return InputError(fact, "choose --attention eager, or leave it out", field="--attention")
    return None


def _unmet(table: dict[str, Requirement], device: DeviceFacts) -> Requirement | None:
    """The requirement that the device does not meet; None where it meets it, or where nothing is known against it."""
    if not table or not device.maker:
        return None
    found, known = table.get(device.maker), device.capabilities
    if found is None:
        return Requirement()
    unlisted = bool(found.targets) and known.compute is not None and known.compute not in found.targets
    other = bool(found.generations) and known.generation is not None and known.generation not in found.generations
    is_unmet = is_below(known, found.least) or unlisted or other or known.generation in found.without
    return found if is_unmet else None


def _no_device(rules: EngineRules, device: DeviceFacts, unmet: Requirement) -> InputError:
    """With an earlier version that does run there, if there is one, and the first of the engines that run on most
    devices, if it runs on this one."""
    if device.maker not in rules.devices:
        where = "not on a CPU here" if device.kind == CPU else f"not on those of {device.maker}"
        fact = f"{rules.name} runs on devices of {', '.join(rules.devices)}, {where}"
    elif is_below(device.capabilities, unmet.least):
        has = f"{device.name} has {device.capabilities.compute}"
        fact = f"{rules.title} needs compute capability {unmet.least} or higher, and {has}"
    else:
        fact = f"{rules.title} has no kernels for {device.words}"
    older = f"{rules.name.lower()}@{unmet.older}" if unmet.older else ""
    runs = bool(older) and _unmet(catalog.engine(older).devices, device) is None
    more = f"or an earlier version: --engine {older}" if runs else ""
    hint = f"choose another engine, such as {catalog.PLAIN}"
    for name in node(paths.shipped("usual")["engines"], UsualEngines).anywhere:
        other = catalog.engine(name)
        if _unmet(other.devices, device) is None:
            needs = f" --weights {GGUF_EXAMPLE}, or another GGUF format" if other.weight_files == "gguf" else ""
            hint = f"{other.name} runs on it: --engine {name}{needs}"
            break
    return InputError(fact, hint, more=more, field="--engine")


def _no_weights(rules: EngineRules, device: DeviceFacts, kind: str) -> InputError | None:
    table = rules.weights.get(kind)
    if table is None:
        return None
    if not table:
        fact = f"{rules.title} does not run weights in {kind}"
        return InputError(fact, _other_format(rules, device), field="--weights")
    unmet = _unmet(table, device)
    if unmet is None:
        return None
    hint = f"it loads them as {unmet.loaded_as} there: --weights {unmet.loaded_as}" if unmet.loaded_as else ""
    return _unmet_by(rules, device, unmet, f"weights in {kind}", hint or _other_format(rules, device), "--weights")


def _other_format(rules: EngineRules, device: DeviceFacts) -> str:
    """Formats of the engine that do run there."""
    if rules.weight_files == "gguf":
        return f"choose a GGUF format, such as --weights {GGUF_EXAMPLE}"
    known = [kind for kind, table in rules.weights.items() if table and _unmet(table, device) is None]
    return f"choose another format, such as --weights {(*known, 'fp16')[0]}, or another engine"


def _unmet_by(
    rules: EngineRules, device: DeviceFacts, unmet: Requirement, what: str, hint: str, option: str
) -> InputError:
    if is_below(device.capabilities, unmet.least):
        has = f"{device.name} has {device.capabilities.compute}"
        fact = f"{rules.title} runs {what} from compute capability {unmet.least} on, and {has}"
    else:
        fact = f"{rules.title} does not run {what} on {device.name}"
    return InputError(fact, hint, field=option)


def lacks(rules: EngineRules, device: DeviceFacts, precision: str) -> bool:
    """Whether the device has no such arithmetic, and the engine needs it."""
    return precision not in rules.converts and getattr(device.capabilities, precision, None) is False


@dataclass(frozen=True)
class Replacement:
    """What is taken, and why, as a sentence."""

    value: str
    why: str


def replacement(rules: EngineRules, device: DeviceFacts, precision: str, model_type: str = "") -> Replacement | None:
    """The number format that the engine takes on the device where it is not told one: fp32 checkpoints in 16 bits,
    fp16 on devices without bf16, and fp32 where that is not stable."""
    wanted = rules.narrows if precision == "fp32" and rules.narrows else precision
    if wanted != "bf16" or not lacks(rules, device, "bf16"):
        loaded = Replacement(wanted, f"{wanted}: {rules.name} loads fp32 checkpoints in 16 bits")
        return None if wanted == precision else loaded
    lack = f"{device.words} has no bf16"
    if lacks(rules, device, "fp16"):
        return Replacement("fp32", f"fp32 in place of bf16: {lack}, and no fp16 either")
    if model_type in rules.no_fp16:
        return Replacement("fp32", f"fp32 in place of bf16: {lack}, and {rules.name} runs no {model_type} in fp16")
    return Replacement("fp16", f"fp16 in place of bf16: {lack}")
