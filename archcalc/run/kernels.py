"""The attention kernel of a run, by the name that people know it by."""

from __future__ import annotations

from archcalc.core.errors import InputError
from archcalc.core.precision import BYTES
from archcalc.run.choice import Choice, Reason
from archcalc.run.code import Code
from archcalc.run.device.capabilities import Capabilities
from archcalc.run.engine.rules import EngineRules

EAGER, FLASH, EFFICIENT = "eager attention", "flash attention", "memory-efficient attention"

KERNELS = {  # PyTorch's choice: torch.nn.functional.scaled_dot_product_attention, aten's sdp_utils.cpp
    EAGER: "eager attention: scores and probabilities are stored",
    FLASH: "flash attention: no scores are stored",
    EFFICIENT: "memory-efficient attention: PyTorch's other fused kernel, which stores no scores either",
}


def torch_kernel(asked: str | None, device: Capabilities, activations: str, by: Code) -> Choice:
    """What PyTorch's scaled_dot_product_attention takes on the device, unless scores are to be stored, or the model's
    class does not call it: FlashAttention where it runs, else another fused kernel, else scores in memory. A device of
    which nothing is known is taken to have them."""
    if asked == "eager":
        return Choice("attention", "eager", EAGER, Reason.ASKED)
    if not asked and by.habits.attention == "eager":
        text = f"{KERNELS[EAGER]}, as this model's class in {by.words}"
        return Choice("attention", "eager", EAGER, Reason.CODE, text)
    is_narrow, name, words, why = BYTES[activations] == BYTES["fp16"], "flash", FLASH, ""
    if not is_narrow or device.flash == 0:  # FlashAttention computes in 16 bits alone, and not on every device
        words, why = EFFICIENT, f"FlashAttention takes no {activations}"
        why = f"no FlashAttention runs on {device.words}" if is_narrow else why
    if words == EFFICIENT and device.fused_attention is False:
        name, words, why = "eager", EAGER, f"no fused attention kernel runs on {device.words}"
    if asked and name != asked:
        raise InputError(why, "choose --attention eager, or leave it out", field="--attention")
    since = f", since {why}" if why else ""
    return Choice("attention", name, words, Reason.ASKED if asked else Reason.CODE, f"{KERNELS[words]}{since}")


def engine_kernel(asked: str | None, rules: EngineRules) -> Choice:
    """Engines have kernels of their own, for every device that they run on; some can be told to store the scores."""
    if asked and asked not in rules.attention:
        fact = f"{rules.name} has no attention that stores scores"
        raise InputError(fact, "leave --attention out, or choose --engine transformers", field="--attention")
    if asked == "eager":
        text = "eager attention: scores are stored, of all that is cached"
        return Choice("attention", "eager", EAGER, Reason.ASKED, text)
    return Choice("attention", "flash", FLASH, Reason.ASKED if asked else Reason.CODE, KERNELS[FLASH])
