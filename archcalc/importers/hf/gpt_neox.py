"""GPT-NeoX and Pythia: attention and FFN in parallel, each with its own input norm."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn, inert, rope

INERT = {inert.NOT_HERE: "is_decoder"}


def translate(c: Config) -> Fields:
    width, number = c.size("hidden_size"), c.size("num_attention_heads")
    return decoder(
        c,
        kv_heads=number,
        head_dim=width // number,
        attention={"bias": c.flag("attention_bias")},
        ffn=ffn(c, gated=False),
        norm="layer",
        bias=True,
        position=rope(c, width // number, fraction=c.given("rotary_pct") or None),
        parallel=c.choose("use_parallel_residual", "separate", None),
    )
