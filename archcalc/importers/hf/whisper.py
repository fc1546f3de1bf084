"""Whisper: an audio encoder after two convolutions and a text decoder; key projections have no bias."""

from archcalc.importers.hf._helpers import Config, Fields, activation, bart_like, heads, inert, when

USUAL = "speech"
INERT = {inert.NOT_HERE: "use_weighted_layer_sum classifier_proj_size"}


def translate(c: Config) -> Fields:
    heads.only(c, "speech", "causal", "base", "audio")
    c.skip("encoder_layers", "encoder_attention_heads", "encoder_ffn_dim", "vocab_size", "max_target_positions")
    c.skip("decoder_layers", "decoder_attention_heads", "decoder_ffn_dim")
    head = heads.tied_or_own(c)
    if c.task == "base":
        head = "none"
    heard = {
        "embedding": {"kind": "audio", "mels": c.size("num_mel_bins")},
        "position": {"kind": "sinusoidal", "length": c.size("max_source_positions"), "stored": True},
    }
    if c.task == "audio":
        return _listening(c, {**bart_like.stack_of(c, "encoder"), **heard})
    position = {"kind": "learned", "length": c.size("max_target_positions")}
    decoder: Fields = {**bart_like.stack_of(c, "decoder"), "position": position}
    stacks: Fields = {"encoder": {**bart_like.stack_of(c, "encoder"), **heard}, "decoder": decoder}
    if c.task == "causal":
        looking = {**decoder, "pattern": ["attention cross ffn"]}
        stacks = {"cross": {"memory": c.size("d_model")}, "encoder": None, "decoder": looking}
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("d_model"),
        "attention": {"bias": ["q", "v", "o"]},
        "ffn": {"act": activation(c, "activation_function")},
        **stacks,
        "head": head,
    }


def _listening(c: Config, encoder: Fields) -> Fields:
    """Audio classification: the encoder alone, a projection of every position, and a classifier on their mean."""
    return {
        "d_model": c.size("d_model"),
        "attention": {"bias": ["q", "v", "o"]},
        "ffn": {"act": activation(c, "activation_function")},
        "encoder": encoder,
        "head": {
            "kind": "classifier",
            "classes": heads.labels(c),
            "bias": True,
            "pool": "mean",
            "project": c.size("classifier_proj_size"),
            **when(c.flag("use_weighted_layer_sum"), layers="weighted"),
        },
    }
