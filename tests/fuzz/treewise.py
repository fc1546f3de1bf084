"""Mutations of data: another value, another type, a field lost, renamed, moved or added."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

from fuzz.values import WORDS, near, nested, odd

Place = tuple[Any, Any]  # a dict or list, and the key or index of a value in it


def mutated(tree: Any, random: Random, *, gently: bool = False) -> Any:
    """A copy with one to four mutations; gently: numbers and switches alone, so that most of it stays meaningful."""
    tree = deepcopy(tree)
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        found = places(tree)
        if found:
            change = _another if gently else random.choice(CHANGES)
            change(tree, random.choice(_sizes(found) if gently else found), found, random)
    return tree


def places(tree: Any) -> list[Place]:
    """Every value within it, at any depth."""
    found: list[Place] = []
    todo = [tree]
    while todo:
        holder = todo.pop()
        if isinstance(holder, dict | list):
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            found += [(holder, key) for key in keys]
            todo += [holder[key] for key in keys]
    return found


def _sizes(found: list[Place]) -> list[Place]:
    """Those that are numbers or switches, where there are any."""
    return [(holder, key) for holder, key in found if isinstance(holder[key], int | float)] or found


def _another(tree: Any, place: Place, found: list[Place], random: Random) -> None:
    """A value of the same type."""
    holder, key = place
    value = holder[key]
    if isinstance(value, bool):
        holder[key] = not value
    elif isinstance(value, int):
        holder[key] = near(value, random)
    elif isinstance(value, float):
        holder[key] = value * random.choice((0, 0.5, 2))
    elif isinstance(value, str):
        holder[key] = random.choice([other[index] for other, index in found if isinstance(other[index], str)])


def _odd(tree: Any, place: Place, found: list[Place], random: Random) -> None:
    place[0][place[1]] = odd(random)


def _deep(tree: Any, place: Place, found: list[Place], random: Random) -> None:
    place[0][place[1]] = nested(random)


def _drop(tree: Any, place: Place, found: list[Place], random: Random) -> None:
    del place[0][place[1]]


def _rename(tree: Any, place: Place, found: list[Place], random: Random) -> None:
    holder, key = place
    if isinstance(holder, dict):
        name = random.choice((*WORDS, key.upper() if isinstance(key, str) else key, f"{key}s", f"{key} "))
        holder[name] = holder.pop(key)


def _swap(tree: Any, place: Place, found: list[Place], random: Random) -> None:
    (one, key), (other, index) = place, random.choice(found)
    one[key], other[index] = deepcopy(other[index]), deepcopy(one[key])


def _copy(tree: Any, place: Place, found: list[Place], random: Random) -> None:
    other, index = random.choice(found)
    place[0][place[1]] = deepcopy(other[index])


def _wrap(tree: Any, place: Place, found: list[Place], random: Random) -> None:
    holder, key = place
    holder[key] = random.choice(([holder[key]], {"a": holder[key]}, [holder[key]] * 3, str(holder[key])))


def _add(tree: Any, place: Place, found: list[Place], random: Random) -> None:
    holder = place[0]
    if isinstance(holder, list):
        holder.insert(random.randint(0, len(holder)), odd(random))
    else:
        holder[random.choice((*WORDS, *(key for other, key in found if isinstance(other, dict))))] = odd(random)


CHANGES: tuple[Callable[[Any, Place, list[Place], Random], None], ...] = (
    _another, _another, _odd, _odd, _odd, _deep, _drop, _rename, _swap, _copy, _wrap, _add,
)  # fmt: skip
