"""DBRX: MoE in every block, LayerNorm without bias; its config nests attn_config and ffn_config."""

from archcalc.importers.hf._helpers import Config, Fields, Value, activation, decoder, rope
from archcalc.importers.hf._helpers.layer_types import stack
from archcalc.importers.hf._helpers.weights import Shape, Shapes, Weights


def translate(c: Config) -> Fields:
    attention, ffn = _group(c, "attn_config"), _group(c, "ffn_config")
    d_model, number = c.size("d_model"), c.size("n_heads")
    if "hidden_size" in c.spelled:
        raise c.refused("d_model", "the class gives its experts another width where the file calls it hidden_size")
    return decoder(
        c,
        kv_heads=attention["kv_n_heads"],
        head_dim=d_model // number,
        ffn=None,
        moe=_experts(c, ffn),
        norm={"kind": "layer", "bias": False},
        position=rope(c, d_model // number),
        decoder=stack(["attention moe"] * c.size("n_layers")),
    )


def _group(c: Config, key: str) -> Fields:
    said = c.get(key) or {}
    if not isinstance(said, dict):
        raise c.wrong(key, "fields in braces")
    return {**c.inner[key], **said}


def _experts(c: Config, said: Fields) -> Fields:
    act: Value = said["ffn_act_fn"] or {"name": "silu"}
    number, top = int(said["moe_num_experts"]), int(said["moe_top_k"])
    width = int(said["ffn_hidden_size"])
    return {"experts": number, "top": min(top, number), "width": width, "act": activation(c, "ffn_config", act["name"])}


def _split(name: str, shape: Shape, named: Shapes) -> list[Shape] | None:
    """The class stacks all experts in one matrix."""
    block, found, _ = name.partition(".experts.mlp.")
    if not found:
        return None
    number = named[f"{block}.router.layer.weight"][0]
    return [(number, shape[0] // number, shape[1])]


WEIGHTS = Weights(split=_split)
