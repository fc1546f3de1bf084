"""Dropout of a config: one rate for sublayers and embedding, and another for attention weights where it differs.

It changes no parameter and no FLOP, but training keeps a mask wherever the rate is not zero.
"""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers.reading import Config

BRANCHES = ("hidden_dropout_prob", "hidden_dropout", "resid_pdrop", "residual_dropout", "resid_dropout", "dropout_rate")
EMBEDDING = ("embd_pdrop", "embedding_dropout", "embed_dropout", "emb_pdrop")
ATTENTION = ("attention_dropout", "attention_probs_dropout_prob", "attn_pdrop")
INSIDE = ("activation_dropout", "mlp_dropout")  # of a feed-forward layer, where the spec has none
CERTAIN = 0.99  # stands for 1, which PyTorch takes and the spec does not: either way there is a mask


def with_dropout(c: Config, fields: dict[str, Any]) -> dict[str, Any]:
    """The translated fields, and the rates that training has there; layers of a network and parts say their own."""
    if fields.get("family") in ("network", "parts"):
        return fields
    branches = _rate(c, *BRANCHES, "dropout") or 0.0
    attention = _rate(c, *ATTENTION)
    embedding = _rate(c, *EMBEDDING)
    if embedding is not None and bool(embedding) != bool(branches):
        c.notes.append(f"dropout is {embedding} on the embedding and {branches} on the branches: counted as on these")
    c.notes += [f"{key} is left out of training's memory" for key in INSIDE if _rate(c, key)]
    if branches:
        fields = {**fields, "dropout": branches}
    variants = fields.get("variants") or {}
    words = {"attention", *(word for word, said in variants.items() if said.get("like") == "attention")}
    lines = [line for name in ("encoder", "decoder") for line in _lines(fields.get(name))]
    attends = any(words & set(line.split()) for line in lines)  # a purely recurrent stack has no attention weights
    if attention is not None and attention != branches and attends:
        fields = {**fields, "attention": {**(fields.get("attention") or {}), "dropout": attention}}
    return fields


def _lines(stack: Any) -> list[str]:
    """The lines of a pattern; a stack without one has usual blocks."""
    if stack is None or isinstance(stack, str):
        return [stack or ""]
    if not isinstance(stack, dict) or "pattern" not in stack:
        return ["attention"]
    return [line for item in stack["pattern"] for line in _lines(item)]


def _rate(c: Config, *keys: str) -> float | None:
    """The first of the keys that the class declares; None where it declares none of them."""
    key = next((key for key in keys if c.named(key) in c.declared), None)
    if key is None or c.get(key) is None:
        return None
    return fraction(c, key)


def fraction(c: Config, key: str) -> float:
    """A rate of dropout, as the spec takes it."""
    value = c.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise c.wrong(key, "a fraction from 0 to 1")
    return min(float(value), CERTAIN)
