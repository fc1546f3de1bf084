"""Write presets/hf/types.yaml and unloaded.json, of the installed transformers.

The first lists the model types that it can build, which --trace counts; the second has the types that archcalc reads
whose class skips multi-token prediction in a checkpoint, with the names of the tensors that it skips.

python tools/hf_types.py
"""

from __future__ import annotations

import transformers
from hf_defaults import registered, text
from transformers import CONFIG_MAPPING
from transformers.models.auto import modeling_auto

from archcalc.spec.paths import data_root


def buildable() -> list[str]:
    """Types that stand in any mapping from a config to a model class."""
    names = [name for name in dir(modeling_auto) if name.endswith("_MAPPING_NAMES")]
    mapped = {model_type for name in names for model_type in getattr(modeling_auto, name)}
    return sorted(mapped & set(CONFIG_MAPPING))


def unloaded() -> dict[str, list[str]]:
    """Patterns of names, by type."""
    found = {model_type: _skipped(model_type) for model_type in registered()}
    return {model_type: patterns for model_type, patterns in found.items() if patterns}


def _skipped(model_type: str) -> list[str]:
    name = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(model_type)
    made = getattr(transformers, name) if isinstance(name, str) else None
    return sorted(key for key in getattr(made, "_keys_to_ignore_on_load_unexpected", None) or () if "mtp" in key)


def main() -> None:
    (data_root() / "hf" / "unloaded.json").write_text(text(unloaded()), encoding="utf-8")
    found = buildable()
    file = data_root() / "hf" / "types.yaml"
    lines = "".join(f"  - {model_type}\n" for model_type in found)
    file.write_text(f"# Written by tools/hf_types.py\ntransformers: {transformers.__version__}\ntypes:\n{lines}")
    print(f"{len(found)} types")


if __name__ == "__main__":
    main()
