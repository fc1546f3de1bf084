"""OpenAI GPT (GPT-1): post-norm, a non-gated FFN, biases everywhere."""

from archcalc.importers.hf._helpers import Config, Fields, activation, gpt2_like, inert

TYPES = ("openai-gpt",)
INERT = {inert.NO_SUCH_SIZE: "n_ctx", inert.SUMMARY: "summary_type summary_use_proj summary_proj_to_labels"}

_ACTIVATIONS = {"gelu": "gelu_new", "relu": "relu", "silu": "silu", "swish": "silu"}  # the words of its files


def translate(c: Config) -> Fields:
    said = c.text("afn")
    if said not in _ACTIVATIONS:
        raise c.wrong("afn", f"one of {', '.join(_ACTIVATIONS)}")
    ffn = {"width": 4 * c.size("n_embd"), "act": activation(c, "afn", _ACTIVATIONS[said])}
    return gpt2_like.gpt(c, ffn=ffn, norm={"place": "post"})
