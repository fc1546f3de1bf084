"""Defaults of most decoders: pre-RMSNorm, RoPE, a gated FFN, no bias. Translators change only what differs."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.words import activation, rope


def decoder(c: Config, **changes: Any) -> Fields:
    """A decoder whose fields are called what Llama calls them; `changes` go on top."""
    usual: dict[str, Callable[[], Any]] = {
        "vocab": lambda: c.size("vocab_size"),
        "d_model": lambda: c.size("hidden_size"),
        "heads": lambda: c.size("num_attention_heads"),
        "kv_heads": lambda: kv_heads(c),
        "head_dim": lambda: head_dim(c),
        "ffn": lambda: ffn(c),
        "norm": lambda: "rms",
        "bias": lambda: False,
        "position": lambda: rope(c, head_dim(c)),
        "decoder": lambda: c.size("num_hidden_layers"),
        "head": lambda: heads.of_decoder(c),
    }
    return {**{field: make() for field, make in usual.items() if field not in changes}, **changes}


def where_used(words: Container[str], **parts: Callable[[], Any]) -> Fields:
    """The fields of parts that some block has; None for the others, which a file need not describe."""
    return dict.fromkeys(parts) | {word: make() for word, make in parts.items() if word in words}


def head_dim(c: Config) -> int:
    """head_dim of the file or the class; most classes default to hidden_size // num_attention_heads."""
    return c.size_or("head_dim", even_heads(c))


def even_heads(c: Config) -> int:
    """hidden_size // num_attention_heads, for classes that have no head_dim."""
    return c.size("hidden_size") // c.size("num_attention_heads")


def divided(c: Config, width: int, number: int, key: str = "num_attention_heads") -> int:
    """hidden_size / num_attention_heads, for classes that require an exact division; `key` is what the latter is
    called."""
    if width % number:
        why = f"all heads together are not as wide as the model ({width}), so that it can be built but not run"
        raise c.refused(key, why)
    return width // number


def kv_heads(c: Config) -> int:
    """As many as query heads, unless the file or the class says otherwise."""
    return c.size_or("num_key_value_heads", c.size("num_attention_heads"))


def attention(c: Config) -> Fields:
    return {"heads": c.size("num_attention_heads"), "kv_heads": kv_heads(c), "head_dim": head_dim(c)}


def top(c: Config, experts: int, key: str = "num_experts_per_tok") -> int:
    """Experts per token; some files ask for more than there are, which can be built but not run."""
    if c.get(key) is None:
        c.notes.append(
            "the config does not say how many experts a token is routed to: active parameters are those of one"
        )
        return 1
    said = c.size(key)
    if said > experts:
        c.notes.append(
            f"{key} is {said}, but there are {experts} experts: counted as all of them; such a model cannot run"
        )
    return min(said, experts)


def ffn(c: Config, width: str = "intermediate_size", act: str = "hidden_act", **changes: Any) -> Fields:
    return {"width": c.size(width), "act": activation(c, act), "gated": True, **changes}


def biased(**which: bool) -> Any:
    """`bias` of attention: true or false where all are alike, else the list of q, k, v, o."""
    letters = [letter for name, said in which.items() if said for letter in name]
    if len(letters) in (0, 4):
        return bool(letters)
    return letters


def window(c: Config) -> Fields:
    """A window that all blocks have, where the file names one."""
    if "sliding_window" not in c.declared or not c.get("sliding_window"):
        return {}
    return {"window": c.size("sliding_window")}


def finished(fields: Fields) -> Fields:
    """Cleans up the fields: no empty values, no defaults, in the usual order."""
    fields = _lifted({key: value for key, value in fields.items() if value is not None})
    heads, width = fields.get("heads"), fields.get("d_model")
    if heads and width and fields.get("head_dim") and fields["head_dim"] * heads == width:
        del fields["head_dim"]
    if fields.get("kv_heads") == heads:
        fields.pop("kv_heads", None)
    linear = {"bias": fields.get("bias", True)}
    usual = {"attention": linear, "ffn": {**linear, "act": "gelu", "gated": False}, **_USUAL}
    fields = {key: _without(value, usual.get(key, {})) for key, value in fields.items()}
    fields = {key: value for key, value in fields.items() if value not in ({}, usual.get(key))}
    return {key: fields[key] for key in sorted(fields, key=(*_ORDER, *fields).index)}


def _lifted(fields: Fields) -> Fields:
    """Moves fields that all stacks share to the top, and shortens a stack that is a number of blocks to that number."""
    stacks = {name: dict(fields[name]) for name in ("encoder", "decoder") if isinstance(fields.get(name), dict)}
    several = list(stacks.values())
    for key in ("heads", "ffn"):
        if several and all(key in one and one[key] == several[0].get(key) for one in several):
            above, (said, *_) = fields.get(key), [one.pop(key) for one in several]
            fields = {**fields, key: {**above, "width": said} if isinstance(above, dict) else said}
    plain = {name: one["blocks"] if list(one) == ["blocks"] else one for name, one in stacks.items()}
    return {**fields, **plain}


def _without(value: Any, usual: Any) -> Any:
    """A mapping without what its fields are anyway, or each of several."""
    if isinstance(value, list):
        return [_without(item, usual) for item in value]
    if not isinstance(value, dict) or not isinstance(usual, dict):
        return value
    return {key: inner for key, inner in value.items() if key not in usual or usual[key] != inner}


_USUAL: Fields = {  # what the spec's language takes for granted
    "head": "lm",
    "bias": True,
    "softmax": "input",
    "norm": "layer",
    "moe": {"act": "silu"},
    "position": {"theta": 10_000.0, "project": []},
    "embedding": {"types": 0, "channels": 3},
}
_ORDER = (
    *("family", "name", "scope", "input", "loss", "defaults", "blocks", "layers"),
    *("vocab", "d_model", "heads", "kv_heads", "head_dim"),
    *("attention", "cross", "ffn", "moe", "mamba", "delta", "rglru", "lightning", "conv", "per_layer"),
    *("norm", "bias", "parallel", "beside", "block_scale", "layer_scale"),
    *("position", "embedding", "softmax", "dropout", "variants"),
    *("encoder", "decoder", "head", "spare", "precision"),
)
