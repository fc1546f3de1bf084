"""A Transformer that hears more, or less, than its spec says: how long its sequence is follows from the recording."""

from __future__ import annotations

from typing import Any

from archcalc.archs.transformer.spec import Embedding, Spec
from archcalc.core.errors import InputError
from archcalc.spec.media import Media, refused
from archcalc.spec.node import merged
from archcalc.spec.option import flag_of


def fed(spec: Spec, media: Media) -> Spec:
    """The spec with so many seconds of audio."""
    given = media.given()
    for option in given:
        if option != "audio_seconds":
            raise refused(option, "images whose number or size can be chosen")
    own: Embedding = (spec.encoder and spec.encoder.embedding) or spec.embedding
    heard = merged(spec.embedding, own)
    if heard.kind != "audio":
        raise refused("audio_seconds", "audio")
    if not given["audio_seconds"]:
        raise InputError("there is nothing to hear", "give more than 0 seconds", field=flag_of("audio_seconds"))
    if not heard.rate:
        hint = "write it, such as `embedding: {kind: audio, rate: 100}`"
        raise InputError("the spec does not say how many frames a second has", hint, field=flag_of("audio_seconds"))
    return _with(spec, heard.model_copy(update={"seconds": given["audio_seconds"]}))


def _with(spec: Spec, embedding: Embedding) -> Spec:
    update: dict[str, Any] = {"embedding": embedding}
    if spec.encoder and "embedding" in spec.encoder.model_fields_set:
        return spec.model_copy(update={"encoder": spec.encoder.model_copy(update=update)})
    return spec.model_copy(update=update)
