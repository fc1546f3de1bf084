"""Llama, Mistral, Granite, Gemma, Phi 3, ERNIE 4.5 and others that differ only in biases and sliding windows."""

from archcalc.importers.hf._helpers import Config, Fields, inert, llama_like

TYPES = (
    *("llama", "mistral", "granite", "gemma", "phi3"),
    *("ernie4_5", "ministral3", "paddleocr_vl_text", "granite4_vision_text", "emu3_text_model"),
)
INERT = {inert.NO_SUCH_SIZE: "original_max_position_embeddings", inert.RUNNING: "use_bidirectional_attention"}


def translate(c: Config) -> Fields:
    return llama_like.llama(c)
