"""Gemma 4 with its eyes and ears: a tower whose patches are pooled into tokens, and one that hears; or, unified,
projections of pixels and of samples."""

from __future__ import annotations

from math import isqrt
from typing import Any

from archcalc.importers.hf._helpers import Config, Fields, Weights, ffn, heads, inert, kv_heads, whole
from archcalc.importers.hf._helpers.audio import FRAMES
from archcalc.importers.hf._helpers.vision import IMAGES, axial_rope, image_of, tower
from archcalc.importers.hf._helpers.weights import Shape, Shapes
from archcalc.importers.hf._helpers.words import is_size

USUAL = {"gemma4_vision": "base", "gemma4": "multimodal", "gemma4_unified": "multimodal"}
_TOKENS = "boi_token_id eoi_token_id video_token_id boa_token_id eoa_token_index"
INERT = {
    "gemma4_vision": {inert.RUNNING: "attention_bias use_clipped_linears standardize"},
    "gemma4": {inert.TOKENS: _TOKENS},
    "gemma4_unified": {inert.TOKENS: _TOKENS},
}
TOKENS = 280  # of an image, where the file does not say (Gemma4ImageProcessor.max_soft_tokens)
CHANNELS = 3
SAMPLES = 16_000  # in a second (Gemma4UnifiedAudioFeatureExtractor)
SECONDS = 30  # of the longest recording (Gemma4Processor: 750 tokens of 40 ms)


def gemma4_vision(c: Config) -> Fields:
    """A vector for the row and the column of a patch beside RoPE; norms before and after each part, none at the end."""
    heads.only(c, "base")
    pooled, patch = c.size("pooling_kernel_size"), c.size("patch_size")
    rows = c.size("position_embedding_size")
    if rows < pooled:
        raise c.refused(
            "position_embedding_size", f"{pooled} patches on a side become a token, and the table has fewer"
        )
    side = min(isqrt(c.size_or("default_output_length", TOKENS)), rows // pooled) * pooled * patch
    if not c.inside:
        c.notes.append(f"the class takes images of any size: counted for {side} × {side} pixels")
    width = c.size("head_dim")
    return {
        "d_model": c.size("hidden_size"),
        "heads": c.size("num_attention_heads"),
        "kv_heads": kv_heads(c),
        "head_dim": width,
        "attention": {"qk_norm": "head", "v_norm": {"over": "head", "affine": False}},
        "ffn": ffn(c, act="hidden_activation"),
        "norm": {"kind": "rms", "place": "sandwich", "final": False},
        "bias": False,
        "position": [axial_rope(c, width), {"kind": "learned", "per_side": rows}],
        "embedding": {"kind": "patches", "image": side, "patch": patch, "tokens": 0, "bias": False},
        "encoder": c.size("num_hidden_layers"),
        "head": "none",
    }


def gemma4(c: Config) -> Fields:
    """The mean of a square of patches is a token: RMS norm without weights, then a projection without bias."""
    heads.only(c, "multimodal", "base")
    text = whole.language(c)
    heard = _heard(c, text["d_model"])
    if c.given("vision_config") is None:
        return whole.reading(heard, text) if heard else text
    vision, pooled = whole.inner(c, "vision_config"), _pooled(c)
    projector = [
        "map",
        {"pool": "average", "kernel": pooled**2},
        "sequence",
        *_projection(text["d_model"]),
    ]
    return whole.reading(tower(*image_of(vision), projector=projector), text, heard)


def _heard(c: Config, d_model: int) -> Fields | None:
    """Its tower, then as for images; a sequence has no recording unless the workload says so."""
    if c.given("audio_config") is None:
        return None
    hearing = whole.inner(c, "audio_config")
    recording, own = hearing["input"], {key: hearing[key] for key in ("blocks", "layers")}
    parts = {"hearing": {"reads": whole.AUDIO, **own}, "sound_projection": {"layers": _projection(d_model)}}
    return {"inputs": {whole.AUDIO: {"shape": recording, "rate": FRAMES, "number": 0}}, "parts": parts}


def _pooled(c: Config) -> int:
    """Patches along each side of the square that becomes a token."""
    size = whole.said_inside(c, "vision_config", "pooling_kernel_size")
    if not is_size(size):
        raise c.wrong("vision_config", "a pooling_kernel_size above 0")
    return int(size)


def gemma4_unified(c: Config) -> Fields:
    """No tower: the pixels of a large patch are normed and projected, and so are the samples of a piece of sound."""
    heads.only(c, "multimodal", "base")
    text = whole.language(c)
    heard = _samples(c, text["d_model"])
    if c.given("vision_config") is None:
        return whole.reading(heard, text) if heard else text
    side = _piece(c, "vision_config", "patch_size") * _piece(c, "vision_config", "pooling_kernel_size")
    width, rows = _piece(c, "vision_config", "mm_embed_dim"), _piece(c, "vision_config", "mm_posemb_size")
    if width != _piece(c, "vision_config", "output_proj_dims"):
        raise c.refused("vision_config", "its output_proj_dims is not its mm_embed_dim, so that it cannot run")
    table = {"position": "learned", "length": rows}  # of rows, and of columns
    tables = [table, table]
    if rows < TOKENS:  # enough for rows and columns of an image, and not for all of its tokens in one
        kept = {"table_of_rows": [rows, width], "table_of_columns": [rows, width]}
        tables, text = [], {**text, "spare": {**text.get("spare", {}), **kept}}
    seen = [
        "sequence",
        {"merge": [side, side]},
        {"norm": "layer"},
        {"linear": width, "norm": "layer"},
        *tables,
        {"norm": "layer"},
        *_projection(text["d_model"]),
    ]
    image = [CHANNELS, *[isqrt(TOKENS) * side] * 2]
    seen_parts = {"inputs": {IMAGES: image}, "parts": {"vision": {"layers": seen, "reads": IMAGES}}}
    return whole.reading(seen_parts, text, heard)


def _samples(c: Config, d_model: int) -> Fields | None:
    """As many samples of a recording as a vector has numbers are a token."""
    if c.given("audio_config") is None:
        return None
    samples = _piece(c, "audio_config", "audio_embed_dim")
    rate = max(1, round(SAMPLES / samples))
    parts = {"sound_projection": {"reads": whole.AUDIO, "layers": ["sequence", *_projection(d_model)]}}
    return {"inputs": {whole.AUDIO: {"shape": [samples, SECONDS * rate], "rate": rate, "number": 0}}, "parts": parts}


def _projection(d_model: int) -> list[Any]:
    """Of what is heard, or seen, to the width of the text."""
    return [{"norm": "rms", "affine": False}, {"linear": d_model, "bias": False}]


def _piece(c: Config, part: str, key: str) -> int:
    """A size in a config that is no model of its own."""
    said = c.given(part)
    size: Any = {**c.inner[part], **said}[key] if isinstance(said, dict) else None
    if not is_size(size):
        raise c.wrong(part, f"a config with a {key} above 0")
    return int(size)


def _tables(name: str, shape: Shape, shapes: Shapes) -> list[Shape] | None:
    """Rows and columns have a table each."""
    rows, *sides = shape
    if not name.endswith("pos_embedding"):
        return None
    return [(rows, sides[-1])] * sides[0]


WEIGHTS = {"gemma4_unified": Weights(split=_tables)}
