"""Models of several parts: the configs inside one, each read by its own translator, and how their parts are joined."""

from __future__ import annotations

from math import prod
from typing import Any

from archcalc.core.errors import InputError
from archcalc.importers.hf import translator
from archcalc.importers.hf._helpers.blocks import finished
from archcalc.importers.hf._helpers.dropout import with_dropout
from archcalc.importers.hf._helpers.reading import Config, Fields, when
from archcalc.importers.hf._helpers.resembling import readable_type, unknown_type
from archcalc.importers.hf._helpers.stored import of_language, quantization
from archcalc.importers.hf._helpers.texts import MTP, Text, language_of, scope
from archcalc.importers.hf._helpers.vision import image_of, tower
from archcalc.importers.hf._helpers.words import precision

_OF_THE_WHOLE = ("scope", "precision", "quantization")  # what is said of the language model, and holds for all
AUDIO, TOKENS = "audio", "tokens"  # inputs; the parts are called vision, hearing, projector, text
SECONDS = 30  # of sound, where the file does not say how much is heard
LISTENS = 50 * SECONDS  # positions


def inner(c: Config, key: str, task: str = "base", **usual: Any) -> Fields:
    """A config inside another one, with what its own translator makes of it. `usual` are fields that the outer class
    gives it where the file leaves them out."""
    fields, _ = _read(c, {**usual, **_said(c, key)}, task)
    return fields


def _said(c: Config, key: str) -> Fields:
    """Such a config, with its type."""
    about, said = c.parts[key], c.given(key)
    if said is None:
        said = about["fields"]
    if not isinstance(said, dict):
        raise c.wrong(key, "a config")
    named = {} if about["fixed"] else {"model_type": readable_type({"model_type": about["type"], **said})}
    return {**said, "model_type": about["type"], **named}


def said_inside(c: Config, key: str, name: str) -> Any:
    """A value that a config inside another one has, or its class's default."""
    said = _said(c, key)
    return Config(said["model_type"], said).get(name)


def language(c: Config) -> Fields:
    """The language model inside a config, with its head."""
    c.skip("text_config", "tie_word_embeddings")
    text = language_of(c.spelled)
    c.skip(*text.said)  # older files have its fields at the top
    fields, read = _read(c, text.said, text.task)
    found = Config(text.said["model_type"], text.said)
    found.mtp = read.mtp if read.task == "causal" else None
    further = scope(found, Text(text.said), fields)
    stored: Fields = {"precision": precision(found)}
    if method := quantization(found):
        of_whole = quantization(c)  # or inside of the text config, so that it is of nothing else
        stored["quantization"] = of_language(method) if of_whole else {**method, "parts": ["text"]}
    return {**fields, **stored, **when(further, scope={**(further or {}), "of": c.type})}


def text_alone(c: Config, said: dict[str, Any]) -> Fields:
    """A language model whose fields stand in the place of the whole's."""
    fields, read = _read(c, {**said, "architectures": None}, "causal")
    c.mtp = read.mtp
    c.doubts += read.doubts
    method = None if quantization(c) else quantization(read)
    stored = {"precision": precision(read), **when(method, quantization={**(method or {}), "parts": ["text"]})}
    return {**fields, **{key: value for key, value in stored.items() if value}}


def _read(c: Config, said: dict[str, Any], task: str) -> tuple[Fields, Config]:
    family = translator(said["model_type"])
    if family is None:
        raise unknown_type(said)
    found = Config(said["model_type"], said, task)
    found.inside = True
    found.inside_of(c)
    found.skip(*MTP)
    fields = with_dropout(found, family.translate(found))
    found.check_all_read(family.inert)
    c.notes += found.notes
    own = when(fields.get("family") not in ("network", "parts"), softmax=found.softmax)
    return finished({**fields, **own}), found


def features(vision: Fields, *, patches_alone: bool) -> Fields:
    """A tower of which every position is read and not what it pools: the weights of its pooling are kept, unused."""
    head, d_model = vision.get("head", "none"), vision["d_model"]
    fields = {**vision, "head": {"kind": "none", **when(patches_alone, pool="patches")}}
    if head == "none" or not isinstance(head, dict):
        return fields
    kept = dict(vision.get("spare", {}))
    if head.get("pool") == "class" and head.get("norm") and not head.get("pooler"):
        return {**fields, "spare": kept | _unused_norm(vision, d_model)}
    if head == {"kind": "none", "pool": "probe"}:
        return {**fields, "spare": kept | _unused_probe(d_model, vision["ffn"]["width"])}
    raise InputError(f"the pooling of the vision tower, {head}, is not counted", "--trace counts it with transformers")


def _unused_norm(vision: Fields, d_model: int) -> Fields:
    is_layer = vision.get("norm", {}).get("kind", "layer") == "layer"
    return {"unused_norm_weight": [d_model], **when(is_layer, unused_norm_bias=[d_model])}


def _unused_probe(d_model: int, width: int) -> Fields:
    """A learned query, its attention, a norm and a feed-forward layer, as SigLIP pools an image."""
    square = [d_model, d_model]
    matrices = {"q": square, "k": square, "v": square, "out": square, "in": [width, d_model], "up": [d_model, width]}
    shapes: Fields = {"unused_probe": [1, d_model], "unused_norm_weight": [d_model], "unused_norm_bias": [d_model]}
    for name, sizes in matrices.items():
        shapes |= {f"unused_{name}_weight": sizes, f"unused_{name}_bias": sizes[:1]}
    return shapes


def reading_images(vision: Fields, projector: list[Any], text: Fields) -> Fields:
    """A language model that reads what a tower sees of each image, behind a projector, in one sequence with tokens."""
    return reading(tower(*image_of(vision), projector=projector), text)


def reading_audio(hearing: Fields, projector: list[Any], text: Fields) -> Fields:
    """A language model that reads what a tower hears in frames of a spectrogram, behind a projector."""
    embedding, position = dict(hearing["embedding"]), hearing.get("position")
    length = (position.get("length") if isinstance(position, dict) else None) or LISTENS
    merged = next((layer["merge"] for layer in projector if isinstance(layer, dict) and "merge" in layer), 1)
    frames = max(length // merged, 1) * merged * prod(embedding.get("strides", (1, 2)))
    recording = {"shape": [embedding.pop("mels", 80), frames], "rate": embedding.pop("rate")}
    parts = {"hearing": {"reads": AUDIO, **hearing, "embedding": embedding}, "projector": {"layers": projector}}
    return reading({"inputs": {AUDIO: recording}, "parts": parts}, text)


def reading(seen: Fields, text: Fields, *others: Fields | None) -> Fields:
    """The same of towers that are given as parts, of each of which it reads the last."""
    towers = [tower for tower in (seen, *others) if tower]
    lasts = [[*tower["parts"]][-1] for tower in towers]
    inputs, parts = ({key: each for tower in towers for key, each in tower[of].items()} for of in ("inputs", "parts"))
    of_the_whole = {key: text[key] for key in _OF_THE_WHOLE if key in text}
    own = {key: value for key, value in text.items() if key not in _OF_THE_WHOLE}
    parts |= {"text": {"reads": [*lasts, TOKENS], **own}}
    return {"family": "parts", **of_the_whole, "inputs": {**inputs, TOKENS: "tokens"}, "parts": parts}
