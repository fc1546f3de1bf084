"""Falcon: multi-query or grouped-query attention, parallel sublayers after one or two norms, RoPE or ALiBi."""

from archcalc.importers.hf._helpers import Config, Fields, activation, decoder, inert, rope

INERT = {inert.NO_SUCH_SIZE: "n_embed", inert.ORDER: "apply_residual_connection_post_layernorm"}


def translate(c: Config) -> Fields:
    d_model, number = c.given("n_embed") or c.size("hidden_size"), c.size("num_attention_heads")
    if "head_dim" in c.said:
        raise c.refused("head_dim", "the class computes it, and fails if the file gives it")
    c.skip("hidden_size", "max_position_embeddings", "rope_parameters", "rope_theta", "rope_scaling")
    return decoder(
        c,
        d_model=d_model,
        kv_heads=_kv_heads(c, number),
        head_dim=d_model // number,
        ffn={"width": c.size_or("ffn_hidden_size", 4 * d_model), "act": activation(c, "activation"), "gated": False},
        norm="layer",
        bias=c.flag("bias"),
        position="alibi" if c.flag("alibi") else rope(c, d_model // number),
        parallel=_parallel(c),
    )


def _kv_heads(c: Config, heads: int) -> int:
    groups = c.size_or("num_kv_heads", heads)
    if not c.flag("new_decoder_architecture"):
        return c.choose("multi_query", 1, heads)
    c.skip("multi_query")
    if groups < heads:
        c.notes.append(
            f"transformers caches keys and values for all {heads} heads of Falcon; {groups} KV heads are counted"
        )
    return groups


def _parallel(c: Config) -> str | None:
    """Two norms if the file asks for them, which is the default of the new decoder architecture."""
    norms = c.given("num_ln_in_parallel_attn") or c.choose("new_decoder_architecture", 2, 1)
    if not c.flag("parallel_attn"):
        return None
    if norms == 2:
        return "separate"
    return "shared"
