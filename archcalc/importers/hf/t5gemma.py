"""T5Gemma: an encoder and a decoder that are each built like Gemma 2."""

from archcalc.importers.hf._helpers import Config, Fields, Value, ffn, finished, head_dim, heads, inert, rope, when
from archcalc.importers.hf._helpers.layer_types import every, layer_types, sliding, spelled_out

USUAL = "seq2seq"
INERT = {inert.NOT_HERE: "vocab_size encoder decoder tie_word_embeddings is_decoder"}
_SAME_FOR_BOTH = ("vocab", "d_model", "heads", "kv_heads", "head_dim", "attention", "ffn", "norm", "bias", "position")


def t5gemma(c: Config) -> Fields:
    """T5Gemma: an encoder-decoder of Gemma 2 blocks with cross-attention; encoder and decoder have their
    own configs."""
    both = c.task in ("base", "seq2seq") or (c.task != "encoder" and bool(c.given("is_encoder_decoder")))
    encoder = _read(c, "encoder")
    if not both:
        return {**encoder, "head": _head(c)}
    decoder = _read(c, "decoder")
    alike = {key: value for key, value in encoder.items() if decoder.get(key) == value and key in _SAME_FOR_BOTH}
    first, second = ({key: value for key, value in one.items() if key not in alike} for one in (encoder, decoder))
    return {**alike, "encoder": _stack(first, "encoder"), "decoder": _stack(second, "decoder"), "head": _head(c)}


def _read(c: Config, name: str) -> Fields:
    """One half as a separate model. Sliding windows of the encoder extend to both sides."""
    inner = Config("t5_gemma_module", c.get(name) or {})
    cap, window = inner.get("attn_logit_softcapping"), inner.get("sliding_window")
    capped = when(cap, softcap=cap and float(cap))
    decodes, part = name == "decoder", {"decoder": "cross ffn", "encoder": "ffn"}[name]
    if window and not decodes:
        window = 2 * window + 1
    made = sliding(inner, layer_types(inner, every(inner, 2)), window, part=part)
    fields = {
        "vocab": inner.size("vocab_size"),
        "d_model": inner.size("hidden_size"),
        "heads": inner.size("num_attention_heads"),
        "kv_heads": inner.size("num_key_value_heads"),
        "head_dim": head_dim(inner),
        "attention": {"bias": inner.flag("attention_bias"), **capped},
        **when(decodes, cross=capped),
        "ffn": ffn(inner, act="hidden_activation"),
        "norm": {"kind": "rms", "place": "sandwich"},
        "bias": False,
        "position": rope(inner, head_dim(inner)),
        "variants": made["variants"],
        name: made["decoder"],
    }
    inner.check_all_read(INERT)
    c.notes.extend(inner.notes)
    return finished(fields)


def _stack(fields: Fields, name: str) -> Fields:
    """Moves the model-level fields into this stack."""
    blocks = fields.pop(name)
    return {**fields, **spelled_out(blocks)}


def _head(c: Config) -> Value:
    table: heads.Table = {
        "base": heads.none,
        "encoder": heads.none,
        "seq2seq": lambda: heads.tied_or_own(c),
        "sequence": lambda: heads.classifier(heads.labels(c), pool="last"),
        "token": lambda: heads.classifier(heads.labels(c)),
    }
    return heads.for_task(c, table)


def t5_gemma_module(c: Config) -> Fields:
    """Encoder or decoder half of T5Gemma, which is not a model by itself."""
    raise c.refused(
        "is_decoder", "it is one half of a t5gemma config: give that config, with this one as encoder or decoder"
    )
