"""A GGUF file to a spec: its header is translated to a config.json, and read by the translator of that model type.

What comes out is believed only if every layer holds as many numbers as it does in the file; else the tensors themselves
are the answer, as they are for an architecture that archcalc does not know, with the cache that the header tells of.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from archcalc.core.errors import InputError
from archcalc.importers import gguf, gguf_folder
from archcalc.importers.files import by_format, of_tensors
from archcalc.importers.gguf_cache import cache, longest, told
from archcalc.importers.gguf_config import Facts, Fields, config
from archcalc.importers.gguf_file import file_weights
from archcalc.importers.gguf_layers import difference
from archcalc.importers.hf._helpers import imported
from archcalc.model import Model
from archcalc.spec.yaml_reader import Document
from archcalc.storage.quantization_config.gguf_formats import written

PROJECTOR = "clip"  # the architecture of a file that reads images or sound for a model


def document(path: Path, shown: str) -> Document:
    """With the files that llama.cpp loads beside the model, if it is told to; nothing beside such a file itself."""
    found = of_header(gguf.read(path), shown)
    if gguf_folder.PROJECTOR in path.name.lower():
        return found
    for one in gguf_folder.variants(path.parent):
        if one.is_projector:
            note = (
                f"{one.file.name} lies beside it, {one.bytes:,} bytes that read images or sound: not counted here, as"
                " llama.cpp loads it only with --mmproj; archcalc counts it when it is given itself"
            )
            found.file_notes = (*found.file_notes, note)
    return found


def of_header(header: gguf.Header, shown: str) -> Document:
    facts = Facts(header)
    if facts.architecture == PROJECTOR:
        note = "a multimodal projector (mmproj): it encodes images or sound for a model in another file"
        return of_tensors(header.tensors, shown, note)
    if not facts.architecture:
        return of_tensors(header.tensors, shown, "the tensors of the file: it names no architecture")
    way = facts.entry
    if not way:
        return _of_tensors(facts, shown, f"archcalc does not read the architecture {facts.architecture} as a spec")
    try:
        found = imported.document(config(facts), shown)
        found.data.update(way.get("spec", {}))
        model = Model.from_document(found, "model")
    except InputError as error:
        return _of_tensors(facts, shown, f"it is not read as a {way['type']}: {error.fact}")
    differs = difference(model.build(), facts, without=facts.further)
    if differs:
        return _of_tensors(facts, shown, f"it is not read as a {way['type']}, from which it differs: {differs}")
    found.file_notes = (f"in the file: {by_format(header.tensors)}", *found.file_notes)
    model = _with_further(found, facts) or model
    found.weights = weights = file_weights(model.build(), facts)
    if weights.formats:
        found.data["quantization"] = written(weights.formats)
    return found


def _with_further(found: Document, facts: Facts) -> Model | None:
    """With the layers that predict further tokens, if the file holds any and they are built as specs have them."""
    if not facts.further:
        return None
    head: Any = found.data.get("head", "lm")
    fields: Fields = dict(head) if isinstance(head, dict) else {"kind": head}
    tables = any(name.endswith("nextn.embed_tokens.weight") for name in facts.header.tensors)
    wider = {**found.data, "head": {**fields, "mtp": {"blocks": len(facts.further), "own_tables": tables}}}
    try:
        model = Model.from_document(Document(found.file, data=wider), "model")
    except InputError:
        model = None
    if model is None or difference(model.build(), facts):
        names = [f"blk.{number}" for number in facts.further]
        starts = tuple(f"{name}." for name in names)
        several = [stored for name, stored in facts.header.tensors.items() if name.startswith(starts)]
        numbers, taken = sum(one.elements for one in several), sum(one.bytes for one in several)
        note = (
            f"multi-token prediction ({', '.join(names)}): {numbers:,} numbers that are not counted as parameters;"
            f" their {taken:,} bytes are among those of the weights"
        )
        found.file_notes = (*found.file_notes, note)
        return None
    found.data["head"] = wider["head"]
    return model


def _of_tensors(facts: Facts, shown: str, why: str) -> Document:
    """The tensors, and the cache that goes with them."""
    kept = cache(facts)
    found = of_tensors(facts.header.tensors, shown, f"the tensors of the file: {why}", told(facts, kept))
    if kept:
        found.data |= {"cache": kept, "precision": "fp16", **longest(facts)}
    return found
