"""How the weights of a checkpoint are stored, where its config says that they are quantised."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers.reading import Config


def quantization(config: Config) -> dict[str, Any] | None:
    """How the weights are stored, where they are quantised: it changes bytes and not parameters."""
    keys = ("quantization_config", "compression_config", "quantization")  # of most, of older ones, of MLX
    found = [(key, config.given(key)) for key in keys]
    key, said = next(((key, value) for key, value in found if value), ("", None))
    if not said:
        return None
    from archcalc.storage.quantization_config.methods import quantised

    if not quantised(said, key):
        return None
    parts = [part for part in (said, said.get("quantization")) if isinstance(part, dict)]
    if any(part.get("kv_cache_scheme") or part.get("kv_cache_quant_algo") for part in parts):
        config.notes.append("the checkpoint has scales for an fp8 KV cache: --kv-dtype fp8 counts it that way")
    return dict(said)
