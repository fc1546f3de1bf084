"""Gemma 2 and 3 and VaultGemma: optional attention logit soft-capping, a GELU-gated FFN."""

from archcalc.importers.hf._helpers import Config, Fields, Value, decoder, ffn, head_dim, inert, local_rope, rope, when
from archcalc.importers.hf._helpers.layer_types import FULL, every, layer_types, sliding

INERT = {
    "gemma2": {inert.USUAL_LAYERS: "sliding_window_pattern", inert.RUNNING: "use_bidirectional_attention"},
    "gemma3_text": {inert.USUAL_LAYERS: "sliding_window_pattern", inert.RUNNING: "use_bidirectional_attention"},
    "vaultgemma": {inert.USUAL_LAYERS: "sliding_window_pattern"},
}


def _gemma(c: Config, *, qk_norm: str = "", **more: Value) -> Fields:
    cap = c.get("attn_logit_softcapping")
    capped = when(cap, softcap=cap and float(cap))
    attention = {"bias": c.flag("attention_bias"), **when(qk_norm, qk_norm=qk_norm), **capped}
    return decoder(c, attention=attention, ffn=ffn(c, act="hidden_activation"), **more)


def gemma2(c: Config) -> Fields:
    """Gemma 2: norms before and after each sublayer, alternating sliding-window and full attention, logit
    soft-capping."""
    layers = sliding(c, layer_types(c, every(c, 2)), c.given("sliding_window"))
    return _gemma(c, norm={"kind": "rms", "place": "sandwich"}, **layers)


def gemma3_text(c: Config) -> Fields:
    """Text model of Gemma 3, and EmbeddingGemma: five sliding-window blocks to one full block, with separate RoPE
    bases."""
    layers = layer_types(c, every(c, c.given("sliding_window_pattern") or 6))
    found = _gemma(
        c,
        qk_norm="head",
        norm={"kind": "rms", "place": "sandwich"},
        position=rope(c, head_dim(c), layer=FULL),
        **sliding(c, layers, c.given("sliding_window"), **local_rope(c, head_dim(c))),
    )
    if c.flag("use_bidirectional_attention"):  # EmbeddingGemma, with half a window on each side and no KV cache
        found["encoder"] = found.pop("decoder")
    return found


def vaultgemma(c: Config) -> Fields:
    """VaultGemma: Gemma 2 without the norms after attention and FFN."""
    layers = sliding(c, layer_types(c, every(c, 2)), c.given("sliding_window"))
    return _gemma(c, norm="rms", **layers)
