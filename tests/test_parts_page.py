"""Every example of docs/parts.md and docs/networks.md is a spec, of which PyTorch has the same numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

import archcalc

DOCS = Path(__file__).parent.parent / "docs"
EXAMPLES = [
    pytest.param(text, id=f"{page}-{index}")
    for page in ("parts", "networks")
    for index, text in enumerate(re.findall(r"```yaml\n(.*?)```", (DOCS / f"{page}.md").read_text("utf-8"), re.DOTALL))
]


@pytest.mark.wide(6)
@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_equals_pytorch(text: str) -> None:
    pytest.importorskip("torch")
    assert archcalc.load(yaml.safe_load(text)).verify(batch=2, quick=True).ok
