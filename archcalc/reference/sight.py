"""Attention masks: causal, sliding window, chunk, padding and selected positions."""

from typing import Any

import torch
from torch import Tensor


def needs_mask(part: dict[str, Any]) -> bool:
    """Whether any position is masked."""
    sight = part["sight"]
    return part["feature"] == "softmax" and bool(sight["causal"] or sight["window"] or sight["chunk"])


def hidden_from(part: dict[str, Any], given: dict[str, Tensor]) -> Tensor | None:
    """True where a key is masked: by the stack's mask, or as padding."""
    padding, mask = given.get("own padding"), given.get(f"mask {part['name']}")
    if part.get("cross"):
        padding = given.get("memory padding")
    if padding is None:
        return mask
    if mask is None:
        return padding
    return mask | padding


def hidden_from_sight(sight: dict[str, Any], length: int, device: torch.device) -> Tensor:
    """True where a key is masked for a query: later positions, outside of the window, other chunks. A memory of earlier
    segments stands in front, and every query sees it."""
    places = torch.arange(sight["memory"] + length, device=device)
    query, key = places[-length:, None], places[None, :]
    hidden = query < key
    if not (sight["causal"] or sight["chunk"]):
        hidden = torch.zeros_like(hidden)
    if sight["chunk"]:
        hidden = hidden | (query // sight["chunk"] != key // sight["chunk"])
    if sight["window"] and sight["causal"]:
        hidden = hidden | (query - key >= sight["window"])
    elif sight["window"]:
        hidden = hidden | ((query - key).abs() > sight["window"] // 2)
    return hidden


def hidden_from_last(chunk: int, start: int, device: torch.device) -> Tensor:
    """True where a single query at position `start` must not see one of the last keys: those of other chunks."""
    places = torch.arange(max(0, start + 1 - chunk), start + 1, device=device)
    return (places // chunk != start // chunk)[None]


def unchosen(chosen: Tensor, past: int) -> Tensor:
    """True where a position was not selected: (batch, 1, seq, past)."""
    marks = torch.ones(*chosen.shape[:2], past, dtype=torch.bool, device=chosen.device)
    return marks.scatter(-1, chosen, False)[:, None]
