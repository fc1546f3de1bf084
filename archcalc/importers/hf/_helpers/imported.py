"""Turns a config.json into a spec: picks the translator, checks its fields, and collects the notes for the user."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from archcalc.core.errors import InputError
from archcalc.importers.hf import Family, translator
from archcalc.importers.hf._helpers import heads, likeness
from archcalc.importers.hf._helpers.blocks import finished
from archcalc.importers.hf._helpers.dropout import with_dropout
from archcalc.importers.hf._helpers.processed import processed
from archcalc.importers.hf._helpers.reading import Config, when
from archcalc.importers.hf._helpers.resembling import is_later, readable_type, unknown_type
from archcalc.importers.hf._helpers.stored import quantization
from archcalc.importers.hf._helpers.texts import Text, scope, text_of, untied
from archcalc.importers.hf._helpers.words import precision
from archcalc.spec.paths import data_root
from archcalc.spec.yaml_reader import Document, read


def document(said: dict[str, Any], file: str, asked: str = "") -> Document:
    """The spec of a config, as a document for `from_document`; one of an unknown type is read as the type that was
    asked for."""
    text, version = text_of(said, asked), said.get("transformers_version")
    like = readable_type(text.said)
    family = translator(like)
    is_asked = family is None and bool(asked)
    if is_asked:
        like, family = asked, likeness.asked_for(asked)
        text = replace(text, said=likeness.read_as(text.said, asked))
    if family is None:
        raise unknown_type(text.said)
    unsure = f"; that of transformers {version}, which wrote the file, may" if is_later(said) else ""
    said = {**text.said, "model_type": like}
    config = Config(like, said)
    config.notes += text.notes
    config.doubts += text.doubts
    config.unsure = unsure
    named = f"model_type {text.said.get('model_type')} is read as {like}"
    if is_asked:
        config.doubts.append(f"{named}, as --like asks: archcalc cannot check that its layers are the same")
        config.unsure, config.further = f"; that of {text.said.get('model_type')} may", likeness.check
    elif like != text.said.get("model_type"):
        config.notes.append(f"{named}, whose class {said['architectures'][0]} the config names")
    elif asked:
        config.notes.append(f"like {asked} has no effect: archcalc reads model_type {like} itself")
    translated = with_dropout(config, _translated(family, config, text))
    if config.task not in ("causal", "multimodal"):
        config.mtp = None
    translated["scope"] = translated.get("scope") or scope(config, text, translated)
    # by the classes of the type, so that a config without `architectures` counts the same
    fused = not _fused_classes().isdisjoint(config.classes)
    stored = {"fused_qkv": fused or None, "quantization": translated.get("quantization") or quantization(config)}
    config.notes += untied(translated)
    own = when(translated.get("family") not in ("network", "parts"), softmax=config.softmax)
    fields = finished({**translated, "precision": precision(config) or translated.get("precision"), **own, **stored})
    config.check_all_read(family.inert)
    fields |= when(config.doubts, doubts=list(dict.fromkeys(config.doubts)))
    counted = said
    if text.outer:  # of a text model alone, where transformers has a class for that
        name = heads.class_for(config, text.task)
        counted = when(name, **{**said, "architectures": [name]})
    return Document(
        file,
        data=fields,
        notes=tuple(dict.fromkeys(config.notes)),
        config=counted,
        whole=text.whole,
        head_in_checkpoint=config.head_in_checkpoint,
    )


@cache
def _fused_classes() -> frozenset[str]:
    """Whose GGUF files store q, k and v as one fused matrix, which llama.cpp's quantisation mixes single out."""
    return frozenset(read((data_root() / "gguf" / "fused_qkv.yaml").read_bytes(), "fused_qkv.yaml").data["classes"])


def _translated(family: Family, config: Config, text: Text) -> dict[str, Any]:
    """Turns a failure caused by a value of the wrong type into an error message."""
    try:
        config.task = text.task or heads.task(config, family.usual)
        fields = processed(config, family.translate(config))
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as reason:
        fact = f"a value of this {config.type} config is not of a kind that {config.config_class} takes ({reason})"
        raise InputError(fact, "compare it with a config.json that transformers wrote") from None
    return {**when(text.name, name=text.name), **fields}
