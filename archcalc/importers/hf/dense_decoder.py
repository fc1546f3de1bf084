"""Dense decoders that differ from Llama in a few facts: their norms, a gate or a bias that is not there."""

from archcalc.importers.hf._helpers import Config, Fields, Value, llama_like

TYPES: dict[str, Fields] = {
    "arcee": {"gated": False},
    "cosmos3_edge_text": {"gated": False},
    "glm": {"out_bias": False},
    "hunyuan_v1_dense": {"qk_norm": "head"},
    "hunyuan_vl_text": {"qk_norm": "head"},
    "jais2": {"gated": False, "norm": "layer"},
    "nanochat": {
        "gated": False,
        "qk_norm": "head",
        "norm": {"kind": "rms", "affine": False},
        "embedding": {"norm": True},
    },
    "nemotron": {"gated": False, "norm": "layer"},
    "olmo": {"norm": {"kind": "layer", "affine": False}},
    "olmo2": {"qk_norm": "all", "norm": {"kind": "rms", "place": "out"}},
    "qwen3_vl_text": {"qk_norm": "head"},
}


def translate(c: Config, **facts: Value) -> Fields:
    return llama_like.llama(c, **facts)
