"""GPT-2 and GPT-SW3: learned positions, a non-gated FFN, biases everywhere."""

from archcalc.importers.hf._helpers import Config, Fields, gpt2_like, heads, inert, when

TYPES = ("gpt2", "gpt-sw3")
INERT = {inert.NO_SUCH_SIZE: "n_ctx", inert.SUMMARY: "summary_type summary_use_proj summary_proj_to_labels"}


def translate(c: Config) -> Fields:
    if c.task == "double":
        return gpt2_like.gpt2(c, head=_two_heads(c))
    return gpt2_like.gpt2(c)


def _two_heads(c: Config) -> Fields:
    """The double-heads class: an LM head and a multiple-choice head with one score per sequence."""
    kind = heads.language(c)
    classes = c.size("n_embd")
    if c.given("summary_proj_to_labels"):
        classes = 1
    pool = {"first": "class", "mean": "mean"}.get(c.text("summary_type"), "last")
    second = heads.classifier(classes, pool=pool)
    return {"kind": kind, **when(c.given("summary_use_proj"), beside=second)}
