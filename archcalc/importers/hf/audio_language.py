"""Language models that listen: an audio tower like Whisper's, a projector, and a decoder that reads both in one
sequence."""

from typing import Any

from archcalc.importers.hf._helpers import Config, Fields, activation, heads, inert, whole

USUAL = "multimodal"
INERT = {
    inert.TOKENS: "audio_token_index audio_token_id audio_bos_token_id audio_eos_token_id",
    inert.NOT_HERE: "token_classification_bias",
}
_SAID_INSIDE = ("d_model", "output_dim", "activation_function")
POOLED: list[Fields] = [{"pool": "average", "kernel": 2}, {"norm": "layer"}]  # the norm behind the tower comes last


def qwen2_audio(c: Config) -> Fields:
    """Qwen2-Audio: pairs of positions averaged, one linear layer."""
    tower, text = _towers(c)
    return whole.reading_audio(_unnormed(tower), [*POOLED, {"linear": text["d_model"]}], text)


def audioflamingo3(c: Config) -> Fields:
    """Audio Flamingo 3: pairs of positions averaged, two linear layers."""
    tower, text = _towers(c)
    projector = _two_layers(c, text["d_model"], text["d_model"], bias=c.flag("projector_bias"))
    return whole.reading_audio(_unnormed(tower), [*POOLED, *projector], text)


def voxtral(c: Config) -> Fields:
    """Voxtral: as many positions side by side as the tower's FFN is wide, two linear layers."""
    tower, text = _towers(c)
    projector = _two_layers(c, text["d_model"], text["d_model"], bias=False)
    return whole.reading_audio(tower, [_side_by_side(c, tower), *projector], text)


def glmasr(c: Config) -> Fields:
    """GLM-ASR: the same, through twice the width of the language model."""
    tower, text = _towers(c)
    projector = _two_layers(c, 2 * text["d_model"], text["d_model"], bias=True)
    return whole.reading_audio(tower, [_side_by_side(c, tower), *projector], text)


def qwen3_asr(c: Config) -> Fields:
    """Qwen3-ASR: two linear layers behind the tower."""
    tower, text = _towers(c, "base")
    width, out, act = (whole.said_inside(c, "audio_config", key) for key in _SAID_INSIDE)
    if out != text["d_model"]:
        why = f"its output_dim is {out} and the hidden_size of text_config {text['d_model']}, so that it cannot run"
        raise c.refused("audio_config", why)
    projector = [{"linear": width, "act": activation(c, "audio_config", act)}, {"linear": out}]
    return whole.reading({**tower, "parts": {**tower["parts"], "projector": {"layers": projector}}}, text)


def _towers(c: Config, task: str = "features") -> tuple[Fields, Fields]:
    heads.only(c, "multimodal", "base")
    return whole.inner(c, "audio_config", task), whole.language(c)


def _unnormed(tower: Fields) -> Fields:
    return {**tower, "norm": {"final": False}}


def _two_layers(c: Config, inner: int, wide: int, *, bias: bool) -> list[Fields]:
    act = activation(c, "projector_hidden_act")
    return [{"linear": inner, "act": act, "bias": bias}, {"linear": wide, "bias": bias}]


def _side_by_side(c: Config, tower: Fields) -> Fields:
    """What the projector reads is as wide as the tower's FFN."""
    ffn: Any = tower["ffn"]
    wide, d_model = ffn["width"] if isinstance(ffn, dict) else ffn, tower["d_model"]
    if wide % d_model:
        raise c.refused("audio_config", f"positions of {d_model} numbers do not add up to {wide}, which are projected")
    return {"merge": wide // d_model}
