"""The class of transformers that a config names, built on the meta device: shapes without memory."""

from __future__ import annotations

import importlib
import inspect
import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from archcalc.core.errors import InputError, MissingExtra
from archcalc.importers.meta.cleaned import Cleaned
from archcalc.importers.meta.contained import contained, without_kernels
from archcalc.importers.meta.limits import counted

OLDEST = 5  # transformers 4 could be made to run code that a config names


def needed(name: str, purpose: str, extra: str) -> Any:
    """torch or transformers, of the extra that brings it."""
    try:
        with without_kernels():
            found = importlib.import_module(name)
    except ImportError:
        raise MissingExtra(f"{name.partition('.')[0]}, which {purpose},", extra) from None
    version = str(getattr(found, "__version__", ""))
    if name == "transformers" and int(version.partition(".")[0] or 0) < OLDEST:
        fact = f"transformers {version} is installed, and archcalc uses transformers {OLDEST} or later"
        raise InputError(fact, f"pip install --upgrade 'archcalc[{extra}]'")
    return found


def built(
    kept: Cleaned,
    *,
    torch: Any,
    transformers: Any,
    name: str = "",
    prepare: Callable[[Any], None] = lambda config: None,
    dtype: str = "float32",
    every_thread: bool = False,
) -> Any:
    """`name` is the class, where it is not the config's to choose; `prepare` may change the config's object."""
    transformers.logging.set_verbosity_error()
    with warnings.catch_warnings(), contained(every_thread=every_thread) as attempts:
        warnings.simplefilter("ignore")
        try:
            config = _config(kept, transformers)
            prepare(config)
            made = model_class(name or _named(kept), config, transformers)
            with counted(torch), torch.device("meta"), _default_dtype(torch, dtype):
                module = made(config)
        except InputError:
            raise
        except Exception as reason:  # a config class and its models raise whatever they like
            if not attempts:
                raise _not_built(reason) from None
    if attempts:  # even where transformers went on without: what it would have built with an answer is not known
        fact = f"to build it, transformers tries to reach outside of this file ({attempts[0]}), which was prevented"
        raise InputError(fact, "a config that refers to another repository cannot be traced")
    return module


def _config(kept: Cleaned, transformers: Any) -> Any:
    """Of the class for the model_type, with attention step by step."""
    model_type = kept.get("model_type")
    if not isinstance(model_type, str) or model_type not in transformers.CONFIG_MAPPING:
        fact = f"transformers cannot build it: version {transformers.__version__} has no model_type {model_type}"
        wrote = kept.get("transformers_version")
        other = f", or install transformers {wrote}, which wrote the file" if isinstance(wrote, str) else ""
        raise InputError(
            fact, f"check model_type{other:.60}; what only a repository's own code builds cannot be traced"
        )
    kind = transformers.CONFIG_MAPPING[model_type]
    config = kind.from_dict(kind._decode_special_floats(json.loads(json.dumps(kept))))
    config._attn_implementation = "eager"
    return config


def _named(kept: Cleaned) -> str:
    """The first of `architectures`, or nothing."""
    listed = kept.get("architectures") or []
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise InputError("architectures is not a list of names", "name one model class", field="architectures")
    return listed[0] if listed else ""


def model_class(name: str, config: Any, transformers: Any) -> Any:
    """Nothing but a model class of transformers, made for such a config; without a name the type's bare model."""
    if not name:
        return _bare(config, transformers)
    found = getattr(transformers, name, None) if name.isidentifier() else None
    if not _is_model(found, transformers):
        fact = f"{name} is not a model class of transformers {transformers.__version__}"
        raise InputError(fact, "check architectures, or leave it out for the bare model", field="architectures")
    wanted = getattr(found, "config_class", None)
    if wanted is not None and not isinstance(config, wanted):
        fact = f"{name} is built from a {wanted.__name__}, and model_type {config.model_type} has another"
        raise InputError(fact, "model_type and architectures must belong together", field="architectures")
    return found


def _is_model(found: Any, transformers: Any) -> bool:
    if not (inspect.isclass(found) and issubclass(found, transformers.PreTrainedModel)):
        return False
    return found.__module__.startswith("transformers.models.") and not found.__name__.endswith("PreTrainedModel")


def _bare(config: Any, transformers: Any) -> Any:
    found = transformers.AutoModel._model_mapping.get(type(config), None)
    if isinstance(found, list | tuple):
        found = found[0]
    if not _is_model(found, transformers):
        fact = f"transformers has no bare model for model_type {config.model_type}"
        raise InputError(fact, "name one of its model classes", field="architectures")
    return found


@contextmanager
def _default_dtype(torch: Any, name: str) -> Iterator[None]:
    """As transformers builds a class for a dtype; what a class wants in fp32 stays so."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, name))
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _not_built(reason: Exception) -> InputError:
    if isinstance(reason, MemoryError):
        return InputError("transformers needs more memory to build it than it is given", "check the config's sizes")
    fact = f"transformers cannot build it: {type(reason).__name__}: {' '.join(str(reason).split())[:200]}"
    return InputError(fact, "check the config: transformers must accept it")
