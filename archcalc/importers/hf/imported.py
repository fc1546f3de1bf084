"""A config.json to a spec: the right translator, its fields, and what a reader must know about them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from archcalc.document import Document
from archcalc.errors import InputError
from archcalc.importers.hf import heads, translator, translators
from archcalc.importers.hf.blocks import finished
from archcalc.importers.hf.reading import Config, unknown_type
from archcalc.importers.hf.words import precision, quantisation


def document(said: dict[str, Any], file: str) -> Document:
    """The spec that a config stands for, as a document that `from_document` takes."""
    text_of, said = _text_only(said)
    module = translator(said["model_type"]) if isinstance(said.get("model_type"), str) else None
    if module is None:
        raise unknown_type(said.get("model_type"), translators())
    config = Config(said["model_type"], said)
    config.notes.extend(text_of)
    fields = finished({**_translated(module, config), "precision": precision(config)})
    quantisation(config)
    config.check_all_read(tuple(module.INERT.split()))
    return Document(file, data=fields, notes=tuple(dict.fromkeys(config.notes)))


def _translated(module: ModuleType, config: Config) -> dict[str, Any]:
    """A value of a kind that its field never has may fail anywhere, as it does in transformers."""
    try:
        fields: dict[str, Any] = module.translate(config, heads.task(config, module.USUAL))
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as reason:
        fact = f"a value of this {config.type} config is not of a kind that {config.config_class} takes ({reason})"
        raise InputError(fact, "compare it with a config.json that transformers wrote") from None
    return fields


def _text_only(said: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """The language model inside a config of several parts, and the words that say so."""
    inner = said.get("text_config")
    if not isinstance(inner, dict):
        return [], said
    outer = said.get("model_type")
    model_type = inner.get("model_type") or f"{outer}_text"
    tie = {"tie_word_embeddings": said["tie_word_embeddings"]} if "tie_word_embeddings" in said else {}
    dtype = {key: said[key] for key in ("dtype", "torch_dtype", "quantization_config") if key in said}
    note = f"{outer} reads more than text: its text_config ({model_type}) alone is counted"
    return [note], {**dtype, **tie, **inner, "model_type": model_type, "architectures": None}
