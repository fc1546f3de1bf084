"""Sizes as people write them: `8k`, `15T`, `3e4`, `30_000`, and how big numbers are written back."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import partial
from typing import NamedTuple

LARGEST = 10**15  # beyond any model, any corpus and any sequence: a slip of the keyboard

_SUFFIX = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9, "t": 10**12}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_WHOLE = r"0|[1-9][\d_]*|[1-9]\d{0,2}(?:,\d{3})+"  # no leading zeros: 010 would be 8 to some readers
_SIZE = re.compile(rf"({_WHOLE})(\.\d+)?(?:e\+?(\d{{1,2}}))?\s*([kmgbt]i?)?", re.IGNORECASE)
_RATED = re.compile(r"(\d[\d.,_]*)\s*(?:([kmgt])(i?)b|(g)(i?))", re.IGNORECASE)
_EXACT = re.compile(r"(\d{1,15})\s*bytes?", re.IGNORECASE)
_BYTES = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)\s*(?:([kmgt]i?)?b)?", re.IGNORECASE)


def parse_size(text: str) -> int:
    """Suffixes are decimal (`8k` is 8,000) unless written binary (`8Ki` is 8,192). Raises ValueError."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise ValueError("expected a whole number such as 512, 30_000, 8k, 8Ki or 3e4")
    whole, fraction, exponent, suffix = match.groups()
    factor = (_SUFFIX | _BINARY).get((suffix or "").lower())
    if factor is None:
        raise ValueError(f"unknown suffix {suffix}: use k, M, B, T (decimal) or Ki, Mi, Gi, Ti (binary)")
    number = Decimal(whole.replace("_", "").replace(",", "") + (fraction or "")) * 10 ** int(exponent or 0) * factor
    if number != int(number):
        raise ValueError("expected a whole number")
    return int(number)


def parse_bytes(text: str) -> int:
    """`24GiB`, or `24GB` which is 24 × 10⁹: GB is decimal and GiB binary, but for the memory of devices
    (`parse_rated`); a bare number is bytes, and parts of a byte are dropped.

    Raises ValueError.
    """
    match = _BYTES.fullmatch(text.strip())
    if not match:
        raise ValueError("expected a memory size such as 24GiB or 24GB")
    number, unit = match.groups()
    return int(Decimal(number) * (_SUFFIX | _BINARY)[(unit or "").lower()])


class Rated(NamedTuple):
    """The memory of a device as somebody wrote it, and whether that is how makers write it."""

    bytes: int
    by_maker: bool  # 24GB, which is printed on a card that has 24 GiB


def parse_rated(text: str) -> Rated | None:
    """`24GB` or `24G` as cards are rated, in binary gigabytes; `24GiB` says so itself; `25769803776 bytes` are exact.
    None where it is no size: a unit is needed, and a bare `b` is none, since a 910B is a device. Raises ValueError."""
    exact = _EXACT.fullmatch(text.strip())
    if exact:
        return Rated(int(exact[1]), by_maker=False)
    match = _RATED.fullmatch(text.strip())
    if not match:
        return None
    number, unit, binary, short, short_binary = match.groups()
    return Rated(parse_bytes(f"{number}{unit or short}iB"), not (binary or short_binary))


def _scaled(number: int, base: int, units: tuple[str, ...]) -> str:
    """Four digits, to read at a glance."""
    if number < 0:
        return f"−{_scaled(-number, base, units)}"
    value, unit = float(number), 0
    while round(value, 1) >= base and unit < len(units) - 1:
        value, unit = value / base, unit + 1
    if unit == 0:
        return f"{number:,}{units[0]}"
    places = 1 if value >= 100 else 2
    return f"{value:,.{places}f}{units[unit]}"


rounded = partial(_scaled, base=1000, units=("", " k", " M", " B", " T", " P", " E", " Z"))  # `201.5 M`
# FLOPs go by the prefixes of machines, not by millions and billions: `874.9 G`
flops = partial(_scaled, base=1000, units=("", " k", " M", " G", " T", " P", " E", " Z"))
decimal_bytes = partial(_scaled, base=1000, units=(" B", " kB", " MB", " GB", " TB", " PB", " EB", " ZB"))
binary_bytes = partial(_scaled, base=1024, units=(" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB", " ZiB"))
