"""GPT-2 and GPT-SW3: learned positions, a non-gated FFN, biases everywhere."""

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.gpt2_like import gpt2_like
from archcalc.importers.hf._helpers.reading import Config, Fields

TYPES = ("gpt2", "gpt-sw3")
INERT = {inert.NO_SUCH_SIZE: "n_ctx", inert.SUMMARY: "summary_type summary_use_proj summary_proj_to_labels"}


def translate(c: Config, task: str) -> Fields:
    head = _two_heads(c) if task == "double" else heads.of_decoder(c, task)
    return gpt2_like(c, task, kv_heads=c.size("n_head"), head=head)


def _two_heads(c: Config) -> Fields:
    """The double-heads class: an LM head and a multiple-choice head with one score per sequence."""
    kind = heads.of_decoder(c, "causal")
    classes = 1 if c.given("summary_proj_to_labels") else c.size("n_embd")
    pool = {"first": "class", "mean": "mean"}.get(c.text("summary_type"), "last")
    second = heads.classifier(classes, pool=pool)
    return {"kind": kind, **({"beside": second} if c.given("summary_use_proj") else {})}
