"""Files that list very many tensors: what is done for each of them does not grow with the others."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from support.safetensors_files import file

import archcalc

if TYPE_CHECKING:
    from conftest import Write


def calls(function: Callable[[], object]) -> int:
    """How many functions are called, and generators resumed."""
    number = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal number
        number += event == "call"

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return number


@pytest.mark.parametrize("name", ["t{}", "layers.{}.weight", "model.layers.{}.mlp.weight"])
@pytest.mark.parametrize("asked", ["params", "memory", "yaml"])
def test_twice_the_tensors_are_twice_the_work(write: Write, name: str, asked: str) -> None:
    work = []
    for number in (400, 800):
        tensors = {name.format(place): ("F32", [place + 1]) for place in range(number)}  # no two alike
        model = archcalc.load(write(file(tensors), f"m{number}.safetensors"))
        work.append(calls(getattr(model, asked)))
    assert work[1] < 2.5 * work[0]
