"""MiniMax M3: experts in most blocks, and attention to blocks of keys that an indexer selects."""

from typing import Any

from archcalc.importers.hf._helpers import Config, Fields, decoder, head_dim, inert, rope, when, where_used
from archcalc.importers.hf._helpers.layer_types import attentions
from archcalc.importers.hf._helpers.moe import all_sparse, listed

SPARSE = "minimax_m3_sparse"
INERT = {
    inert.NO_SUCH_SIZE: "hidden_act index_local_blocks moe_intermediate_size n_shared_experts rotary_dim",
    inert.RUNNING: "use_routing_bias use_gemma_norm use_qk_norm qk_norm_type",
}
_OLDER = {  # of sparse_attention_config
    "index_n_heads": "sparse_num_index_heads",
    "index_head_dim": "sparse_index_dim",
    "index_topk_blocks": "sparse_topk_blocks",
    "index_block_size": "sparse_block_size",
}


def translate(c: Config) -> Fields:
    parts, shares = listed(c, _parts(c)), c.given("attention_output_gate")
    if shares:
        raise c.refused("attention_output_gate")
    fraction = c.size("rotary_dim") / head_dim(c)
    c.skip("num_experts_per_tok", "num_local_experts", "intermediate_size", "shared_intermediate_size")
    kinds = [when(kind == SPARSE, block_index=_index(c)) for kind in _layers(c)]
    wide = {"width": c.size("dense_intermediate_size"), "act": "silu", "gated": True}
    return decoder(
        c,
        attention={"bias": False, "qk_norm": "head"},
        **where_used(parts, ffn=lambda: wide, moe=lambda: _experts(c)),
        position=rope(c, head_dim(c), fraction=min(fraction, 1.0)),
        **attentions(kinds, parts),
    )


def _experts(c: Config) -> Fields:
    shared = {"width": c.size("shared_intermediate_size"), "act": "silu"}
    number = c.size("num_local_experts")
    sizes = {"experts": number, "top": min(c.size("num_experts_per_tok"), number), "width": c.size("intermediate_size")}
    return {**sizes, "act": "silu", "correction": True, "shared": shared}


def _older(c: Config) -> dict[str, Any]:
    said = c.given("sparse_attention_config") or {}
    if not isinstance(said, dict):
        raise c.wrong("sparse_attention_config", "fields such as sparse_block_size")
    return said


def _index(c: Config) -> Fields:
    older = _older(c)
    heads, width, top, block = (older.get(name, c.size(key)) for key, name in _OLDER.items())
    return {"heads": heads, "head_dim": width, "top": top, "block": block}


def _layers(c: Config) -> list[str]:
    blocks, said = c.size("num_hidden_layers"), c.words("layer_types")
    often = _older(c).get("sparse_attention_freq")
    if said is None and often is not None:
        said = [SPARSE if each else "full_attention" for each in often]
    if said is None:
        said = ["full_attention"] * blocks
    if len(said) != blocks or not set(said) <= {SPARSE, "full_attention"}:
        raise c.refused("layer_types", f"it must be a list of full_attention or {SPARSE} for each of {blocks} blocks")
    return said


def _parts(c: Config) -> list[str]:
    """Older files have a number for each block."""
    often = c.given("moe_layer_freq")
    if often is None:
        return all_sparse(c)
    if not isinstance(often, list) or len(often) != c.size("num_hidden_layers"):
        raise c.wrong("moe_layer_freq", "0 or 1 for each block")
    return ["moe" if each else "ffn" for each in often]


TYPES = {"minimax_m3_vl_text": translate, "minimax_m3": translate}
