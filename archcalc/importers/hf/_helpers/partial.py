"""Parts of a model that a translator does not count: vision and audio encoders, further heads."""

from __future__ import annotations

import json
from typing import Any

from archcalc.importers.hf._helpers.reading import Config, when
from archcalc.importers.hf._helpers.texts import Text
from archcalc.spec.paths import data_root

MTP = (  # fields of published configs that count the layers which predict further tokens
    "num_nextn_predict_layers",  # DeepSeek, GLM, MiMo, Nemotron
    "num_mtp_layers",
    "_num_mtp_layers",  # EXAONE 4.5
    "mtp_num_hidden_layers",  # Qwen 3.5
    "mtp_num_layers",
    "num_mtp_modules",  # MiniMax
)


def scope(c: Config, text: Text, fields: dict[str, Any]) -> dict[str, Any] | None:
    """The spec's `scope`; None where the whole model is counted."""
    c.skip(*MTP)
    head, further = fields.get("head"), _further(c.spelled)
    if isinstance(head, dict) and "mtp" in head:
        further = []
    elif not further and not any(key in c.spelled for key in MTP):
        # checkpoints such as Qwen3-Next's contain multi-token prediction layers, which their configs do not mention
        skipped = json.loads((data_root() / "hf" / "unloaded.json").read_text(encoding="utf-8"))
        if skipped.get(c.type):
            words = "the checkpoint may contain multi-token prediction layers, which transformers does not load"
            c.notes.append(f"{words}: not counted")
    left_out = [*text.left_out, *further]
    if not left_out:
        return None
    if text.outer:
        return {"part": "text model", "of": text.outer, "left_out": left_out}
    return {"part": "main model", "of": c.type, "left_out": left_out}


def untied(fields: dict[str, Any]) -> list[str]:
    """Notes that transformers 5 builds more embeddings than checkpoints of earlier versions contain."""
    embedding = fields.get("embedding")
    if not (isinstance(embedding, dict) and embedding.get("spare")):
        return []
    return [
        "tie_word_embeddings is false: counted as transformers 5 builds it, a table for each stack and a spare one;"
        " files that earlier versions wrote hold one table for both stacks"
    ]


def untraced(said: dict[str, Any]) -> dict[str, Any]:
    """The same for a model that transformers builds."""
    inner = said.get("text_config")
    further = _further(said)
    if not further and isinstance(inner, dict):
        further = _further(inner)
    return when(further, scope={"part": "main model", "of": said.get("model_type"), "left_out": further})


def _further(said: dict[str, Any]) -> list[str]:
    """Multi-token prediction layers: transformers does not build them, and skips their tensors in a checkpoint."""
    layers = next((said[key] for key in MTP if type(said.get(key)) is int and said[key] > 0), 0)
    if not layers:
        return []
    return [f"multi-token prediction ({layers} {'layer' if layers == 1 else 'layers'})"]
