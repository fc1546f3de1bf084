"""dots.llm1 and others alike: norms on queries and keys, experts behind dense blocks, perhaps beside a shared one."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, every, ffn, head_dim, layer_types, sliding
from archcalc.importers.hf._helpers.moe import first_dense, listed, mixture, used
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import local_theta, rope

TYPES = ("dots1", "exaone_moe", "flint", "hy_v3", "kolibri1", "mellum")
USUAL = "causal"
INERT = (
    "n_group topk_group routed_scaling_factor norm_topk_prob max_window_layers sliding_window sliding_window_pattern"
    " router_scaling_factor enable_moe_fp32_combine"
    " num_mtp_layers num_nextn_predict_layers mtp_layer_types mtp_mlp_layer_types"
)


def translate(c: Config, task: str) -> Fields:
    parts = _parts(c)
    bias, flint = c.flag("mlp_bias"), c.type == "flint"
    position: Fields = {"position": rope(c, head_dim(c))}
    if c.type == "mellum":
        position = {"position": rope(c, head_dim(c), layer="full_attention", theta=500_000.0)}
    return decoder(
        c,
        task,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head", **({"sinks": True} if flint else {})},
        **used(c, parts, lambda: _experts(c, bias=bias), lambda: ffn(c, bias=bias)),
        norm={"kind": "rms", "place": "sandwich"} if c.type == "kolibri1" else "rms",
        **position,
        **_layers(c, parts),
    )


def _parts(c: Config) -> list[str]:
    blocks = c.size("num_hidden_layers")
    if c.type == "flint":
        dense = c.get("mlp_only_layers")
        step, dense = c.size("decoder_sparse_step"), [0, 1] if dense is None else dense
        return ["moe" if block not in dense and (block + 1) % step == 0 else "ffn" for block in range(blocks)]
    if c.type in ("mellum", "kolibri1"):
        return listed(c, ["moe"] * blocks)
    return first_dense(c) if c.type == "dots1" else listed(c, _first_one(c, blocks))


def _first_one(c: Config, blocks: int) -> list[str]:
    return ["ffn"] + ["moe"] * (blocks - 1) if c.type == "hy_v3" else first_dense(c)


def _experts(c: Config, *, bias: bool) -> Fields:
    number = c.size("n_routed_experts" if c.type == "dots1" else "num_experts")
    width = c.size("moe_intermediate_size")
    if c.type in ("kolibri1", "flint"):
        steered: Fields = {"correction": True} if c.type == "kolibri1" else {}
        return mixture(c, number, width, shared=c.count("shared_expert_intermediate_size"), **steered)
    if c.type == "mellum":
        return mixture(c, number, width)
    several = c.count("n_shared_experts" if c.type == "dots1" else "num_shared_experts")
    return mixture(c, number, width, shared=several * width, shared_bias=bias, correction=True)


def _layers(c: Config, parts: list[str]) -> Fields:
    """EXAONE and Kolibri rotate in local blocks only; Mellum gives those a base of their own."""
    window, blocks = c.given("sliding_window"), range(len(parts))
    if c.type in ("hy_v3", "mellum"):
        usual = ["full_attention" for _ in blocks]
    elif c.type == "dots1":
        first = c.get("max_window_layers")
        usual = ["sliding_attention" if window is not None and block >= first else "full_attention" for block in blocks]
    elif c.type == "flint":
        last = len(parts) - 1
        full = [block < 2 or block % 4 == 1 or block == last for block in blocks]
        usual = ["full_attention" if whole else "sliding_attention" for whole in full]
    else:
        usual = _every(c) if c.words("layer_types") is None else []
    layers = layer_types(c, usual) if c.type != "hy_v3" else usual
    free = {"position": "none"} if c.type in ("exaone_moe", "kolibri1") and window is not None else None
    local = {"position": {"kind": "rope", "theta": local_theta(c)}} if c.type == "mellum" else {}
    return sliding(c, layers, window, full=free, part=parts, **local)


def _every(c: Config) -> list[str]:
    if c.type == "kolibri1":
        return every(c, 5)
    if c.given("sliding_window") is None:  # transformers divides by zero here
        return ["full_attention"] * c.size("num_hidden_layers")
    return every(c, c.get("sliding_window_pattern") or 1)
