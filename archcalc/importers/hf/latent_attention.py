"""DeepSeek and others with multi-head latent attention (MLA), most of them with experts."""

from functools import partial

from archcalc.importers.hf._helpers import (
    Config,
    Fields,
    Value,
    decoder,
    even_heads,
    ffn,
    heads,
    inert,
    rope,
    when,
    where_used,
)
from archcalc.importers.hf._helpers.layer_types import LINEAR, attentions, every, full_where, mixers, paired, stack
from archcalc.importers.hf._helpers.moe import (
    experts,
    first_dense,
    listed,
    mixture,
    one_dense_first,
    sparse_where,
    used,
)

_DENSE_LAYERS = {inert.USUAL_LAYERS: "first_k_dense_replace moe_layer_freq"}
INERT = {
    "deepseek_v2": {inert.NO_SUCH_SIZE: "num_key_value_heads head_dim", inert.USUAL_LAYERS: "moe_layer_freq"},
    "deepseek_v3": {inert.NO_SUCH_SIZE: "num_key_value_heads", inert.USUAL_LAYERS: "moe_layer_freq"},
    "deepseek_v32": {
        inert.NO_SUCH_SIZE: "num_key_value_heads head_dim",
        inert.USUAL_LAYERS: "layer_types index_topk_pattern index_topk_freq index_skip_topk_offset",
        inert.NOT_HERE: "mlp_bias",
    },
    "axk1": {inert.NO_SUCH_SIZE: "num_key_value_heads", **_DENSE_LAYERS},
    "glm4_moe_lite": {inert.NO_SUCH_SIZE: "num_key_value_heads head_dim", **_DENSE_LAYERS},
    "minicpm3": {inert.NO_SUCH_SIZE: "num_key_value_heads head_dim", **_DENSE_LAYERS},
    "youtu": {inert.NO_SUCH_SIZE: "num_key_value_heads", **_DENSE_LAYERS},
    "longcat_flash": {inert.NO_SUCH_SIZE: "num_key_value_heads head_dim qk_head_dim"},
    "kimi_linear": {inert.NO_SUCH_SIZE: "num_key_value_heads", inert.NOT_HERE: "max_position_embeddings"},
    "bailing_hybrid": {inert.NO_SUCH_SIZE: "num_key_value_heads"},
}
_OF_K3 = (  # fields that Kimi K3 has, and the class of Kimi Linear has not (vLLM, models/kimi_k3/nvidia/model.py)
    *("attn_res_block_size", "routed_expert_hidden_size", "latent_moe_use_norm", "mla_use_output_gate"),
    *("activation_situ_beta", "activation_situ_linear_beta", "mla_use_nope"),
)
_LETTERS = {"F": "full", "S": "shared"}


def _mla(c: Config, v_dim: int | None = None) -> Fields:
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


def _mla_decoder(c: Config, attention: Fields, parts: list[str], **more: Value) -> Fields:
    """`parts` stand behind attention: an FFN or experts in each block."""
    usual = {"position": rope(c, c.size("qk_rope_head_dim")), "decoder": paired(["attention"] * len(parts), parts)}
    return decoder(c, kv_heads=None, head_dim=None, attention=attention, **{**usual, **more})


def _deepseek_experts(c: Config, *, bias: bool = False, correction: bool = True, **more: Value) -> Fields:
    """Experts beside shared ones; with a `correction` that steers the router, from V3 on."""
    steered = when(correction, correction=True)
    return experts(c, "n_routed_experts", shared="n_shared_experts", shared_bias=bias, **steered, **more)


def _kimi(c: Config, mixers: list[str], parts: list[str], *, attention: Fields, delta: Fields, **more: Value) -> Fields:
    """`attention` and `delta` are omitted if no block has them."""
    if c.flag("tie_word_embeddings"):
        c.notes.append("tie_word_embeddings is true, but Kimi Linear in transformers always has an untied head")
    fields = {
        "kv_heads": None,
        "head_dim": None,
        **where_used(mixers, attention=lambda: attention, delta=lambda: delta),
        "position": None,
        "decoder": paired(mixers, parts),
        "head": "lm" if c.task == "causal" else heads.of_decoder(c),  # the class never ties it
    }
    return decoder(c, **{**fields, **more})


def _kimi_experts(c: Config) -> Fields:
    return experts(c, "num_local_experts", shared="n_shared_experts", correction=True)


def deepseek_v2(c: Config) -> Fields:
    """DeepSeek V2: multi-head latent attention (MLA), dense blocks first, then MoE with routed and shared experts."""
    parts, bias = first_dense(c), c.flag("mlp_bias")
    made = used(c, parts, lambda: _deepseek_experts(c, bias=bias, correction=False), lambda: ffn(c, bias=bias))
    return _mla_decoder(c, _mla(c), parts, **made)


def deepseek_v3(c: Config) -> Fields:
    """DeepSeek V3, R1 and Kimi K2: multi-head latent attention (MLA), dense blocks first, then MoE with
    shared experts."""
    parts = first_dense(c)
    return _mla_decoder(c, _mla(c), parts, **used(c, parts, lambda: _deepseek_experts(c)))


def deepseek_v32(c: Config, *, shares: bool) -> Fields:
    """DeepSeek V3.2 and GLM-5: MoE with multi-head latent attention (MLA) where an indexer selects the top-k tokens.

    Blocks of GLM-5 may reuse what an earlier block's indexer selected."""
    own = _have_their_own(c) if shares else [True] * c.size("num_hidden_layers")
    parts, attention = listed(c, first_dense(c)), _mla(c)
    index = {"heads": c.size("index_n_heads"), "head_dim": c.size("index_head_dim"), "top": c.size("index_topk")}
    kinds = [when(there, index=index) for there in own]
    if all(own):
        attention, kinds = {**attention, "index": index}, [{}] * len(kinds)
    made = used(c, parts, lambda: _experts(c))
    return _mla_decoder(c, attention, parts, **made, **attentions(kinds, parts))


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


def axk1(c: Config) -> Fields:
    """A.X K1: multi-head latent attention (MLA), dense blocks first, then MoE blocks with a norm on the
    expert output."""
    first, every = c.given_or("first_k_dense_replace", 1), c.given_or("moe_layer_freq", 1)  # null means one
    parts = listed(c, sparse_where(c, lambda block: block >= first and block % every == 0))
    behind = {"kind": "rms", "place": "sandwich"}
    return _mla_decoder(c, _mla(c), parts, **used(c, parts, lambda: _deepseek_experts(c, norm=behind)))


def glm4_moe_lite(c: Config) -> Fields:
    """GLM-4.7 Flash: multi-head latent attention (MLA), one dense block, then MoE blocks with routed and shared
    experts."""
    parts = listed(c, one_dense_first(c))
    return _mla_decoder(c, _mla(c), parts, **used(c, parts, lambda: _deepseek_experts(c)))


def minicpm3(c: Config) -> Fields:
    """MiniCPM 3: dense model with multi-head latent attention (MLA); v_head_dim defaults to hidden_size / heads."""
    wide = ffn(c, bias=c.flag("mlp_bias"))
    attention = _mla(c, c.size_or("v_head_dim", even_heads(c)))
    return _mla_decoder(c, attention, ["ffn"] * c.size("num_hidden_layers"), ffn=wide)


def longcat_flash(c: Config) -> Fields:
    """LongCat-Flash: two attentions and two FFNs in a layer, and experts beside the first, whose answer is added behind
    the second; some experts give back what they read."""
    layers, zero = c.size("num_layers"), c.get("zero_expert_num")
    width = c.size("expert_ffn_hidden_size")
    moe = mixture(c, c.size("n_routed_experts"), width, per_token="moe_topk", correction=True, **when(zero, zero=zero))
    if zero:
        c.notes.append("transformers keeps gates of experts that give back what they read: no checkpoint has them")
    c.notes.append("the experts' answer is counted where it is computed: the class adds it behind the second FFN")
    half = stack(["attention ffn+moe", "attention ffn"] * layers)
    return _mla_decoder(c, _mla(c), [], ffn=ffn(c, "ffn_hidden_size"), moe=moe, decoder=half)


def youtu(c: Config) -> Fields:
    """Youtu-LLM: dense model with multi-head latent attention (MLA)."""
    return _mla_decoder(c, _mla(c), ["ffn"] * c.size("num_hidden_layers"))


def kimi_linear(c: Config) -> Fields:
    """Kimi Linear: Kimi Delta Attention with some multi-head latent attention without RoPE; dense blocks, then MoE."""
    dense = int(c.given_or("first_k_dense_replace", 1))
    found, parts = mixers(c, _usual(c), "delta"), listed(c, sparse_where(c, lambda block: block >= dense))
    made = used(c, parts, lambda: {**_kimi_experts(c), **_latent(c)})
    gated = when(c.spelled.get("mla_use_output_gate"), gate="own")
    sums = when(c.spelled.get("attn_res_block_size"), residual_attention=True)
    c.skip(*_OF_K3)
    return _kimi(c, found, parts, attention={**_mla(c), **gated}, delta=_delta(c), **made, **sums)


def _latent(c: Config) -> Fields:
    """Kimi K3: the width that experts work at, where it is not the model's."""
    width = c.spelled.get("routed_expert_hidden_size")
    return when(width, latent=width, **when(c.spelled.get("latent_moe_use_norm"), latent_norm=True))


def _linear(c: Config) -> Fields:
    """The Kimi Delta Attention options, which the config nests in a mapping."""
    said = c.given("linear_attn_config") or {}
    if not isinstance(said, dict):
        raise c.wrong("linear_attn_config", "fields such as head_dim")
    return said


def _usual(c: Config) -> list[str]:
    """The full-attention blocks that the config lists, counted from 1; by default every fourth one but the first."""
    blocks, said = range(c.size("num_hidden_layers")), _linear(c)
    if "full_attn_layers" not in said or "kda_layers" not in said:
        return full_where(c, lambda block: block and block % 4 == 0, LINEAR)
    attend, linear = said["full_attn_layers"], said["kda_layers"]
    if sorted((*attend, *linear)) != [block + 1 for block in blocks]:
        raise c.refused("linear_attn_config", "it must list every block once, in full_attn_layers or kda_layers")
    return full_where(c, lambda block: block + 1 in attend, LINEAR)


def _delta(c: Config) -> Fields:
    said = _linear(c)
    sizes = {
        "heads": said.get("num_heads", c.size("linear_num_heads")),
        "head_dim": said.get("head_dim", c.size("linear_head_dim")),
        "conv": said.get("short_conv_kernel_size", c.size("linear_conv_kernel_dim")),
    }
    return {"kind": "kda", **sizes, **when(said.get("use_full_rank_gate"), squeeze="decays")}


def bailing_hybrid(c: Config) -> Fields:
    """Ling 3.0: MoE with Kimi Delta Attention, and some multi-head latent attention (MLA) with a gate for each head."""
    found = mixers(c, every(c, c.size("layer_group_size"), other=LINEAR), "delta")
    parts, position = listed(c, first_dense(c)), rope(c, c.size("qk_rope_head_dim"))
    made = used(c, parts, lambda: _kimi_experts(c))
    sizes = {"kv_rank": "kv_lora_rank", "nope_dim": "qk_nope_head_dim", "rope_dim": "qk_rope_head_dim"}
    widths = {field: c.size(key) for field, key in {**sizes, "v_dim": "v_head_dim"}.items()}
    attention = {"kind": "mla", **widths, "gate": "head", "bias": c.flag("attention_bias")}
    turned = when("attention" in found, position=position)
    delta = {  # sizes that the class derives from the attention sizes, unless the file has them
        "kind": "kda",
        "heads": c.size_or("linear_num_heads", c.size("num_attention_heads")),
        "head_dim": c.size_or("linear_head_dim", c.size("head_dim")),
        "conv": c.size_or("linear_conv_kernel_dim", c.size("short_conv_kernel_size")),
        "squeeze": False,
    }
    return _kimi(c, found, parts, attention=attention, delta=delta, **made, **turned)


TYPES = {
    "kimi_k2": deepseek_v3,
    "deepseek_v32": partial(deepseek_v32, shares=False),
    "glm_moe_dsa": partial(deepseek_v32, shares=True),
}
