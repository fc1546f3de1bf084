"""Options that say what a model reads, of every command that takes a model: images, audio, or one part alone.

They stand beside `--set` wherever that is an option, and hold for the models that are then loaded.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated, Any

from archcalc.cli.declared import parameter
from archcalc.cli.help import MODEL
from archcalc.spec.media import Media
from archcalc.spec.option import declared

if TYPE_CHECKING:
    from archcalc.model import Model

Function = Callable[..., None]
Part = Annotated[
    str | None,
    MODEL.rest.option("--part", metavar="NAME", help="Count one part of a model of several, such as text."),
]
_asked: ContextVar[tuple[Media, str | None]] = ContextVar("asked", default=(Media(), None))


def takes_media(function: Function) -> Function:
    """Give typer these options too, where the command takes a model whose fields can be changed."""
    own = inspect.signature(function, eval_str=True)
    if "set" not in own.parameters:
        return function
    media = [parameter(name, one, None) for name, one in declared(Media)]
    part = inspect.Parameter("part", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Part)

    def called(**given: Any) -> None:
        asked = Media.of({name: given.pop(name) for name, _ in declared(Media)})
        token = _asked.set((asked, given.pop("part")))
        try:
            function(**given)
        finally:
            _asked.reset(token)

    listed = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own.parameters.values()]
    called.__signature__ = inspect.Signature([*listed, *media, part])  # type: ignore[attr-defined]
    called.__doc__, called.__name__ = function.__doc__, function.__name__
    return called


def read(model: Model) -> Model:
    """The model as the command line wants it read."""
    media, part = _asked.get()
    fed = model.fed(media)
    return fed.part(part) if part else fed
