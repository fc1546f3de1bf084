"""Whisper: an audio encoder after two convolutions and a text decoder; key projections have no bias."""

from archcalc.importers.hf._helpers import Config, Fields, activation, audio, bart_like, heads, inert, when

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
        "embedding": audio.spectrogram(c),
        "position": {"kind": "sinusoidal", "length": c.size("max_source_positions"), "stored": True},
    }
    usual: Fields = {
        "encoder": {**bart_like.stack_of(c, "encoder"), **heard},
        "d_model": c.size("d_model"),
        "attention": {"bias": ["q", "v", "o"]},
        "ffn": {"act": activation(c, "activation_function")},
    }
    if c.task == "audio":  # the encoder alone, a projection of every position, and a classifier on their mean
        labels, width = heads.labels(c), c.size("classifier_proj_size")
        weighted = when(c.flag("use_weighted_layer_sum"), layers="weighted")
        return {**usual, "head": heads.classifier(labels, pool="mean", project=width, **weighted)}
    position = {"kind": "learned", "length": c.size("max_target_positions")}
    decoder: Fields = {**bart_like.stack_of(c, "decoder"), "position": position}
    stacks: Fields = {"decoder": decoder}
    if c.task == "causal":
        looking = {**decoder, "pattern": ["attention cross ffn"]}
        stacks = {"cross": {"memory": c.size("d_model")}, "encoder": None, "decoder": looking}
    return {"vocab": c.size("vocab_size"), **usual, **stacks, "head": head}
