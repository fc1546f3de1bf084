"""GPT-J and CodeGen: attention and FFN in parallel after one norm, no biases in attention, a bias on the LM head."""

from archcalc.importers.hf._helpers import Config, Fields, activation, gpt2_like, heads, inert, rope_of

TYPES = ("gptj", "codegen")
INERT = {inert.NO_SUCH_SIZE: "n_ctx"}


def translate(c: Config) -> Fields:
    d_model, number = c.size("n_embd"), c.size("n_head")
    return gpt2_like.gpt(
        c,
        attention={"bias": False},
        ffn={"width": c.size_or("n_inner", 4 * d_model), "act": activation(c, "activation_function")},
        position=rope_of(c, c.get("rotary_dim") or d_model, d_model // number, c.size("n_positions")),
        parallel="shared",
        head=heads.of_decoder(c, bias=True, answers=heads.labels(c)),
    )
