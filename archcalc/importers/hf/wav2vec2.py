"""wav2vec 2.0 and its kin: convolutions over samples, a projection, convolved positions, an encoder."""

from archcalc.importers.hf._helpers import Config, Fields, Value, activation, heads, inert, when

USUAL = "base"
INERT = {
    inert.TRAINING: "ctc_loss_reduction ctc_zero_infinity contrastive_logits_temperature num_negatives"
    " diversity_loss_weight replace_prob",
    inert.NOT_HERE: "vocab_size use_weighted_layer_sum classifier_proj_size tdnn_dim tdnn_kernel tdnn_dilation"
    " xvector_output_dim num_codevectors_per_group num_codevector_groups codevector_dim proj_codevector_dim"
    " num_ctc_classes num_clusters adapter_kernel_size adapter_stride num_adapter_layers output_hidden_size"
    " adapter_attn_dim",
}


def wav2vec2(c: Config) -> Fields:
    """wav2vec 2.0, MMS, XLS-R: a group norm behind the first convolution, or a layer norm behind each."""
    return _with_adapters(c, {"pretraining": lambda: heads.classifier(c.size("proj_codevector_dim"))})


def _unispeech(c: Config) -> Fields:
    """UniSpeech: wav2vec 2.0's layers."""
    return _with_adapters(c, {})


def _with_adapters(c: Config, further: heads.Table) -> Fields:
    """Behind the FFN of every block, where there are any."""
    fields = _speech(c, _norms(c), _convolved(c), further)
    narrow = c.given("adapter_attn_dim")
    if narrow is None or not c.flag("do_stable_layer_norm"):
        return fields
    blocks = {"blocks": c.size("num_hidden_layers"), "pattern": ["attention ffn adapter"]}
    adapter = {"like": "ffn", "width": c.size("adapter_attn_dim"), "act": "relu"}
    return {**fields, "encoder": blocks, "variants": {"adapter": adapter}}


def hubert(c: Config) -> Fields:
    """HuBERT: wav2vec 2.0's layers; the norm in front of the projection may be missing."""
    if c.flag("conv_pos_batch_norm"):
        raise c.refused("conv_pos_batch_norm")
    fields = _speech(c, _norms(c), _convolved(c))
    fields["embedding"]["features_norm"] = c.flag("feat_proj_layer_norm")
    return fields


def wavlm(c: Config) -> Fields:
    """WavLM: wav2vec 2.0 with gated relative positions, whose table all blocks share."""
    gated = {"kind": "relative", "buckets": c.size("num_buckets"), "gated": True}
    return _speech(c, _norms(c), [_convolved(c), gated])


def _data2vec_audio(c: Config) -> Fields:
    """data2vec for audio: a layer norm behind every convolution, several convolutions for positions."""
    several = {"layers": c.size("num_conv_pos_embeddings"), "normed": "output"}
    convolved = _convolved(c, "conv_pos_kernel_size")
    return _speech(c, "layer", {**convolved, **several})


def _unispeech_sat(c: Config) -> Fields:
    """UniSpeech-SAT: wav2vec 2.0's layers; a vector for hidden positions in any case."""
    fields = _with_adapters(c, {})
    fields["embedding"]["mask"] = True
    return fields


def _speech(c: Config, norms: Value, position: Value, further: heads.Table | None = None) -> Fields:
    """What all of them have: features of samples, their projection, an encoder; `further` heads are a type's own."""
    if c.flag("add_adapter"):
        raise c.refused("add_adapter", "convolutions behind the encoder are not counted; --trace counts them")
    is_pre = c.flag("do_stable_layer_norm")
    return {
        "d_model": c.size("hidden_size"),
        "heads": c.size("num_attention_heads"),
        "ffn": {"width": c.size("intermediate_size"), "act": activation(c)},
        **when(not is_pre, norm={"place": "post"}),
        "embedding": {**_features(c, norms), **when(not is_pre, norm=True)},
        "position": position,
        "encoder": c.size("num_hidden_layers"),
        "head": _head(c, further or {}),
        **_quantiser(c),
    }


def _features(c: Config, norms: Value) -> Fields:
    return {
        "kind": "audio",
        "samples": True,
        "rate": 16_000,  # of transformers' Wav2Vec2FeatureExtractor
        "kernels": _sizes(c, "conv_kernel"),
        "strides": _sizes(c, "conv_stride"),
        "channels_out": _sizes(c, "conv_dim"),
        "padded": False,
        "bias": c.flag("conv_bias"),
        "norms": norms,
        "acts": activation(c, "feat_extract_activation"),
        "features_norm": True,
        "always_project": True,
        **when(c.get("mask_time_prob") or c.get("mask_feature_prob"), mask=True),
    }


def _norms(c: Config) -> Value:
    if c.text("feat_extract_norm") == "layer":
        return "layer"
    if c.text("feat_extract_norm") == "group":
        return ["channel", *["none"] * (len(_sizes(c, "conv_dim")) - 1)]
    raise c.refused("feat_extract_norm")


def _convolved(c: Config, kernel: str = "num_conv_pos_embeddings") -> Fields:
    groups = c.size("num_conv_pos_embedding_groups")
    act = activation(c, "feat_extract_activation")
    return {"kind": "convolved", "kernel": c.size(kernel), "groups": groups, "act": act}


def _sizes(c: Config, key: str) -> list[int]:
    value = c.get(key)
    if not isinstance(value, list | tuple) or not value or not all(_is_size(size) for size in value):
        raise c.wrong(key, "a list of whole numbers")
    return list(value)


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _head(c: Config, further: heads.Table) -> Value:
    """Letters for each position, classes of a recording or of each position, or the vectors of pre-training."""
    weighted = when(c.flag("use_weighted_layer_sum"), layers="weighted")
    table: heads.Table = {
        "base": heads.none,
        "ctc": lambda: {"kind": "lm", "vocab": c.size("vocab_size"), "bias": True},
        "audio": lambda: heads.classifier(
            heads.labels(c), pool="mean", project=c.size("classifier_proj_size"), **weighted
        ),
        "frames": lambda: heads.classifier(heads.labels(c), **weighted),
        **further,
    }
    return heads.for_task(c, table)


def _quantiser(c: Config) -> Fields:
    """The codebooks of pre-training and their projections, which only the loss reads."""
    if c.task != "pretraining":
        return {}
    c.notes.append("the codebooks of pre-training are counted as parameters and are in no FLOPs")
    groups, each = c.size("num_codevector_groups"), c.size("num_codevectors_per_group")
    wide, features, made = c.size("codevector_dim"), _sizes(c, "conv_dim")[-1], c.size("proj_codevector_dim")
    if wide % groups:
        raise c.refused("codevector_dim", f"it does not divide into {groups} groups")
    scores = {"code_scores_weight": [groups * each, features], "code_scores_bias": [groups * each]}
    projection = {"code_projection_weight": [made, wide], "code_projection_bias": [made]}
    return {"spare": {"codevectors": [groups * each, wide // groups], **scores, **projection}}


TYPES = {"data2vec-audio": _data2vec_audio, "unispeech": _unispeech, "unispeech-sat": _unispeech_sat}
