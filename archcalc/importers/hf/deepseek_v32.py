"""DeepSeek V3.2: latent attention that looks only where an indexer points, behind it experts."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.latent import indexed_decoder
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("deepseek_v32",)
USUAL = "causal"
INERT = {
    inert.NO_SUCH_SIZE: "num_key_value_heads head_dim qk_head_dim",
    inert.ROUTING: "n_group topk_group routed_scaling_factor norm_topk_prob",
    inert.USUAL_LAYERS: "layer_types index_topk_pattern index_topk_freq index_skip_topk_offset",
    inert.NOT_HERE: "mlp_bias",
    inert.PREDICTING: "num_nextn_predict_layers",
}


def translate(c: Config, task: str) -> Fields:
    return indexed_decoder(c, task, [True] * c.size("num_hidden_layers"))
