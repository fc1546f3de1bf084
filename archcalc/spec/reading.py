"""Data as a node, or as the spec of a family, with every mistake in it told at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from archcalc.core.errors import InputError
from archcalc.spec.node import Node

Specs = Mapping[str, Any]  # the class of each family's specs, by its name
Read = TypeVar("Read", bound=Node)


def read_node(kind: type[Read], data: Any) -> Read:
    """Validate plain data; the mistakes become one InputError that names the field of each."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        from archcalc.spec.mistakes import mistake_in

        raise mistake_in(error, kind, data) from None


def read_spec(family: Any, data: Any, every: Callable[[], Specs]) -> Any:
    """`every` family is looked at where the data names none and is not read."""
    try:
        return family.Spec.model_validate(data)
    except ValidationError as error:
        from archcalc.spec.mistakes import mistake_in, with_missing

        found = mistake_in(error, family.Spec, data)
        if "family" not in data:
            _check_family(family.Spec, data, every())
        raise with_missing(found, family.Spec, data, family.resolve) from None


def _check_family(spec: Any, data: Any, every: Specs) -> None:
    """A spec that names no family is a Transformer; one whose fields are another family's lacks that line."""
    from archcalc.spec.other_names import fits

    fitting = [name for name, other in every.items() if other is not spec and fits(other, data)]
    own = [name for name in data if fitting and name not in spec.model_fields]
    if len(fitting) == 1 and any(name in every[fitting[0]].model_fields for name in own):
        fact = f"a spec that names no family is a Transformer, which has no {own[0]}"
        raise InputError(fact, f"begin the file with `family: {fitting[0]}`", fields=[(own[0],)], field="family")
