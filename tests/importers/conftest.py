"""The importers are judged by what transformers builds, with the tools that `benchmarks` uses too."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
