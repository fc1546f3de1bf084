"""gpt-oss: attention sinks, alternating sliding-window and full attention, MoE with biases on experts and router."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, inert, top
from archcalc.importers.hf._helpers.layer_types import every, layer_types, sliding

INERT = {inert.NO_SUCH_SIZE: "initial_context_length", inert.NOT_HERE: "hidden_act"}


def translate(c: Config) -> Fields:
    number = c.size("num_local_experts")
    width = c.size("intermediate_size")
    return decoder(
        c,
        ffn=None,
        moe={"experts": number, "top": top(c, number), "width": width, "bias": True, "router_bias": True},
        attention={"bias": c.flag("attention_bias"), "sinks": True},
        **sliding(c, layer_types(c, every(c, 2)), c.given("sliding_window"), part="moe"),
    )
