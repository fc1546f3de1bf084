"""Vision towers of Qwen2-VL and its successors: patches of two frames, RoPE by row and column, and a merger behind the
blocks, which makes a vector of the language model of 2 × 2 patches."""

from typing import Any

from archcalc.importers.hf._helpers import Config, Fields, activation, divided, heads, inert, layer_types, vision, when

USUAL = "base"
INERT = {"qwen2_5_vl_vision": {inert.NOT_HERE: "tokens_per_second"}}


def qwen2_vl_vision(c: Config) -> Fields:
    """Layer norms and a plain FFN, whose width is a multiple of embed_dim."""
    width = c.size("embed_dim")
    ffn = {"width": int(width * c.get("mlp_ratio")), "act": activation(c)}
    found = _blocks(c, width, patch_bias=False, ffn=ffn)
    return _merged(c, found, vision.merger(width, _merges(c), c.size("hidden_size")))


def qwen2_5_vl_vision(c: Config) -> Fields:
    """RMS norms, a gated FFN, and attention in windows, but for some blocks."""
    width, side = c.size("hidden_size"), c.size("spatial_merge_size")
    patches = c.size("window_size") // side // c.size("patch_size") * side
    if not patches:
        raise c.refused("window_size", "a window is narrower than merged patches")
    full = c.get("fullatt_block_indexes")
    words = [{True: "attention ffn", False: "windowed ffn"}[block in full] for block in range(c.size("depth"))]
    ffn = {"width": c.size("intermediate_size"), "act": activation(c), "gated": True}
    found = {
        **_blocks(c, width, patch_bias=False, ffn=ffn),
        "norm": {"kind": "rms", "final": False},
        "variants": when("windowed ffn" in words, windowed={"like": "attention", "windows": patches}),
        "encoder": layer_types.stack(words),
    }
    return _merged(c, found, vision.merger(width, _merges(c), c.size("out_hidden_size"), norm="rms"))


def qwen3_5_vision(c: Config) -> Fields:
    """A plain FFN, and a learned table of positions beside RoPE."""
    width = c.size("hidden_size")
    return _merged(c, _placed(c, width), vision.merger(width, _merges(c), c.size("out_hidden_size")))


def qwen3_vl_vision(c: Config) -> Fields:
    """The same with DeepStack: further mergers read the patches behind earlier blocks.

    Here all mergers read the last block's output, and their outputs are added up: as many parameters, products and
    sums as where the first blocks of the language model add them to its hidden states."""
    width, merged, out = c.size("hidden_size"), _merges(c), c.size("out_hidden_size")
    main, deep = vision.merger(width, merged, out), vision.merger(width, merged, out, norm_behind=True)
    said, found = c.get("deepstack_visual_indexes"), _placed(c, width)
    read = sum(block in range(c.size("depth")) for block in said)
    if len(said) > read:
        c.notes.append(
            f"{len(said) - read} of DeepStack's mergers read blocks that are not there: their weights are kept"
        )
        found["spare"] = _unread(width * merged, out, len(said) - read)
    if not read:
        return _merged(c, found, main)
    c.notes.append(
        f"DeepStack's {read} mergers are counted as reading the last block's output: the same parameters and FLOPs"
    )
    return _merged(c, found, [{"add": [main, *[deep] * read]}])


def _unread(wide: int, out: int, number: int) -> Fields:
    """Of mergers without an input: a norm and two linear layers each."""
    shapes = {"norm_weight": [wide], "norm_bias": [wide], "first_weight": [wide, wide], "first_bias": [wide]}
    shapes |= {"second_weight": [out, wide], "second_bias": [out]}
    return {f"unread_{index}_{name}": shape for index in range(number) for name, shape in shapes.items()}


def _placed(c: Config, width: int) -> Fields:
    ffn = {"width": c.size("intermediate_size"), "act": activation(c)}
    found = _blocks(c, width, patch_bias=True, ffn=ffn)
    table = vision.interpolated(c, c.size("num_position_embeddings"), "num_position_embeddings")
    return {**found, "position": [table, found["position"]]}


def _blocks(c: Config, width: int, *, patch_bias: bool, ffn: Fields) -> Fields:
    heads.only(c, "base")
    number = c.size("num_heads")
    return {
        "d_model": width,
        "heads": number,
        "ffn": ffn,
        "norm": {"final": False},
        "position": vision.axial_rope(c, divided(c, width, number)),
        "embedding": {"kind": "patches", "patch": c.size("patch_size"), "tokens": 0, "bias": patch_bias},
        "softmax": c.softmax,
        "encoder": c.size("depth"),
    }


def _merges(c: Config) -> int:
    return c.size("spatial_merge_size") ** 2


def _merged(c: Config, found: Fields, merger: list[Any]) -> Fields:
    side = vision.usual_image(c, c.size("patch_size") * c.size("spatial_merge_size"))
    image = [c.size("in_channels"), *vision.frames(c.size("temporal_patch_size")), side, side]
    return vision.tower(found, image, merger=merger)


TYPES = {"qwen3_vl_moe_vision": qwen3_vl_vision, "qwen3_5_moe_vision": qwen3_5_vision}
