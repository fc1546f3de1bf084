"""Llama, Mistral, Granite, Gemma, Phi 3, ERNIE 4.5 and others that differ only in biases and sliding windows."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.llama_like import llama_like
from archcalc.importers.hf._helpers.reading import Config

TYPES = (
    *("llama", "mistral", "granite", "gemma", "phi3"),
    *("ernie4_5", "ministral3", "paddleocr_vl_text", "granite4_vision_text", "emu3_text_model"),
)
USUAL = "causal"
INERT = {
    inert.NO_SUCH_SIZE: "original_max_position_embeddings",
    inert.SCALING: "embedding_multiplier logits_scaling residual_multiplier attention_multiplier",
    inert.RUNNING: "use_bidirectional_attention",
}


def translate(c: Config, task: str) -> Fields:
    return llama_like(c, task)
