"""A config that no translator reads, built by transformers on torch's meta device: its tensors, and nothing more."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from archcalc.document import Document
from archcalc.errors import InputError, MissingExtra
from archcalc.importers.files import of_tensors
from archcalc.stored_tensors import Stored

_FORMATS = {"float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float8_e4m3fn": "fp8"}


def document(said: dict[str, Any], shown: str, why: str) -> Document:
    """`why` says what kept archcalc from reading the config itself."""
    torch, transformers = _needed("torch"), _needed("transformers")
    model = _built(said, torch, transformers)
    tensors = {name: _stored(parameter) for name, parameter in model.named_parameters()}
    note = (
        f"traced: {type(model).__name__} as transformers {transformers.__version__} builds it; archcalc itself does"
        f" not read it ({why}), so there is no forward pass behind these tensors"
    )
    made = of_tensors(tensors, shown)
    made.data["precision"] = _FORMATS.get(_dtype(said), "fp32")
    quantised = ("bytes are those of the unquantised model, whatever quantization_config says",)
    return Document(shown, data=made.data, notes=(note, *(quantised if said.get("quantization_config") else ())))


def _needed(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtra(f"--trace builds the model with {name}, which", "trace") from None


def _built(said: dict[str, Any], torch: Any, transformers: Any) -> Any:
    transformers.logging.set_verbosity_error()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            config = transformers.CONFIG_MAPPING[said["model_type"]].from_dict(said)
            made = _class_of(said, config, transformers)
            with torch.device("meta"), _default_dtype(torch, _dtype(said)):
                return made(config)
    except InputError:
        raise
    except Exception as reason:  # a config class and its models raise whatever they like
        fact = f"transformers cannot build it: {type(reason).__name__}: {str(reason).strip()[:200]}"
        raise InputError(fact, "check the config; --trace needs one that transformers accepts") from None


def _dtype(said: dict[str, Any]) -> str:
    """Of `dtype`, which older files call `torch_dtype`, at the top or in the part that is text."""
    inner = said.get("text_config")
    places = (said, inner if isinstance(inner, dict) else {})
    named = (str(place.get(key) or "") for place in places for key in ("dtype", "torch_dtype"))
    found = next((name.removeprefix("torch.") for name in named if name), "float32")
    return found if found in ("float16", "bfloat16", "float64") else "float32"


@contextmanager
def _default_dtype(torch: Any, name: str) -> Iterator[None]:
    """As transformers builds a class for a dtype; what a class wants in fp32 stays so."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, name))
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _class_of(said: dict[str, Any], config: Any, transformers: Any) -> Any:
    """The class that the config names; without one, the type's bare model."""
    named = said.get("architectures") or []
    if named:
        return getattr(transformers, named[0])
    return transformers.AutoModel._model_mapping[type(config)]


def _stored(parameter: Any) -> Stored:
    kind = str(parameter.dtype).removeprefix("torch.")
    return Stored(_FORMATS.get(kind, kind), tuple(parameter.shape), parameter.numel() * parameter.element_size())
