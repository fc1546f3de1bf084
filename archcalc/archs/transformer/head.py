"""Resolves the head: the kinds allowed for tokens, and for images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from archcalc.archs.transformer.parts.part import own_or
from archcalc.core.errors import InputError, Path
from archcalc.spec.gathering import tell

if TYPE_CHECKING:
    from archcalc.archs.transformer.head_fields import Head, OneHead
    from archcalc.archs.transformer.resolve import ResolvedStack
    from archcalc.layers.patches import Patches

_READ = {"patches": "an image", "audio": "audio", "vectors": "vectors"}
_POOL: list[Path] = [("head", "pool"), ("head",)]
_IMAGE_HEAD = "write `head: {kind: classifier, classes: 1000, bias: true}`, or `head: none`"


def resolve(head: Head, stack: ResolvedStack) -> Head:
    """The head after `stack`, with every value filled in.

    A classifier has a bias unless it says otherwise, as nn.Linear and every family here; scores of tokens have none.
    """
    head.check_kind(head.kind, ("head",))
    if stack.embedding.kind != "tokens":
        _check_no_tokens(head, stack, _READ[stack.embedding.kind])
    if head.kind == "tied":
        _check_tied(head, stack)
    if "transform_bias" in head.model_fields_set and not head.transform:
        fields: list[Path] = [("head", "transform_bias"), ("head",)]
        raise InputError("transform_bias without transform", "add `transform: true`, or take it out", fields=fields)
    if head.transform and head.hidden:
        raise InputError("transform and hidden", "keep one of them", fields=[("head", "hidden"), ("head",)])
    if head.mtp:
        from archcalc.archs.transformer import mtp

        mtp.check(head, stack)
    if head.kind == "classifier" and head.classes is None:
        hint = "write `head: {kind: classifier, classes: 2}`"
        tell(InputError("how many classes?", hint, fields=[("head",)], field="head"))
    if head.pool == "probe":
        _check_probe(head, stack)
    if head.kind in ("classifier", "none"):  # the others read every position
        _check_pooling(head, stack)
    filled: dict[str, Any] = {"bias": own_or(head.bias, head.kind == "classifier")}
    if head.kind == "classifier":
        filled["pool"] = _pool(head, stack.patches)
    if head.beside:
        filled["beside"] = _second(head.beside, stack)
    return head.model_copy(update=filled)


def _check_probe(head: Head, stack: ResolvedStack) -> None:
    """Attention pooling (probe) excludes other pooling fields."""
    from archcalc.archs.transformer import output

    output.parts_of(stack)
    if head.pooler or head.project or head.layers != "last" or head.beside:
        hint = "leave pooler, project, layers and beside out"
        raise InputError("pool: probe replaces every other way of pooling", hint, fields=_POOL)


def _check_pooling(head: OneHead, stack: ResolvedStack) -> None:
    """Checks that the positions to pool exist, and that the head's input has the right width."""
    if head.kind == "none" and head.pool:
        _pool(head, stack.patches)
    if head.kind == "none" and head.norm and (head.pool in (None, "probe") or head.pooler):
        hint = "add a pool: `head: {kind: none, pool: mean, norm: true}`; the norm after the last block is `norm.final`"
        raise InputError(
            "head.norm applies to the pooled vector, and nothing is pooled", hint, fields=[("head", "norm"), ("head",)]
        )
    if head.layers == "weighted" and stack.tables.projects and stack.tables.project == "tokens":
        fact = f"the last block's output is projected to {stack.tables.width} numbers, those of other blocks are not"
        raise InputError(fact, "leave layers out, or embedding.width", fields=[("head", "layers"), ("head",)])


def _second(second: OneHead, stack: ResolvedStack) -> OneHead:
    """The second head: a classifier on the same states, or a pooler whose output is unused."""
    second.check_kind(second.kind, ("head", "beside"))
    if second.pool == "probe":
        hint = "use another pool for the second head: class, mean or last"
        raise InputError("pool: probe is for the first head only", hint, fields=[("head", "beside", "pool"), ("head",)])
    _check_pooling(second, stack)
    if second.kind == "none" and second.pooler:
        return second
    if second.kind != "classifier" or second.classes is None:
        hint = "write `beside: {kind: classifier, classes: 2}`"
        raise InputError("a second head must be a classifier", hint, fields=[("head", "beside"), ("head",)])
    return second.model_copy(update={"bias": own_or(second.bias, True), "pool": _pool(second, stack.patches)})


def _pool(head: OneHead, patches: Patches | None) -> str:
    """By default an image is classified by its class token or the mean of its patches, a text at every token."""
    if head.pool == "patches" and not patches:
        hint = "use `pool: each`, or read an image: `embedding: {kind: patches}`"
        raise InputError("there are no patches to classify", hint, fields=_POOL)
    if head.pool == "second" and not (patches and patches.tokens > 1):
        hint = "give the image two tokens in front: `embedding: {tokens: 2}`"
        raise InputError("there is no second token to classify", hint, fields=_POOL)
    if patches and not patches.tokens and head.pool == "class":
        hint = "use `pool: mean`, or give the image a token: `embedding: {tokens: 1}`"
        raise InputError("there is no class token to classify", hint, fields=_POOL)
    if head.pool == "both" and not (patches and patches.tokens):
        hint = "it puts the class token beside the mean of the patches: use `mean`, `class` or `last`"
        raise InputError("there is no class token beside patches", hint, fields=_POOL)
    if head.pooler and not head.pool:
        return "class"
    if head.pool:
        return head.pool
    if not patches:
        return "each"
    return "class" if patches.tokens else "mean"


def _check_tied(head: Head, stack: ResolvedStack) -> None:
    """Checks that a tied head has the rows and the width of the embedding."""
    if head.vocab not in (None, stack.vocab):
        fact = f"a tied head has the embedding's {stack.vocab} rows, not {head.vocab}"
        hint = "leave head.vocab out, or use `kind: lm`, which is not tied"
        raise InputError(fact, hint, fields=[("head", "vocab"), ("head",)])
    if stack.tables.projects and stack.tables.project != "tokens" and not head.transform:
        fact = f"the embedding is {stack.tables.width} wide, and the model {stack.d_model}"
        hint = "add `transform: true`, which projects from one to the other, or `embedding: {project: tokens}`"
        raise InputError(fact, hint, fields=[("head",), ("embedding", "width")])
    if head.transform not in (False, True, stack.tables.width):
        fact = f"a tied head takes the embedding's {stack.tables.width} numbers, not {head.transform}"
        hint = "use `transform: true`, or `kind: lm`, which is not tied"
        raise InputError(fact, hint, fields=[("head", "transform"), ("head",)])


def _check_no_tokens(head: Head, stack: ResolvedStack, what: str) -> None:
    """The default heads need tokens, which an image model has only with a vocabulary."""
    if head.kind == "tied":
        raise InputError(f"{what} has no token table that a head could be tied to", _IMAGE_HEAD, fields=[("head",)])
    if head.kind == "lm" and not (head.vocab or stack.vocab):
        raise InputError(f"{what} model needs a head, or none", _IMAGE_HEAD, fields=[("head",), (stack.name,)])
    if head.kind != "lm" and stack.vocab:
        hint = f"take it out: {what} has no tokens, and neither has the head"
        raise InputError(
            "vocab is set, but nothing reads or predicts tokens", hint, fields=[(stack.name, "vocab"), ("vocab",)]
        )
