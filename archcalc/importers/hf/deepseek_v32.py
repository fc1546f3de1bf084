"""DeepSeek V3.2 and GLM-5: MoE with multi-head latent attention (MLA) where an indexer selects the top-k tokens.

Blocks of GLM-5 may reuse what an earlier block's indexer selected.
"""

from archcalc.importers.hf._helpers import Config, Fields, inert, latent, when
from archcalc.importers.hf._helpers.layer_types import attentions
from archcalc.importers.hf._helpers.moe import first_dense, listed, mixture, used

TYPES = {"deepseek_v32": {"shares": False}, "glm_moe_dsa": {"shares": True}}
INERT = {
    inert.NO_SUCH_SIZE: "num_key_value_heads head_dim",
    inert.USUAL_LAYERS: "layer_types index_topk_pattern index_topk_freq index_skip_topk_offset",
    inert.NOT_HERE: "mlp_bias",
}
_LETTERS = {"F": "full", "S": "shared"}


def translate(c: Config, *, shares: bool) -> Fields:
    own = _have_their_own(c) if shares else [True] * c.size("num_hidden_layers")
    parts, attention = listed(c, first_dense(c)), latent.mla(c)
    index = {"heads": c.size("index_n_heads"), "head_dim": c.size("index_head_dim"), "top": c.size("index_topk")}
    kinds = [when(there, index=index) for there in own]
    if all(own):
        attention, kinds = {**attention, "index": index}, [{}] * len(kinds)
    made = used(c, parts, lambda: _experts(c))
    return latent.mla_decoder(c, attention, parts, **made, **attentions(kinds, parts))


def _experts(c: Config) -> Fields:
    """Some files call the number of experts num_experts."""
    width = c.size("moe_intermediate_size")
    number = c.given("num_experts") or c.size("n_routed_experts")
    return mixture(c, number, width, shared=c.count("n_shared_experts") * width, correction=True)


def _have_their_own(c: Config) -> list[bool]:
    blocks, pattern = range(c.size("num_hidden_layers")), c.given("index_topk_pattern")
    said = c.words("indexer_types")
    if said is None and isinstance(pattern, str):
        pattern = [_LETTERS[letter] for letter in pattern]
    if said is None:
        said = pattern
    if said is None:
        # all blocks up to an offset have their own indexer; after it, every `index_topk_freq`-th does
        every, first = max(c.given("index_topk_freq") or 1, 1), c.given_or("index_skip_topk_offset", 2)
        return [max(block - first + 1, 0) % every == 0 for block in blocks]
    if len(said) != len(blocks) or not set(said) <= {"full", "shared"}:
        raise c.refused("indexer_types", f"it must be a list of full or shared for each of {len(blocks)} blocks")
    return [word == "full" for word in said]
