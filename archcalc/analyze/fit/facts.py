"""What a model and the devices that it is put on allow: asked of their declarations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from archcalc.analyze.fit.need import required
from archcalc.analyze.fit.request import Request
from archcalc.analyze.option_checks import check_decodes
from archcalc.analyze.placement import ALONE, shares_layers
from archcalc.core.errors import InputError
from archcalc.run.device import Device, capabilities
from archcalc.run.engine.catalog import engine
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.engine.supports import refusal

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
    bits: int  # of a weight as it is stored, on average: what has 4.5 is of the 4-bit formats
    cache_bits: int  # of keys or values, the wider; none where each was given a format, and so is not to be changed
    serves: bool  # whether an engine was named that fills a share of the device
    has_host: bool  # whether the host's memory is another than the device's, and the engine uses it
    deals_out_layers: bool  # whether the engine computes some layers on the CPU

    @property
    def is_wide_decoder(self) -> bool:
        """QLoRA is a method for decoders whose weights are what does not fit."""
        return self.decodes and self.weighs and self.has_bitsandbytes


def facts(request: Request, devices: Iterable[Device]) -> Facts:
    devices, run, options = list(devices), request.deployment.run, request.options
    kinds = {device.kind for device in devices}
    can = [capabilities(device) for device in devices]
    serves = bool(options.engine) and run.engine.fills_device  # such keep all weights on their devices
    has_host = not serves and not request.split and not kinds & set(ALONE)
    decodes = bool(request.network.resolved.lengths)
    try:
        check_decodes(request.network)
    except InputError:
        decodes = False
    by_layers = not options.trains and (not options.engine or run.engine.rules.weight_files == "gguf")
    own_attention = not options.trains and not run.engine.rules.torch_attention  # for every device that it runs on
    parameters, kept_as_given = request.deployment.parameters, options.cache_type_k or options.cache_type_v
    elements = sum(held.copies * held.elements for held in parameters.held)
    formats = () if kept_as_given else (run.kv_format, run.value_format)
    return Facts(
        engine=(options.engine or "").partition("@")[0] or None,
        kind=kinds.pop() if len(kinds) == 1 else None,
        has_bf16=all(each.bf16 is not False for each in can),
        has_fused_attention=own_attention or all(each.fused_attention is not False for each in can),
        has_bitsandbytes=all(map(has_bitsandbytes, devices)),
        shares_layers=all(map(shares_layers, devices)),
        divides=options.plan.shards > 1,
        decodes=decodes,
        weighs=options.trains and parameters.weights * NOTABLE > required(request),
        bits=8 * parameters.states["weights"] // max(elements, 1),
        cache_bits=max((int(each.bits_per_weight) for each in formats if each), default=0),
        serves=serves,
        has_host=has_host,
        deals_out_layers=has_host and by_layers and decodes,
    )


def has_bitsandbytes(device: Device) -> bool:
    return refusal(engine("transformers"), DeviceFacts.of(device), weights=("nf4",)) is None
