"""MobileNets: convolutions with a batch norm, padded as TensorFlow does or alike at both ends; a classifier's end."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, Value, conv_like, heads, inert, when

MOBILENET_INERT = {inert.SEGMENTING: "semantic_loss_ignore_index"}


def conv(c: Config, out: Value, *, kernel: int = 1, **more: Value) -> Fields:
    """`padding: same` is TensorFlow's rule, which puts the odd zero behind."""
    alike: Value = kernel // 2
    if "dilation" in more:
        alike = f"{alike} * dilation"
    padded = when(kernel > 1, padding=c.choose("tf_padding", "same", alike))
    return {"conv": out, "kernel": kernel, **padded, "act": conv_like.act(c), **more}


def depthwise(c: Config, **more: Value) -> Fields:
    return conv(c, "channels", kernel=3, groups="depthwise", **more)


def end(c: Config) -> conv_like.Items:
    rate = c.get("classifier_dropout_prob")
    pooled = [*conv_like.POOLED, "flatten"]
    heads.only(c, "base", "image")
    if c.task == "base":
        return pooled
    return [*pooled, *conv_like.dropout(c, rate, "classifier_dropout_prob"), *conv_like.classifier(c)]
