"""What a model and the devices that it is put on allow: asked of their declarations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from archcalc.analyze.option_checks import check_decodes
from archcalc.analyze.placement import ALONE, shares_layers
from archcalc.core.errors import InputError
from archcalc.run.device import Device, capabilities
from archcalc.run.engine.catalog import engine
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.engine.supports import refusal

if TYPE_CHECKING:
    from archcalc.analyze.fit.question import Question

NOTABLE = 16  # quantised weights help where weights are more than a sixteenth of what training needs


@dataclass(frozen=True)
class Facts:
    """Properties that changes need."""

    engine: str | None
    kind: str | None  # of all devices, where they are of one
    has_bf16: bool
    has_fused_attention: bool  # a kernel that stores no scores
    has_bitsandbytes: bool  # whose 4-bit weights and 8-bit optimizers need kernels of their own
    shares_layers: bool  # whether tensor parallelism between two such devices is of use
    divides: bool  # whether ZeRO has several GPUs to divide among
    decodes: bool
    weighs: bool  # whether weights are much of what training needs
    bits: int  # of a weight as it is stored
    cache_bits: int
    has_host: bool  # whether the host's memory is another than the device's, and the engine uses it
    deals_out_layers: bool  # whether the engine computes some layers on the CPU

    @property
    def is_wide_decoder(self) -> bool:
        """QLoRA is a method for decoders whose weights are what does not fit."""
        return self.decodes and self.weighs and self.has_bitsandbytes


def facts(question: Question, devices: Iterable[Device]) -> Facts:
    devices = list(devices)
    kinds = {each.kind for each in devices}
    return Facts(
        engine=_engine(question),
        kind=kinds.pop() if len(kinds) == 1 else None,
        has_bf16=all(map(has_bf16, devices)),
        has_fused_attention=_has_own_attention(question) or all(map(has_fused_attention, devices)),
        has_bitsandbytes=all(map(has_bitsandbytes, devices)),
        shares_layers=all(map(shares_layers, devices)),
        divides=question.options.plan.shards > 1,
        decodes=_decodes(question),
        weighs=question.trains and question.whole.parameters.weights * NOTABLE > question.required,
        bits=_bits(question),
        cache_bits=_cache_bits(question),
        has_host=_has_host(question, devices),
        deals_out_layers=_has_host(question, devices) and _deals_out(question) and _decodes(question),
    )


def _engine(question: Question) -> str | None:
    """The one that was asked for; None where a format may bring its own."""
    return (question.options.engine or "").partition("@")[0] or None


def _has_host(question: Question, devices: list[Device]) -> bool:
    """Serving engines keep all weights on their devices; where none is asked for, another may run."""
    serves = bool(question.options.engine) and question.whole.run.engine.fills_device
    return not serves and not question.split and all(each.kind not in ALONE for each in devices)


def _deals_out(question: Question) -> bool:
    """llama.cpp does, and what is built on it."""
    reads = question.whole.run.engine.rules.weight_files
    return not question.trains and (not question.options.engine or reads == "gguf")


def has_bf16(device: Device) -> bool:
    """A device of which that is not known may have it."""
    return capabilities(device).bf16 is not False


def has_fused_attention(device: Device) -> bool:
    return capabilities(device).fused_attention is not False


def has_bitsandbytes(device: Device) -> bool:
    return refusal(engine("transformers"), DeviceFacts.of(device), weights=("nf4",)) is None


def _has_own_attention(question: Question) -> bool:
    """Engines with kernels of their own have them for every device that they run on."""
    return not question.trains and not question.whole.run.engine.rules.torch_attention


def _decodes(question: Question) -> bool:
    try:
        check_decodes(question.model)
    except InputError:
        return False
    return bool(question.model.resolved.lengths)


def _bits(question: Question) -> int:
    """The whole bits of a weight, on average: what has 4.5 is of the 4-bit formats."""
    parameters = question.whole.parameters
    elements = sum(one.copies * one.elements for one in parameters.held)
    return 8 * parameters.states["weights"] // elements if elements else 0


def _cache_bits(question: Question) -> int:
    """Of keys or values, the wider; none where each was given a format, and so is not to be changed."""
    run = question.whole.run
    if question.options.cache_type_k or question.options.cache_type_v:
        return 0
    return max((int(one.bits_per_weight) for one in (run.kv_format, run.value_format) if one), default=0)
