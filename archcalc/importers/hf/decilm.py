"""DeciLM and Nemotron-NAS: Llama whose blocks differ, as a search over them left it."""

from typing import Any

from archcalc.importers.hf._helpers import Config, Fields, activation, decoder, even_heads, ffn, inert, kv_heads, when
from archcalc.importers.hf._helpers.layer_types import attentions, stack

INERT = {"translate": {inert.NO_SUCH_SIZE: "intermediate_size num_key_value_heads"}}
_ROUNDED = 256  # widths are multiples of it
_NEITHER = ("replace_with_linear", "num_sink_tokens", "unshifted_sink", "sparsify")
_KEY = "block_configs"


def deci(c: Config) -> Fields:
    """DeciLM: a number of KV heads for each block."""
    said, usual = c.get("num_key_value_heads_per_layer"), kv_heads(c)
    blocks = c.size("num_hidden_layers")
    numbers = said or [usual] * blocks
    if len(numbers) != blocks or not all(type(number) is int and number > 0 for number in numbers):
        raise c.wrong("num_key_value_heads_per_layer", f"a number of heads for each of {blocks} blocks")
    kinds = [when(number != usual, kv_heads=number) for number in numbers]
    attention = {"bias": c.flag("attention_bias")}
    wide = ffn(c, bias=c.flag("mlp_bias"))
    return decoder(c, attention=attention, ffn=wide, **attentions(kinds, ["ffn"] * blocks))


def translate(c: Config) -> Fields:
    """Nemotron-NAS: attention with its own KV heads and an FFN of its own width in each block, or neither."""
    blocks = c.get(_KEY)
    if not isinstance(blocks, list) or len(blocks) != c.size("num_hidden_layers"):
        raise c.refused(_KEY, "it must describe attention and FFN of each block")
    number, variants, lines = c.size("num_attention_heads"), Fields(), list[str]()
    for block in blocks:
        attention, wide = _attention(c, block["attention"], number), _ffn(c, block["ffn"])
        words = [_named(variants, word, said) for word, said in (("attention", attention), ("ffn", wide)) if said]
        lines += [" ".join(words)] * bool(words)  # a block of neither passes its input on
    return decoder(
        c,
        kv_heads=number,
        head_dim=c.size_or("head_dim", even_heads(c)),
        attention={"bias": c.flag("attention_bias")},
        ffn={"act": activation(c), "gated": True, "bias": c.flag("mlp_bias")},
        variants=variants or None,
        decoder=stack(lines),
    )


def _attention(c: Config, said: Any, number: int) -> Fields:
    _only_known(c, said)
    if said.get("no_op"):
        return {}
    window = said.get("window_length")
    return {"like": "attention", "kv_heads": number // said["n_heads_in_group"], **when(window, window=window)}


def _ffn(c: Config, said: Any) -> Fields:
    _only_known(c, said)
    if said.get("no_op"):
        return {}
    width = said.get("intermediate_size")
    if width is None:
        width = -(-int(2 * said["ffn_mult"] * c.size("hidden_size") / 3) // _ROUNDED) * _ROUNDED
    return {"like": "ffn", "width": width}


def _only_known(c: Config, said: Any) -> None:
    if any(said.get(key) for key in _NEITHER):
        raise c.refused(_KEY, f"none of {', '.join(_NEITHER)} is counted")


def _named(variants: Fields, word: str, said: Fields) -> str:
    """The variant that is so, which a later block of the same sizes uses again."""
    alike = (name for name, other in variants.items() if other == said)
    name = next(alike, f"{word}{sum(other['like'] == word for other in variants.values()) + 1}")
    variants[name] = said
    return name


TYPES = {"nemotron-nas": translate}
