"""AFMoE (Trinity): MoE with gated attention outputs; most blocks use sliding windows, and only those use RoPE."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, head_dim, inert, rope, window
from archcalc.importers.hf._helpers.layer_types import FULL, SLIDING, attentions, every, layer_types
from archcalc.importers.hf._helpers.moe import experts, first_dense, used

INERT = {inert.USUAL_LAYERS: "global_attn_every_n_layers", inert.NOT_HERE: "sliding_window"}


def translate(c: Config) -> Fields:
    parts, layers = first_dense(c, "num_dense_layers"), layer_types(c, every(c, c.size("global_attn_every_n_layers")))
    kinds = {SLIDING: window(c), FULL: {"position": "none"}}  # only sliding-window blocks have RoPE
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head", "gate": "own"},
        **used(c, parts, lambda: experts(c, "num_experts", shared="num_shared_experts", correction="frozen")),
        norm={"kind": "rms", "place": "sandwich"},
        position=rope(c, head_dim(c), layer=FULL),
        **attentions([kinds[layer] for layer in layers], parts),
    )
