"""DeepSeek-V3.2 and GLM-5: latent attention that looks only where an indexer points, behind it experts."""

from __future__ import annotations

from archcalc.importers.hf._helpers.attention_kinds import attentions
from archcalc.importers.hf._helpers.blocks import Fields, decoder
from archcalc.importers.hf._helpers.moe import first_dense, listed, mixture, used
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import rope
from archcalc.importers.hf.deepseek_v3 import latent

TYPES = ("deepseek_v32", "glm_moe_dsa")
USUAL = "causal"
INERT = (
    "num_key_value_heads head_dim qk_head_dim n_group topk_group routed_scaling_factor norm_topk_prob layer_types"
    " index_topk_pattern index_topk_freq index_skip_topk_offset mlp_bias num_nextn_predict_layers"
)


def translate(c: Config, task: str) -> Fields:
    parts = listed(c, first_dense(c))
    index = {"heads": c.size("index_n_heads"), "head_dim": c.size("index_head_dim"), "top": c.size("index_topk")}
    kinds: list[Fields] = [{"index": index} if own else {} for own in _have_their_own(c)]
    if all(kinds):
        attention, kinds = {**latent(c), "index": index}, [{}] * len(kinds)
    else:
        attention = latent(c)
    return decoder(
        c,
        task,
        kv_heads=None,
        head_dim=None,
        attention=attention,
        **used(c, parts, lambda: _experts(c)),
        position=rope(c, c.size("qk_rope_head_dim")),
        **attentions(kinds, parts),
    )


def _have_their_own(c: Config) -> list[bool]:
    """Blocks of GLM-5 may look where an earlier block's indexer points."""
    blocks = range(c.size("num_hidden_layers"))
    if c.type == "deepseek_v32":
        return [True for _ in blocks]
    said, pattern = c.words("indexer_types"), c.given("index_topk_pattern")
    if said is None and pattern is not None:
        said = [{"F": "full", "S": "shared"}[letter] for letter in pattern] if isinstance(pattern, str) else pattern
    if said is None:
        every, later = max(c.given("index_topk_freq") or 1, 1), c.given("index_skip_topk_offset")
        later = 2 if later is None else later
        said = ["full" if max(block - later + 1, 0) % every == 0 else "shared" for block in blocks]
    if len(said) != len(blocks) or not set(said) <= {"full", "shared"}:
        raise c.refused("indexer_types", f"it must say full or shared for each of {len(blocks)} blocks")
    return [word == "full" for word in said]


def _experts(c: Config) -> Fields:
    width = c.size("moe_intermediate_size")
    number = c.given("num_experts") or c.size("n_routed_experts")
    shared = c.count("n_shared_experts") * width
    return mixture(c, number, width, shared=shared, correction=True)
