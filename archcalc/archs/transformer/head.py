"""The head: what it may be behind tokens, and what behind an image."""

from __future__ import annotations

from typing import TYPE_CHECKING

from archcalc.errors import InputError

if TYPE_CHECKING:
    from archcalc.archs.transformer.resolve import ResolvedStack
    from archcalc.archs.transformer.spec import Head
    from archcalc.layers.patches import Patches

_IMAGE_HEAD = "write `head: {kind: classifier, classes: 1000, bias: true}`, or `head: none`"


def resolve(head: Head, stack: ResolvedStack) -> Head:
    """The head behind `stack`, with every value filled in."""
    head.check_kind(head.kind, ("head",))
    if stack.patches:
        _check_image_head(head, stack)
    if head.kind == "tied" and head.vocab not in (None, stack.vocab):
        fact = f"a tied head has the embedding's {stack.vocab} rows, not {head.vocab}"
        hint = "leave head.vocab out, or use `kind: lm`, which is not tied"
        raise InputError(fact, hint, fields=[("head", "vocab"), ("head",)])
    if head.kind == "classifier" and head.classes is None:
        raise InputError("how many classes?", "write `head: {kind: classifier, classes: 2}`", fields=[("head",)])
    return head.model_copy(update={"pool": _pool(head, stack.patches)}) if head.kind == "classifier" else head


def _pool(head: Head, patches: Patches | None) -> str:
    """Unsaid: an image is classified by its class token, or by the mean of its patches; of a text every token is."""
    if patches and not patches.tokens and head.pool == "class":
        hint = "use `pool: mean`, or give the image a token: `embedding: {tokens: 1}`"
        raise InputError("there is no class token to classify", hint, fields=[("head", "pool"), ("head",)])
    return head.pool or ("each" if not patches else "class" if patches.tokens else "mean")


def _check_image_head(head: Head, stack: ResolvedStack) -> None:
    """The usual heads are about tokens, which an image has only where it is given a vocabulary of them."""
    if head.kind == "tied":
        raise InputError("an image has no token table that a head could be tied to", _IMAGE_HEAD, fields=[("head",)])
    if head.kind == "lm" and not (head.vocab or stack.vocab):
        raise InputError("an image model needs a head, or none", _IMAGE_HEAD, fields=[("head",), (stack.name,)])
    if head.kind != "lm" and stack.vocab:
        hint = "take it out: the image has no tokens, and neither has the head"
        raise InputError("nothing uses a vocabulary", hint, fields=[(stack.name, "vocab"), ("vocab",)])
