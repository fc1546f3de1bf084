"""Counts the parameters missing from a partly imported model: transformers builds the whole model."""

from __future__ import annotations

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.model import Model


def left_out(model: Model) -> tuple[Assumption, ...]:
    """A note with both numbers; none for a model that is imported completely."""
    if not model.document.whole or model.edited:
        return ()
    from archcalc.importers import trace

    try:
        traced = trace.document(model.document.whole, model.document.file, "a part of it alone")
    except InputError as reason:
        return (Assumption(Topic.SCOPE, f"the number of parameters not counted is unknown: {reason.fact}"),)
    whole, counted = int(Model.from_document(traced, "whole").params().total), int(model.params().total)
    text = f"transformers builds {whole:,} parameters in all: {whole - counted:,} are left out here"
    return (Assumption(Topic.SCOPE, text, whole - counted),)
