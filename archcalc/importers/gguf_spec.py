"""A GGUF file to a spec: its header is translated to a config.json, and read by the translator of that model type.

What comes out is believed only if every layer holds as many numbers as it does in the file; else the tensors themselves
are the answer, as they are for an architecture that archcalc does not know, with the cache that the header tells of.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from archcalc.core.errors import InputError
from archcalc.importers import gguf, gguf_folder
from archcalc.importers.files import by_format, of_tensors
from archcalc.importers.gguf_config import Facts, Fields, config, table
from archcalc.importers.gguf_file import file_weights
from archcalc.importers.gguf_layers import difference
from archcalc.importers.hf._helpers import imported
from archcalc.model import Model
from archcalc.spec.stored_tensors import Stored
from archcalc.spec.yaml_reader import Document
from archcalc.storage.quantization_config.gguf_formats import written

PROJECTOR = "clip"  # the architecture of a file that reads images or sound for a model
_LATENT = "attn_kv_a_mqa.weight"
_RECURRENT = ("ssm_", "shortconv.", "time_mix_")  # how the tensors of a state begin
_LARGEST = 10**7  # of a size in a header
_TOKEN_SHIFTS = 2  # of RWKV, where the header does not say how many


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
    kept = _cache(facts)
    found = of_tensors(facts.header.tensors, shown, f"the tensors of the file: {why}", _told(facts, kept))
    if kept:
        length = _whole(facts.raw("context_length"))  # that the model was made for, where the header tells it
        found.data |= {"cache": kept, "precision": "fp16", **({"length": length} if length else {})}
    return found


def _cache(facts: Facts) -> list[Fields]:
    """What the layers keep for each sequence, those that keep the same taken together; nothing without a cache.

    Keys and values are as wide as the matrices that make them; windows, latent vectors and recurrent states follow from
    facts that every architecture of llama.cpp writes under the same names (llama-hparams.cpp).
    """
    if facts.architecture in table()["without_cache"] or facts.raw("attention.causal") is False or facts.has_two_stacks:
        return []
    kept = Counter(tuple({**_positions(facts, n), **_state(facts, n)}.items()) for n in range(len(facts.layers)))
    return [{"layers": layers, **dict(fields)} for fields, layers in kept.items() if fields]


def _told(facts: Facts, kept: list[Fields]) -> str:
    """The same in words, with what had to be assumed."""
    if not kept:
        return "KV cache: none is counted, since llama.cpp keeps none for this architecture or the header tells of none"
    parts = ", ".join(f"{one['layers']:,} layer{'s' if one['layers'] > 1 else ''} with {_one(one)}" for one in kept[:6])
    more = " and so on" if len(kept) > 6 else ""
    window = _whole(facts.raw("attention.sliding_window"))
    if window and facts.raw("attention.sliding_window_pattern") is None:
        more += f"; all positions are kept, as the header does not tell which layers have its window of {window:,}"
    return f"KV cache: worked out from the header and the widths of the tensors, not from a spec: {parts}{more}"


def _one(kept: Fields) -> str:
    width = kept.get("heads", 1) * (kept.get("k_dim", 0) + kept.get("v_dim", 0))
    told = [f"{width:,} numbers for each token"] if width else []
    told[-1:] = [f"{word} in a window of {kept['window']:,}" if "window" in kept else word for word in told[-1:]]
    return " and ".join([*told, *([f"a state of {kept['state']:,} numbers"] if "state" in kept else [])])


def _positions(facts: Facts, number: int) -> Fields:
    """Keys and values of one layer for every position."""
    layer = facts.layers[number]
    if _LATENT in layer:
        width = _rows(layer, _LATENT) + _rows(layer, "indexer.attn_k.weight")
        return {"heads": 1, "k_dim": width} if width else {}
    if "attn_k.weight" not in layer and ("attn_qkv.weight" not in layer or _is_recurrent(layer)):
        return {}
    said = facts.raw("attention.head_count_kv")
    if isinstance(said, list) and _is_recurrent(layer) and not _of_layer(said, number):
        return {}  # it makes keys and values for its state
    heads = _of_layer(said, number) or _of_layer(facts.raw("attention.head_count"), number) or 1
    local = _is_local(facts, number)
    keys = _rows(layer, "attn_k.weight") or heads * _width(facts, "key", local)
    values = _rows(layer, "attn_v.weight") or _rows(layer, "attn_k.weight") or heads * _width(facts, "value", local)
    heads = heads if keys % heads == values % heads == 0 else 1
    window = {"window": _whole(facts.raw("attention.sliding_window"))} if local else {}
    return {"heads": heads, "k_dim": keys // heads, "v_dim": values // heads, **window} if keys and values else {}


def _width(facts: Facts, what: str, local: bool) -> int:
    """Of a head; that of layers with a window may be another."""
    names = ([f"attention.{what}_length_swa"] if local else []) + [f"attention.{what}_length"]
    said = " or ".join([*names, "embedding_length // attention.head_count"])
    return _whole(facts.value(said))


def _is_local(facts: Facts, number: int) -> bool:
    """Whether a layer sees a window alone, by the header's pattern: a truth for each layer, or how many to one that
    sees everything."""
    pattern, window = facts.raw("attention.sliding_window_pattern"), facts.raw("attention.sliding_window")
    if not _whole(window):
        return False
    if isinstance(pattern, list):
        return number < len(pattern) and bool(pattern[number])
    return number % max(_whole(pattern), 1) < _whole(pattern) - 1


def _state(facts: Facts, number: int) -> Fields:
    """The numbers of a recurrent layer's state, with what its convolution still needs."""
    if not _is_recurrent(facts.layers[number]):
        return {}
    taps, inner, state = (_whole(facts.raw(f"ssm.{name}")) for name in ("conv_kernel", "inner_size", "state_size"))
    wide, short, delta = (_whole(facts.raw(name)) for name in ("wkv.head_size", "shortconv.l_cache", "kda.head_dim"))
    model, heads = _whole(facts.raw("embedding_length")), _whole(facts.fact("attention.head_count"))
    if wide:
        shifts = _whole(facts.raw("token_shift_count")) or _TOKEN_SHIFTS
        size = model * (wide + shifts)
    elif short:
        size = model * (short - 1)
    elif delta:
        size = heads * delta * (delta + 3 * max(taps - 1, 0))
    else:
        size = state * inner + max(taps - 1, 0) * (inner + 2 * _whole(facts.raw("ssm.group_count")) * state)
    return {"state": size} if size else {}


def _is_recurrent(layer: dict[str, Stored]) -> bool:
    return any(name.startswith(_RECURRENT) for name in layer)


def _rows(layer: dict[str, Stored], name: str) -> int:
    return layer[name].shape[0] if name in layer and layer[name].shape else 0


def _of_layer(said: Any, number: int) -> int:
    """A fact of one layer, which may hold for all."""
    if isinstance(said, list):
        return _whole(said[number]) if number < len(said) else 0
    return _whole(said)


def _whole(value: Any) -> int:
    """A size; what is none, or none that a model has, counts as unsaid."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _LARGEST else 0
