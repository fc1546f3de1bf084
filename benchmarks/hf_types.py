"""Write presets/hf/types.yaml: the model types that the installed transformers can build, which --trace counts.

python benchmarks/hf_types.py
"""

from __future__ import annotations

import transformers
from transformers import CONFIG_MAPPING
from transformers.models.auto import modeling_auto

from archcalc.data import data_root


def buildable() -> list[str]:
    """Types that stand in any mapping from a config to a model class."""
    names = [name for name in dir(modeling_auto) if name.endswith("_MAPPING_NAMES")]
    mapped = {model_type for name in names for model_type in getattr(modeling_auto, name)}
    return sorted(mapped & set(CONFIG_MAPPING))


def main() -> None:
    found = buildable()
    file = data_root() / "hf" / "types.yaml"
    lines = "".join(f"  - {model_type}\n" for model_type in found)
    file.write_text(f"# Written by benchmarks/hf_types.py\ntransformers: {transformers.__version__}\ntypes:\n{lines}")
    print(f"{len(found)} types")


if __name__ == "__main__":
    main()
