"""What is said about identities without measuring them: presets/identities, a file for each section.

Imports no PyTorch.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated

from pydantic import Field

from archcalc.spec import paths
from archcalc.spec.data_files import node
from archcalc.spec.node import Node

Texts = Annotated[list[str], Field(min_length=1)]


class About(Node):
    """`words` are what people type beside the name, section and title; `steps` are the derivation."""

    file: str  # of this package; its function of the identity's name measures it
    title: str
    words: Texts
    steps: Annotated[list[str], Field(min_length=2)]
    sources: Texts


class Section(Node):
    """Identities on one subject, in the order in which they are shown."""

    place: int
    title: str
    identities: dict[str, About]


@cache
def sections() -> tuple[Section, ...]:
    """All of them in their order."""
    found = (node(file, Section) for file in paths.shipped("identities").values())
    return tuple(sorted(found, key=lambda section: section.place))
