"""Any encoder with any decoder: two configs in one, each read by its own translator."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf import translator
from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import finished
from archcalc.importers.hf._helpers.layer_types import spelled_out
from archcalc.importers.hf._helpers.reading import Config, Fields, when
from archcalc.importers.hf._helpers.resembling import unknown_type

_WHOLE = ("head", "spare", "encoder", "decoder")  # what no stack can say
_LISTENER = {"is_decoder": True, "add_cross_attention": True}


def joined(c: Config, usual_encoder: str) -> Fields:
    """`usual_encoder` is the default encoder type if the file gives none."""
    heads.only(c, "seq2seq")
    c.skip("tie_word_embeddings")
    first = _read(c, "encoder", "base", {"model_type": usual_encoder})
    second = _read(c, "decoder", "causal", {"model_type": "bert", **_LISTENER})
    if "encoder" not in first or "decoder" not in second or not second.get("cross"):
        raise c.refused("decoder", "it must be a decoder that has cross-attention, and the encoder none")
    if second["cross"]["memory"] != first["d_model"]:
        hint = "a projection between different hidden sizes is not supported; --trace counts it with transformers"
        raise c.refused("encoder", hint)
    if first.get("variants") or second.get("variants"):
        raise c.refused("decoder")
    second["cross"] = {key: value for key, value in second["cross"].items() if key != "memory"} or None
    return {
        "encoder": _stack(first, "encoder"),
        "decoder": _stack(second, "decoder"),
        "head": second.get("head"),
        "spare": _spare(c, first) or None,
    }


def _read(c: Config, name: str, task: str, usual: Fields) -> Fields:
    said = c.given_or(name, usual)
    if not isinstance(said, dict) or not isinstance(said.get("model_type"), str):
        raise c.wrong(name, "a nested config with its model_type")
    family = translator(said["model_type"])
    if family is None:
        raise unknown_type(said)
    inner = Config(said["model_type"], said, task)
    inner.inside_of(c)
    found = finished({**family.translate(inner), "softmax": inner.softmax})
    inner.check_all_read(family.inert)
    c.notes.extend(inner.notes)
    return found


def _stack(fields: Fields, name: str) -> Fields:
    """Moves all fields of a model into one stack."""
    stack: Any = fields[name]
    own = {key: value for key, value in fields.items() if key not in _WHOLE and value is not None}
    said = spelled_out(stack)
    if name == "decoder" and said.get("pattern") == ["attention cross ffn"]:
        del said["pattern"]  # what a decoder behind an encoder has anyway
    return {**own, **when("pattern" not in said, blocks=1), **said}


def _spare(c: Config, first: Fields) -> Fields:
    """The encoder's pooler, which is unused in an encoder-decoder."""
    head, spare = first.get("head"), dict(first.get("spare") or {})
    if not isinstance(head, dict):
        return spare
    width = head.get("pooler")
    if not width:
        raise c.refused("encoder")
    c.notes.append("the encoder's pooler is not used: its parameters are counted, its FLOPs are not")
    d_model = first["d_model"]
    if width is True:
        width = d_model
    return {**spare, "pooler_weight": [width, d_model], "pooler_bias": [width]}
