"""NLLB-MoE: M2M-100 with MoE blocks at a fixed interval, which route each token to two experts."""

from archcalc.importers.hf._helpers import Config, Fields, Weights, activation, bart_like, heads, when
from archcalc.importers.hf._helpers.moe import sparse_where
from archcalc.importers.hf._helpers.patterns import spelled_out, stack

TYPES = ("nllb-moe",)
USUAL = "seq2seq"
WEIGHTS = Weights(numbered=r"\.expert_\d+")  # experts one by one


def translate(c: Config) -> Fields:
    act = activation(c, "activation_function")
    table: heads.Table = {"base": heads.none, "seq2seq": lambda: heads.tied_or_own(c)}
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("d_model"),
        "position": bart_like.positions(c, "sinusoidal"),
        "embedding": bart_like.shared_table(c),
        "encoder": _stack(c, "encoder", "attention", act),
        "decoder": _stack(c, "decoder", "attention cross", act),
        "head": heads.for_task(c, table),
    }


def _stack(c: Config, name: str, mixers: str, act: str) -> Fields:
    step, blocks, width = c.count(f"{name}_sparse_step"), c.size(f"{name}_layers"), c.size(f"{name}_ffn_dim")
    parts = sparse_where(c, lambda block: step and (block + 1) % step == 0, blocks)
    found = stack([f"{mixers} {part}" for part in parts], usual=f"{mixers} ffn")
    number, bias = c.size("num_experts"), when(c.flag("router_bias"), router_bias=True)
    sizes = {"experts": number, "top": min(2, number), "width": width}  # the router selects two
    experts = {**sizes, "act": act, "gated": False, "bias": True, **bias}
    described = {"ffn": {"width": width, "act": act}, "moe": experts}
    return {
        **spelled_out(found),
        "heads": c.size(f"{name}_attention_heads"),
        **{part: fields for part, fields in described.items() if part in parts},
    }
