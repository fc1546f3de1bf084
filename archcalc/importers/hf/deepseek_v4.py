"""DeepSeek V4: a window and compressed positions behind it, experts in every block, several residual streams."""

from archcalc.importers.hf._helpers import Config, Fields, Value, decoder, inert, rope, when
from archcalc.importers.hf._helpers.layer_types import attentions, line_of
from archcalc.importers.hf._helpers.moe import mixture

INERT = {
    inert.NO_SUCH_SIZE: "num_key_value_heads",
    inert.NOT_HERE: "attention_bias",
    inert.ORDER: "compress_rope_theta hc_eps",
    inert.RUNNING: "expert_dtype",
}
SLIDING, SPARSE, HEAVY = "sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"
_OF_RATIOS = {0: SLIDING, 4: SPARSE, 128: HEAVY}
_SHARE = 64 / 512  # of a head that is rotated, where the file does not say it
_RATES = {SPARSE: 4, HEAVY: 128}
_ROUTES = {"hash_moe": "hashed", "moe": "moe"}


def translate(c: Config) -> Fields:
    rates = {**_RATES, **(c.get("compress_rates") or {})}
    for kind, older in ((SPARSE, "compress_rate_csa"), (HEAVY, "compress_rate_hca")):
        rates[kind] = c.size_or(older, rates[kind])
    index = {"heads": c.size("index_n_heads"), "head_dim": c.size("index_head_dim"), "top": c.size("index_topk")}
    kinds = {
        SLIDING: {},
        HEAVY: {"compress": {"rate": rates[HEAVY]}},
        SPARSE: {"compress": {"rate": rates[SPARSE], "overlap": True, "index": index}},
    }
    parts = _routes(c)
    experts = mixture(
        c,
        c.size("n_routed_experts"),
        c.size("moe_intermediate_size"),
        shared=_shared(c),
        shared_bias=c.flag("mlp_bias"),
    )
    each = [kinds[kind] for kind in _layers(c)]
    made = attentions(each, parts)
    further = kinds.get(_of_further(c) or "")
    c.predict_by(line_of(further, "moe", each, parts) if further is not None else None)
    hashed = when("hashed" in parts, hashed={"like": "moe", "correction": False})
    made["variants"] = {**(made["variants"] or {}), **hashed} or None
    if hashed:
        c.notes.append("the first blocks look up a token's experts in a table, which is a buffer and not counted")
    return decoder(
        c,
        kv_heads=None,
        head_dim=c.size("head_dim"),
        ffn=None,
        attention=_attention(c),
        moe={**experts, "correction": True},
        position=_turned(c),
        streams={"number": c.size("hc_mult"), "rounds": c.size("hc_sinkhorn_iters")},
        **made,
    )


def _rotated(c: Config) -> int:
    """Older files have the number of rotated values, newer ones their share of a head."""
    share = c.get("partial_rotary_factor")
    if share is None and c.given("qk_rope_head_dim") is not None:
        share = c.count("qk_rope_head_dim") / c.size("head_dim")
    return int(c.size("head_dim") * float(_SHARE if share is None else share))


def _turned(c: Config) -> Value:
    """The last values of each head."""
    found = rope(c, 2, fraction=1.0)
    found.pop("fraction", None)
    return found if _rotated(c) else "none"


def _attention(c: Config) -> Fields:
    return {
        "kind": "compressed",
        "q_rank": c.size("q_lora_rank"),
        **when(_rotated(c), rope_dim=_rotated(c)),
        "window": c.size("sliding_window"),
        "out_groups": c.size("o_groups"),
        "out_rank": c.size("o_lora_rank"),
    }


def _shared(c: Config) -> int:
    """The class has one shared expert, whatever the file says."""
    c.skip("n_shared_experts", "intermediate_size")
    return c.size("moe_intermediate_size")


def _layers(c: Config) -> list[str]:
    blocks, ratios = c.size("num_hidden_layers"), c.given("compress_ratios")
    said = c.words("layer_types")
    if said is None and ratios is not None:  # one more for each block of multi-token prediction
        said = [_OF_RATIOS[ratio] for ratio in ratios[:blocks]]
    if said is None:
        said = [HEAVY] * min(blocks, 2) + [(SPARSE if block % 2 else HEAVY) for block in range(max(blocks - 2, 0))]
    if len(said) != blocks or not set(said) <= {SLIDING, SPARSE, HEAVY}:
        raise c.refused("layer_types", f"it must name a kind of attention for each of {blocks} blocks")
    return said


def _of_further(c: Config) -> str | None:
    """The kind of attention of the blocks for multi-token prediction, if all have one."""
    ratios = c.given("compress_ratios")
    further = {*ratios[c.size("num_hidden_layers") :]} if isinstance(ratios, list) else {0}
    return _OF_RATIOS[further.pop()] if len(further) == 1 else None


def _routes(c: Config) -> list[str]:
    blocks, hashed = c.size("num_hidden_layers"), c.given_or("num_hash_layers", 3)
    said = c.words("mlp_layer_types")
    if said is None:
        said = ["hash_moe"] * min(blocks, hashed) + ["moe"] * max(blocks - hashed, 0)
    if len(said) != blocks or not set(said) <= set(_ROUTES):
        raise c.refused("mlp_layer_types", f"it must be a list of hash_moe or moe for each of {blocks} blocks")
    return [_ROUTES[word] for word in said]


TYPES = ("deepseek_v4", "deepseek_ref")
