"""DeepSeek's multi-head latent attention (MLA), its experts, and the decoders built from them."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, Value, decoder, rope, when
from archcalc.importers.hf._helpers.layer_types import paired
from archcalc.importers.hf._helpers.moe import experts


def mla(c: Config, v_dim: int | None = None) -> Fields:
    """`v_dim` where it does not stand in the file."""
    squeezed = c.size_or("q_lora_rank", 0) or None
    return {
        "kind": "mla",
        **when(squeezed is not None, q_rank=squeezed),
        "kv_rank": c.size("kv_lora_rank"),
        "nope_dim": c.size("qk_nope_head_dim"),
        "rope_dim": c.size("qk_rope_head_dim"),
        "v_dim": v_dim or c.size("v_head_dim"),
        "bias": c.flag("attention_bias"),
    }


def mla_decoder(c: Config, attention: Fields, parts: list[str], **more: Value) -> Fields:
    """`parts` stand behind attention: an FFN or experts in each block."""
    usual = {"position": rope(c, c.size("qk_rope_head_dim")), "decoder": paired(["attention"] * len(parts), parts)}
    return decoder(c, kv_heads=None, head_dim=None, attention=attention, **{**usual, **more})


def deepseek_experts(c: Config, *, bias: bool = False, correction: bool = True, **more: Value) -> Fields:
    """Experts beside shared ones; with a `correction` that steers the router, from V3 on."""
    steered = when(correction, correction=True)
    return experts(c, "n_routed_experts", shared="n_shared_experts", shared_bias=bias, **steered, **more)
