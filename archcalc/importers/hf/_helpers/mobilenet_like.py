"""MobileNets: convolutions with a batch norm, padded as TensorFlow does or alike at both ends; a classifier's end."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.conv_like import POOLED, Items, act, classifier, dropout
from archcalc.importers.hf._helpers.reading import Config, Fields, when

MOBILENET_INERT = {inert.SEGMENTING: "semantic_loss_ignore_index"}


def conv(c: Config, out: Any, *, kernel: int = 1, **more: Any) -> Fields:
    """`padding: same` is TensorFlow's rule, which puts the odd zero behind."""
    alike: Any = kernel // 2
    if "dilation" in more:
        alike = f"{alike} * dilation"
    padded = when(kernel > 1, padding=c.choose("tf_padding", "same", alike))
    return {"conv": out, "kernel": kernel, **padded, "act": act(c), **more}


def depthwise(c: Config, **more: Any) -> Fields:
    return conv(c, "channels", kernel=3, groups="depthwise", **more)


def end(c: Config, task: str) -> Items:
    rate = c.get("classifier_dropout_prob")
    pooled = [*POOLED, "flatten"]
    table: heads.Table = {
        "base": lambda: pooled,
        "image": lambda: [*pooled, *dropout(c, rate, "classifier_dropout_prob"), *classifier(c)],
    }
    found: Items = heads.for_task(c, task, table)
    return found
