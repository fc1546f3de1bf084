"""Text models of Qwen 2 VL and 2.5 VL: Qwen 2 whose head size is hidden_size / heads."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, even_heads, inert, qwen_like, rope

TYPES = ("qwen2_vl_text", "qwen2_5_vl_text")
INERT = {inert.USUAL_LAYERS: "max_window_layers", inert.NOT_HERE: "use_sliding_window sliding_window"}


def translate(c: Config) -> Fields:
    each = even_heads(c)
    attention, position = {"bias": ["q", "k", "v"]}, rope(c, each)
    return decoder(c, head_dim=each, attention=attention, position=position, **qwen_like.qwen_windows(c))
