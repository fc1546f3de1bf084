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
from archcalc.importers.hf._helpers.texts import language_of

IMAGES, AUDIO, TOKENS = "images", "audio", "tokens"  # inputs; the parts are called vision, hearing, projector, text
LISTENS = 1500  # positions: what is heard in half a minute


def inner(c: Config, key: str, task: str = "base", **usual: Any) -> Fields:
    """A config inside another one, with what its own translator makes of it. `usual` are fields that the outer class
    gives it where the file leaves them out."""
    about, said = c.parts[key], c.given(key)
    if said is None:
        said = about["fields"]
    if not isinstance(said, dict):
        raise c.wrong(key, "a config")
    named = {} if about["fixed"] else {"model_type": readable_type({"model_type": about["type"], **said})}
    return _read(c, {**usual, **said, "model_type": about["type"], **named}, task)


def language(c: Config) -> Fields:
    """The language model inside a config, with its head."""
    c.skip("text_config", "tie_word_embeddings")
    text = language_of(c.spelled)
    c.skip(*text.said)  # older files have its fields at the top
    return _read(c, text.said, text.task)


def _read(c: Config, said: dict[str, Any], task: str) -> Fields:
    family = translator(said["model_type"])
    if family is None:
        raise unknown_type(said)
    found = Config(said["model_type"], said, task)
    fields = with_dropout(found, family.translate(found))
    found.check_all_read(family.inert)
    c.notes += found.notes
    return finished({**fields, **when(fields.get("family") != "network", softmax=found.softmax)})


def features(vision: Fields, *, patches_alone: bool) -> Fields:
    """A tower of which every position is read and not what it pools: the weights of its pooling are kept, unused."""
    head, d_model = vision.get("head", "none"), vision["d_model"]
    fields = {**vision, "head": {"kind": "none", **when(patches_alone, pool="patches")}}
    if head == "none" or not isinstance(head, dict):
        return fields
    if head.get("pool") == "class" and head.get("norm") and not head.get("pooler"):
        return {**fields, "spare": {**vision.get("spare", {}), **_unused_norm(vision, d_model)}}
    raise InputError(f"the pooling of the vision tower, {head}, is not counted", "--trace counts it with transformers")


def _unused_norm(vision: Fields, d_model: int) -> Fields:
    is_layer = vision.get("norm", {}).get("kind", "layer") == "layer"
    return {"unused_norm_weight": [d_model], **when(is_layer, unused_norm_bias=[d_model])}


def image_of(vision: Fields) -> tuple[Fields, list[int]]:
    """A tower without the size of its image, which its input has; and that input's shape."""
    embedding = dict(vision["embedding"])
    image, channels = embedding.pop("image"), embedding.pop("channels", 3)
    sides = image if isinstance(image, list) else [image, image]
    return {**vision, "embedding": embedding}, [channels, *sides]


def reading_images(vision: Fields, projector: Any, text: Fields) -> Fields:
    """A language model that reads what a tower sees of each image, behind a projector, in one sequence with tokens."""
    tower, image = image_of(vision)
    return _reading(IMAGES, image, {"vision": tower}, projector, text)


def reading_audio(hearing: Fields, projector: Any, text: Fields) -> Fields:
    """A language model that reads what a tower hears in frames of a spectrogram, behind a projector."""
    embedding, position = dict(hearing["embedding"]), hearing.get("position")
    length = position.get("length") if isinstance(position, dict) else None
    frames = (length or LISTENS) * prod(embedding.get("strides", (1, 2)))
    recording = {"shape": [embedding.pop("mels", 80), frames], "rate": embedding.pop("rate")}
    return _reading(AUDIO, recording, {"hearing": {**hearing, "embedding": embedding}}, projector, text)


def _reading(name: str, shape: Any, tower: dict[str, Fields], projector: Any, text: Fields) -> Fields:
    return {
        "family": "parts",
        "inputs": {name: shape, TOKENS: "tokens"},
        "parts": {
            **{part: {"reads": name, **fields} for part, fields in tower.items()},
            "projector": {"layers": projector},
            "text": {"reads": ["projector", TOKENS], **text},
        },
    }
