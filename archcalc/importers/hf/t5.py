"""T5, mT5, UMT5 and LongT5: relative positions, one token table for encoder and decoder.

Whether the head is that table too, a config says by `tie_word_embeddings`: T5 v1.1, Flan-T5, mT5 and UMT5 say false,
and their checkpoints hold a head of their own. transformers 5 ties the head of a class that it builds without weights,
and leaves that of a loaded checkpoint apart. LongT5's checkpoints hold the table alone, whatever the config says
(huggingface/transformers, pull request 47620).
"""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation

TYPES = ("t5", "mt5", "umt5", "longt5")
USUAL = "seq2seq"
INERT = (
    "relative_attention_max_distance scale_decoder_outputs tie_word_embeddings"
    " n_positions output_past num_key_value_heads local_radius global_block_size"
)
UNTOLD = (
    "transformers 5 writes tie_word_embeddings: true whatever the checkpoint holds: the head is counted as the token"
    " table, and a checkpoint with an lm_head.weight of its own has that besides"
)


def translate(c: Config, task: str) -> Fields:
    if c.given("quantization_config"):
        c.notes.append("transformers leaves T5's wo as it is where it quantises; it is counted as the rest is")
    if c.type == "longt5":
        _check_local(c)
    both = task not in ("encoder", "token")
    blocks = c.size("num_layers")
    stacks: Fields = {"encoder": blocks, "decoder": c.size_or("num_decoder_layers", c.own("num_layers"))}
    if c.flag("is_decoder") and not both:  # the only stack is then built as a decoder's
        stacks = {
            "cross": {"memory": c.size("d_model")},
            "decoder": {"blocks": blocks, "pattern": ["attention cross ffn"]},
        }
    elif not both:
        del stacks["decoder"]
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("d_model"),
        "heads": c.size("num_heads"),
        "head_dim": c.size("d_kv"),
        "ffn": _ffn(c),
        "norm": "rms",
        "bias": False,
        "position": {
            "kind": "relative",
            "buckets": c.size("relative_attention_num_buckets"),
            **({"per": "block"} if c.type == "umt5" else {}),
        },
        "embedding": {"shared": True} if both else None,
        **stacks,
        "head": _head(c, task),
    }


def _check_local(c: Config) -> None:
    if c.text("encoder_attention_type") != "local":
        raise c.refused("encoder_attention_type", "global tokens that are made of the others are not counted")
    c.notes.append("the encoder's local attention, computed block by block, is counted as full attention")


def _ffn(c: Config) -> Fields:
    """`gated-gelu` is the tanh kind, as the classes have it; what a file says of act and gate apart is set last."""
    gate, _, act = c.text("feed_forward_proj").rpartition("-")
    if gate not in ("", "gated"):
        raise c.refused("feed_forward_proj")
    said = c.given("dense_act_fn")
    word = said or ("gelu_new" if gate and act == "gelu" else act)
    fields: Fields = {
        "width": c.size("d_ff"),
        "act": activation(c, "dense_act_fn" if said else "feed_forward_proj", word),
    }
    gated = c.given_flag("is_gated_act") if "is_gated_act" in c.said else bool(gate)
    return {**fields, "gated": True} if gated else fields


def _head(c: Config, task: str) -> Any:
    if task in ("base", "encoder"):
        return "none"
    if task == "seq2seq":
        return _language_head(c)
    if task == "sequence":
        hidden = c.size("d_model")
        return {"kind": "classifier", "classes": heads.labels(c), "bias": True, "pool": "last", "hidden": hidden}
    if task in ("token", "answer"):
        return {"kind": "classifier", "classes": heads.labels(c), "bias": True}
    raise heads.refuse(c, task)


def _language_head(c: Config) -> str:
    """Of a checkpoint, which may hold a head where the class that is built without one does not."""
    if c.given("tie_word_embeddings") is not False:
        c.notes += [UNTOLD] if _says_nothing(c) else []
        return "tied"
    if c.type == "longt5":
        c.notes.append("tie_word_embeddings is false, but LongT5's checkpoints hold one table: that is counted")
        return "tied"
    c.head_in_checkpoint = True
    return "lm"


def _says_nothing(c: Config) -> bool:
    """transformers 5 writes true over a checkpoint's false, which T5 alone keeps under another name."""
    later = str(c.given("transformers_version") or "").split(".")[0] not in ("", "0", "1", "2", "3", "4")
    return later and (c.type in ("mt5", "umt5") or c.given("scale_decoder_outputs") is False)
