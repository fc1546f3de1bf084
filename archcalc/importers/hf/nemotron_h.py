"""Nemotron-H: each block is one sublayer (Mamba 2, attention, FFN or MoE) with one norm before it."""

from archcalc.importers.hf._helpers import Config, Fields, Value, activation, attention, heads, inert, top, when
from archcalc.importers.hf._helpers.layer_types import stack

INERT = {
    inert.NO_SUCH_SIZE: "expand mamba_expand num_hidden_layers",
    inert.NOT_HERE: (
        "attention_bias mamba_proj_bias mamba_hidden_act max_position_embeddings n_shared_experts sliding_window"
    ),
}

_SET_LAST = {"n_groups": "n_groups", "conv_kernel": "d_conv", "use_conv_bias": "conv_bias", "chunk_size": "chunk_size"}
_LETTERS = {"M": "mamba", "E": "moe", "*": "attention", "-": "ffn"}
_WORDS = {
    **dict.fromkeys(("mamba", "linear_attention"), "mamba"),
    **dict.fromkeys(("attention", "full_attention"), "attention"),
    "moe": "moe",
    "mlp": "ffn",
}


def translate(c: Config) -> Fields:
    lines = _lines(c)
    c.predict_by(_further(c, lines))
    ffn = {"width": c.size("intermediate_size"), "act": activation(c, "mlp_hidden_act"), "bias": c.flag("mlp_bias")}
    parts = {"attention": {"bias": False}, "ffn": ffn, "moe": _experts(c), "mamba": _mamba(c)}
    c.skip("tie_word_embeddings")
    head: Value = "lm"
    if c.task != "causal":
        head = heads.of_decoder(c)
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("hidden_size"),
        **when("attention" in lines, **attention(c)),
        **{word: fields for word, fields in parts.items() if word in lines},
        "norm": "rms",
        "bias": False,
        "decoder": stack(lines),
        "head": head,
    }


def _lines(c: Config) -> list[str]:
    said, letters = c.words("layers_block_type"), c.given("hybrid_override_pattern")
    if said is None and letters is not None:
        if not isinstance(letters, str) or not set(letters) <= set(_LETTERS):
            raise c.wrong("hybrid_override_pattern", "a word of M, E, * and -")
        return [_LETTERS[letter] for letter in letters]
    said = c.given_or("layers_block_type", ["mamba", "moe", "attention", "mlp"])
    if not said or not set(said) <= set(_WORDS):
        raise c.refused("layers_block_type")
    return [_WORDS[word] for word in said]


def _further(c: Config, lines: list[str]) -> str | None:
    """Sublayers of a step of multi-token prediction: newer files have their words, older ones their letters."""
    letters, said = c.spelled.get("mtp_hybrid_override_pattern", "*E"), c.spelled.get("mtp_layers_block_type")
    words = [_WORDS.get(word) for word in said] if isinstance(said, list) else [_LETTERS.get(one) for one in letters]
    return " ".join(map(str, words)) if words and set(words) <= set(lines) else None


def _experts(c: Config) -> Fields:
    act, bias, number = activation(c, "mlp_hidden_act"), c.flag("mlp_bias"), c.size("n_routed_experts")
    latent = c.get("moe_latent_size")
    shared = c.count("moe_shared_expert_intermediate_size") or c.size("intermediate_size")  # as the class takes 0
    return {
        "experts": number,
        "top": top(c, number),
        "width": c.size("moe_intermediate_size"),
        "act": act,
        "gated": False,
        "correction": True,
        "shared": {"width": shared, "act": act, "gated": False, "bias": bias},
        **when(latent is not None, latent=latent, latent_bias=bias),
    }


def _mamba(c: Config) -> Fields:
    """The gated norm works on the groups that share B and C; keys with the prefix mamba_ take precedence."""
    last = {key: f"mamba_{other}" for key, other in _SET_LAST.items() if f"mamba_{other}" in c.said}
    groups = c.size(last.get("n_groups", "n_groups"))
    c.skip(*_SET_LAST)
    return {
        "kind": "mamba2",
        "inner": c.size("mamba_num_heads") * c.size("mamba_head_dim"),
        "heads": c.size("mamba_num_heads"),
        "state": c.size("ssm_state_size"),
        "groups": groups,
        "norm_groups": groups,
        "conv": c.size(last.get("conv_kernel", "conv_kernel")),
        "bias": c.flag("use_bias"),
        "conv_bias": c.given_flag(last.get("use_conv_bias", "use_conv_bias")),
        "chunk": c.size(last.get("chunk_size", "chunk_size")),
    }
