"""Builds a config that no translator reads with transformers on torch's meta device, and lists its tensors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from archcalc.core.errors import InputError, MissingExtra
from archcalc.importers.files import of_tensors
from archcalc.importers.meta.cleaned import cleaned
from archcalc.spec.stored_tensors import Stored
from archcalc.spec.yaml_reader import Document
from archcalc.storage.packed_tensors import uses

SECONDS = 300  # by the clock: on a busy machine the imports alone take half a minute
_FORMATS = {"float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float8_e4m3fn": "fp8"}
_ENVIRONMENT = {  # the process that builds needs neither a network nor a GPU, and one thread
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "USE_HUB_KERNELS": "0",
    "CUDA_VISIBLE_DEVICES": "",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}


def document(said: dict[str, Any], shown: str, why: str) -> Document:
    """`why` is the reason that archcalc cannot import the config itself."""
    for name in ("torch", "transformers"):
        if find_spec(name) is None:
            raise MissingExtra(f"{name}, which --trace builds the model with,", "trace")
    dtype = _dtype(said)
    answer = _answer({"config": cleaned(said), "dtype": dtype})
    tensors = _parameters(answer["tensors"])
    note = (
        f"traced: {answer['class']} as transformers {answer['version']} builds it; archcalc itself does"
        f" not read it ({why}), so there is no forward pass behind these tensors"
    )
    made = of_tensors(tensors, shown)
    made.data["precision"] = _FORMATS.get(dtype, "fp32")
    quantised = ("bytes are those of the unquantised model, whatever quantization_config says",)
    return Document(shown, data=made.data, notes=(note, *(quantised if said.get("quantization_config") else ())))


def _parameters(listed: dict[str, Any]) -> dict[str, Stored]:
    """All of them are parameters; a name that looks like a buffer or a scale is marked as a parameter explicitly."""
    found = {name: Stored(_FORMATS.get(kind, kind), tuple(shape), size) for name, (kind, shape, size) in listed.items()}
    used = uses(found)
    named_otherwise = [name for name, stored in found.items() if used[name].weights != stored.elements]
    return found | {name: replace(found[name], weights=found[name].elements) for name in named_otherwise}


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    """Runs a child process, which is ended after a time limit, on Ctrl-C, or when it uses too much memory."""
    command = [sys.executable, "-P", "-m", "archcalc.importers.meta.child"]
    given = json.dumps(asked).encode()
    try:
        ran = subprocess.run(
            command, input=given, capture_output=True, env=_environment(), timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"transformers was still building it after {SECONDS} s", "check the config's sizes") from None
    except OSError as reason:
        fact = f"--trace starts Python once more, which failed: {reason.strerror or reason}"
        raise InputError(fact, "run archcalc with a Python that can be started") from None
    try:
        found: dict[str, Any] = json.loads(ran.stdout)
    except ValueError:
        last = ran.stderr.decode(errors="replace").strip().splitlines()[-1:] or [f"exit code {ran.returncode}"]
        fact = f"transformers did not finish building it: {last[0][:200]}"
        raise InputError(fact, "check the config's sizes") from None
    if "fact" in found:
        raise InputError(found["fact"], found["hint"], field=found["field"])
    return found


def _environment() -> dict[str, str]:
    """The child imports modules from the same paths, but never from the current folder, which may be untrusted."""
    home, here = str(Path(__file__).parent.parent.parent), str(Path.cwd())
    paths = [path for path in sys.path if path == home or path not in ("", here)]
    paths = paths if home in paths else [home, *paths]
    kept = {name: value for name, value in os.environ.items() if name not in ("HF_TOKEN", "PYTHONINSPECT")}
    return {**kept, **_ENVIRONMENT, "PYTHONPATH": os.pathsep.join(paths)}


def _dtype(said: dict[str, Any]) -> str:
    """Of `dtype`, which older files call `torch_dtype`, at the top or in the part that is text."""
    inner = said.get("text_config")
    places = (said, inner if isinstance(inner, dict) else {})
    named = (str(place.get(key) or "") for place in places for key in ("dtype", "torch_dtype"))
    found = next((name.removeprefix("torch.") for name in named if name), "float32")
    return found if found in ("float16", "bfloat16", "float64") else "float32"
