"""A config without the fields that lead out of the file: to other repositories, to code, to kernels, to weights.

The fields are those that transformers 5.0 to 5.22 and timm act on when a class is built from a config.
"""

from __future__ import annotations

import re
from typing import Any, NewType

from archcalc.core.errors import InputError
from archcalc.importers.meta.limits import check_sizes

Cleaned = NewType("Cleaned", dict[str, Any])
DROPPED = {
    "auto_map",  # code of a repository, by the name of its class
    "custom_pipelines",
    "trust_remote_code",
    "_name_or_path",  # a repository or a folder
    "name_or_path",
    "_commit_hash",
    "quantization_config",  # how weights are stored: it can replace layers, and is counted elsewhere
    "compression_config",
    "attn_implementation",  # may name a repository of kernels
    "_attn_implementation",
    "_attn_implementation_internal",
    "_attn_implementation_autoset",
    "experts_implementation",
    "_experts_implementation",
    "_experts_implementation_internal",
    "use_kernels",
    "kernel_config",
    "use_pretrained_backbone",  # weights
    "pretrained",  # of timm.create_model, as are the next five
    "pretrained_cfg",
    "pretrained_cfg_overlay",
    "pretrained_strict",
    "checkpoint_path",
    "cache_dir",
}
_WITHOUT_WEIGHTS = {"use_pretrained_backbone": False}  # said, since transformers 5.0 has True as its default
MAX_DEPTH = 40  # real configs nest three or four deep
_TIMM_NAME = re.compile(r"[\w.-]+")  # `hf-hub:owner/name` and `local-dir:…` would make timm look there
_HINT = "--trace reads this file alone: write the backbone's own config into backbone_config"


def cleaned(config: dict[str, Any]) -> Cleaned:
    """A copy that names nothing outside of itself. A backbone that is only named is refused, not replaced."""
    kept = _kept(config, 0)
    check_sizes(kept)
    return Cleaned({**kept, **_WITHOUT_WEIGHTS})


def _kept(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise InputError(f"the config is nested more than {MAX_DEPTH} deep")
    if isinstance(value, list):
        return [_kept(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _kept(inner, depth + 1) for key, inner in value.items() if key not in DROPPED}
    if kept.get("model_type") == "timm_wrapper":
        _timm_name(kept.get("architecture"))
    if kept.get("model_type") == "timm_backbone":
        _timm_name(kept.get("backbone"))
        return {**kept, **_WITHOUT_WEIGHTS}
    return _with_backbone(kept)


def _with_backbone(fields: dict[str, Any]) -> dict[str, Any]:
    """A backbone by its config, or an architecture of timm, which is built without weights.

    Of a name with keyword arguments transformers asks the Hub first whether it is a repository's, and then gives it to
    timm. Here that is decided by `use_timm_backbone`.
    """
    named, arguments = fields.get("backbone"), fields.pop("backbone_kwargs", None)
    if named is None:
        return fields
    if isinstance(fields.get("backbone_config"), dict):
        return {**fields, "backbone": None}  # not left out: the class may have a name as its default
    if fields.get("use_timm_backbone") is False:
        raise InputError(f"the config names the backbone {named} and does not hold its config", _HINT)
    _timm_name(named)
    if not arguments:
        return fields
    if not isinstance(arguments, dict):
        raise InputError("backbone_kwargs is not a JSON object", _HINT)
    made = {**arguments, **_WITHOUT_WEIGHTS, "model_type": "timm_backbone", "backbone": named}
    return {**fields, "backbone": None, "backbone_config": made, "use_timm_backbone": False}


def _timm_name(named: Any) -> None:
    if named is not None and not (isinstance(named, str) and _TIMM_NAME.fullmatch(named)):
        raise InputError(f"the config names the backbone {named} and does not hold its config", _HINT)
