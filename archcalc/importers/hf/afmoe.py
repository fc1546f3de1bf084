"""AFMoE (Trinity): MoE with gated attention outputs; most blocks use sliding windows, and only those use RoPE."""

from archcalc.importers.hf._helpers import Config, Fields, attentions, decoder, head_dim, inert, rope, window
from archcalc.importers.hf._helpers.layer_types import FULL, SLIDING, every, layer_types
from archcalc.importers.hf._helpers.moe import experts, first_dense, used

INERT = {inert.USUAL_LAYERS: "global_attn_every_n_layers", inert.NOT_HERE: "sliding_window"}


def translate(c: Config) -> Fields:
    parts = first_dense(c, "num_dense_layers")
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head", "gate": "own"},
        **used(c, parts, lambda: experts(c, "num_experts", shared="num_shared_experts", correction="frozen")),
        norm={"kind": "rms", "place": "sandwich"},
        position=rope(c, head_dim(c), layer=FULL),
        **attentions(_kinds(c), parts),
    )


def _kinds(c: Config) -> list[Fields]:
    """Only sliding-window blocks have RoPE."""
    local, free = window(c), {"position": "none"}
    layers = layer_types(c, every(c, c.size("global_attn_every_n_layers")))
    kinds = {SLIDING: local, FULL: free}
    return [kinds[layer] for layer in layers]
