"""Text models of Qwen 2 VL and 2.5 VL: Qwen 2 whose head size is hidden_size / heads."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import decoder, even_heads
from archcalc.importers.hf._helpers.qwen_like import qwen_windows
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.words import rope

TYPES = ("qwen2_vl_text", "qwen2_5_vl_text")
INERT = {inert.USUAL_LAYERS: "max_window_layers", inert.NOT_HERE: "use_sliding_window sliding_window"}


def translate(c: Config, task: str) -> Fields:
    each = even_heads(c)
    attention, position = {"bias": ["q", "k", "v"]}, rope(c, each)
    return decoder(c, task, head_dim=each, attention=attention, position=position, **qwen_windows(c))
