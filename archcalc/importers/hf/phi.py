"""Phi 1 and 2: attention and FFN in parallel after one LayerNorm, biases everywhere, also on the LM head."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, even_heads, ffn, head_dim, heads


def translate(c: Config) -> Fields:
    return decoder(
        c,
        attention=_qk_norm(c),
        ffn=ffn(c, gated=False),
        norm="layer",
        bias=True,
        parallel="shared",
        head=heads.of_decoder(c, bias=True),
    )


def _qk_norm(c: Config) -> Fields:
    """The norms have the default head size; with another head_dim the model can be built but not run."""
    if not c.flag("qk_layernorm"):
        return {}
    if head_dim(c) == even_heads(c):
        return {"qk_norm": "head"}
    c.notes.append(
        f"QK norms of size {even_heads(c)} on heads of size {head_dim(c)}: this model can be built but not run"
    )
    return {"qk_norm": {"over": "head", "width": even_heads(c)}}
