"""Vision encoder of Pixtral: Llama blocks with 2-D RoPE over patches of images of any shape, without a final norm."""

from archcalc.importers.hf._helpers import Config, Fields, ffn, heads, rope, vit_like

USUAL = "base"


def translate(c: Config) -> Fields:
    heads.only(c, "base")
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    c.skip("head_dim")
    c.notes.append("the class concatenates all images of a batch into one sequence; each image is counted separately")
    return {
        "d_model": d_model,
        "heads": number,
        "ffn": ffn(c),
        "norm": {"kind": "rms", "final": False},
        "bias": False,
        "position": rope(c, d_model // number),
        "embedding": vit_like.patches(c, tokens=0, bias=False, norm=True),
        "encoder": c.size("num_hidden_layers"),
        "head": "none",
    }
