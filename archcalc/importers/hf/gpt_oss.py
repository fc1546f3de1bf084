"""gpt-oss: sinks in attention, local and full blocks in turns, experts and router with biases."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, every, layer_types, sliding, top
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("gpt_oss",)
USUAL = "causal"
INERT = "swiglu_alpha swiglu_limit hidden_act initial_context_length experts_per_token"


def translate(c: Config, task: str) -> Fields:
    number = c.size("num_local_experts")
    moe = {
        "experts": number,
        "top": top(c, number),
        "width": c.size("intermediate_size"),
        "bias": True,
        "router_bias": True,
    }
    return decoder(
        c,
        task,
        ffn=None,
        moe=moe,
        attention={"bias": c.flag("attention_bias"), "sinks": True},
        **sliding(c, layer_types(c, every(c, 2)), c.given("sliding_window"), part="moe"),
    )
