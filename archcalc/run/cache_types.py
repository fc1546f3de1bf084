"""The formats of keys and values in the KV cache, as they are asked for: one for both, or one each.

--kv-dtype q8_0      --kv-dtype q8_0,q4_0      --cache-type-k q8_0 --cache-type-v q4_0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from archcalc.core.errors import InputError
from archcalc.run.engine.rules import EngineRules
from archcalc.spec.option import flag_of
from archcalc.storage.named_formats import meaning, uniform_format

if TYPE_CHECKING:
    from archcalc.run.options import Options

BOTH, OF_KEYS, OF_VALUES = "kv_dtype", "cache_type_k", "cache_type_v"


class Part(NamedTuple):
    """Keys or values: their format as it is called, empty if none is asked for, and the option that names it."""

    format: str
    option: str


class CacheTypes(NamedTuple):
    """What was asked for."""

    keys: Part
    values: Part

    def named(self, usual: str) -> str:
        """`q8_0`, or `q8_0,q4_0`: as --kv-dtype takes it."""
        return ",".join(dict.fromkeys(one.format or usual for one in self))

    def words(self, usual: str) -> str:
        """`q8_0 KV cache`, or `q8_0 keys, q4_0 values`."""
        keys, values = (one.format or usual for one in self)
        return f"{keys} KV cache" if keys == values else f"{keys} keys and {values} values in the KV cache"


def cache_types(asked: Options) -> CacheTypes:
    """Refuses more than two formats, and two options for one thing."""
    pair = [meaning(part.strip(), of="caches").format for part in (asked.kv_dtype or "").split(",")]
    if len(pair) > 2 or (asked.kv_dtype and not all(pair)):
        hint = "write q8_0, or q8_0,q4_0 for keys and values"
        raise InputError("expected one format, or two", hint, field=flag_of(BOTH))
    each = [Part(pair[0], BOTH), Part(pair[-1], BOTH)]
    for place, name in enumerate((OF_KEYS, OF_VALUES)):
        own = getattr(asked, name)
        if own and asked.kv_dtype:
            hint = f"leave one of them out, or {flag_of(name)}"
            raise InputError("--kv-dtype names a format already", hint, field=flag_of(name))
        each[place] = Part(meaning(own, of="caches").format, name) if own else each[place]
    return CacheTypes(*each)


def check_engine(rules: EngineRules, asked: CacheTypes, attention: str | None) -> None:
    """Refuse formats that an engine does not have, for keys and values, beside each other, or without its kernel."""
    for one in asked:
        if rules.kv_formats and one.format and one.format not in rules.kv_formats:
            fact = f"{rules.name} has no KV cache in {one.format}"
            raise InputError(fact, f"choose one of {', '.join(rules.kv_formats)}", field=flag_of(one.option))
    usual = rules.cache.usual if rules.cache else ""
    keys, values = (one.format or usual for one in asked)
    if rules.kv_formats and keys != values and not (rules.cache and rules.cache.apart):
        fact = f"{rules.name} has one format for keys and values, and no {keys or 'other'} beside {values or 'another'}"
        raise InputError(fact, "name one format", field=flag_of(asked.values.option))
    if rules.cache and rules.cache.by_flash and attention == "eager" and values and uniform_format(values).is_quantised:
        fact = f"{rules.name} computes with values in {values} by flash attention alone"
        hint = "leave --attention out, or choose values in fp16"
        raise InputError(fact, hint, field="--attention")
