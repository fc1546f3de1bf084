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


def with_family(error: InputError, family: Any, data: Any, every: Callable[[], Specs]) -> InputError:
    """The mistakes in a spec of a family, and what else is missing there. `every` family is looked at where the data
    names none and is read as a Transformer; one whose fields are another family's lacks that line."""
    from archcalc.spec.mistakes import with_missing
    from archcalc.spec.other_names import fits

    if "family" not in data:
        spec, specs = family.Spec, every()
        fitting = [name for name, other in specs.items() if other is not spec and fits(other, data)]
        own = [name for name in data if fitting and name not in spec.model_fields]
        if len(fitting) == 1 and any(name in specs[fitting[0]].model_fields for name in own):
            fact = f"a spec that names no family is a Transformer, which has no {own[0]}"
            return InputError(fact, f"begin the file with `family: {fitting[0]}`", fields=[(own[0],)], field="family")
    return with_missing(error, family.Spec, data, family.resolve)
