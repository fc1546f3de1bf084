"""Convolutional classes of transformers: published counts, and every map of a forward pass beside the class itself."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.hf_random import files
from support.hf_random_nets import NETS
from support.hf_truth import judge

import archcalc
from archcalc.core.errors import InputError
from archcalc.importers.files import of_config
from archcalc.importers.hf import translators
from archcalc.importers.hf._helpers.reading import described
from archcalc.model import Model
from archcalc.verify.hf.rows import compared

TYPES = sorted(set(NETS) & set(translators()))
CLASSES = [(model_type, name) for model_type in TYPES for name in described(model_type)["classes"]]
THOUSAND = {"id2label": {str(number): f"class {number}" for number in range(1000)}}
# Configs as transformers' conversion scripts write them; counts are torchvision's, of others timm's
# (convnextv2_tiny, regnety_040, poolformer_s12), and of MobileNetV1 the paper's 4.2 million, with 1,001 classes.
PUBLISHED: dict[str, tuple[dict[str, Any], int]] = {
    "microsoft/resnet-50": (
        {"model_type": "resnet", "layer_type": "bottleneck", "depths": [3, 4, 6, 3], **THOUSAND},
        25_557_032,
    ),
    "microsoft/resnet-18": (
        {"model_type": "resnet", "layer_type": "basic", "depths": [2, 2, 2, 2], **THOUSAND}
        | {"hidden_sizes": [64, 128, 256, 512]},
        11_689_512,
    ),
    "facebook/convnext-tiny-224": ({"model_type": "convnext", **THOUSAND}, 28_589_128),
    "facebook/convnextv2-tiny-1k-224": ({"model_type": "convnextv2", **THOUSAND}, 28_635_496),
    "facebook/regnet-y-040": ({"model_type": "regnet", "layer_type": "y", **THOUSAND}, 20_646_656),
    "google/efficientnet-b0": (
        {"model_type": "efficientnet", "width_coefficient": 1.0, "depth_coefficient": 1.0, "hidden_dim": 1280}
        | {"image_size": 224, "dropout_rate": 0.2, **THOUSAND},
        5_288_548,
    ),
    "google/efficientnet-b7": ({"model_type": "efficientnet", "depthwise_padding": [18], **THOUSAND}, 66_347_960),
    "sail/poolformer_s12": ({"model_type": "poolformer", **THOUSAND}, 11_915_176),
    "google/mobilenet_v2_1.0_224": ({"model_type": "mobilenet_v2", "num_labels": 1000}, 3_504_872),
    "google/mobilenet_v1_1.0_224": ({"model_type": "mobilenet_v1", "num_labels": 1001}, 4_233_001),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_models_have_their_published_count(name: str) -> None:
    said, parameters = PUBLISHED[name]
    assert archcalc.load(said).params().total == parameters


def test_names_that_are_drawn_are_translated() -> None:
    assert set(NETS) == set(TYPES)


@pytest.mark.parametrize(("model_type", "name"), CLASSES, ids=[name for _, name in CLASSES])
def test_every_map_is_that_of_the_class(model_type: str, name: str) -> None:
    """Weights with the size of what comes out, and FLOPs: a wrong padding or stride shows in both."""
    rng = random.Random(f"maps {name}")
    said = next(files(model_type, rng, {name: described(model_type)["classes"][name]}))
    assert judge(said).outcome == "exact"
    model = Model.from_document(of_config(said, "config.json"), "model")
    found = compared(model, model.workload(batch=2))
    assert [row for row in found.rows if not row.equal] == []
    assert not found.left_out
    assert len(found.rows) == 6


def test_zeros_are_put_where_tensorflow_puts_them() -> None:
    """An even image at stride 2 has one zero too few for both ends: TensorFlow puts it behind."""
    said = {"model_type": "mobilenet_v1", "image_size": 44}
    nets: dict[bool, Any] = {each: archcalc.load({**said, "tf_padding": each}).resolved for each in (True, False)}
    assert nets[True].body.steps[0].layer.padding == ((0, 1), (0, 1))
    assert nets[False].body.steps[0].layer.padding == ((1, 1), (1, 1))


def test_the_layers_of_a_network_are_printed_one_below_the_other() -> None:
    lines = archcalc.load(PUBLISHED["microsoft/resnet-50"][0]).yaml().splitlines()
    assert "  - {block: identity_block, out: 1024, repeat: 5}" in lines
    assert max(map(len, lines)) <= 110


def test_running_statistics_are_those_of_the_class() -> None:
    """Buffers: a mean and a variance for each channel of 53 norms, and 53 counters."""
    assert archcalc.load(PUBLISHED["microsoft/resnet-50"][0]).params().buffers == 2 * 26_560 + 53


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"model_type": "resnet", "layer_type": "wide"}, "basic or bottleneck"),
        ({"model_type": "resnet", "depths": [2, 2]}, "hidden_sizes has 4 stages"),
        ({"model_type": "resnet", "hidden_sizes": 64}, "a list of whole numbers"),
        ({"model_type": "regnet", "layer_type": "z"}, "x or y"),
        ({"model_type": "convnext", "num_stages": 3}, "hidden_sizes has 4 stages"),
        ({"model_type": "efficientnet", "hidden_dim": 100}, "gives 2560 channels"),
        ({"model_type": "efficientnet", "in_channels": [32, 16, 16, 40, 80, 112, 192]}, "would read 32 channels of 48"),
        ({"model_type": "efficientnet", "num_block_repeats": [10**9] * 7}, "more than 10,000 blocks"),
        ({"model_type": "poolformer", "pool_size": 4}, "an even one"),
        ({"model_type": "poolformer", "strides": [4, 2]}, "one entry for each"),
        ({"model_type": "mobilenet_v1", "depth_multiplier": 0}, "a number above 0"),
        ({"model_type": "mobilenet_v2", "classifier_dropout_prob": 2}, "a fraction from 0 to 1"),
        ({"model_type": "mobilenet_v2", "architectures": ["MobileNetV2ForSemanticSegmentation"]}, "is not a class"),
        (
            {"model_type": "convnext", "architectures": ["ConvNextBackbone"], "out_features": ["stage1", "stage4"]},
            "a norm for each stage",
        ),
    ],
)
def test_what_cannot_be_counted_is_refused_by_name(said: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        archcalc.load(said)


def test_a_config_without_an_image_size_says_which_is_taken() -> None:
    model = archcalc.load({"model_type": "resnet"})
    network: Any = model.resolved
    assert (network.sample.channels, *network.sample.sides) == (3, 224, 224)
    assert "the config gives no image size: 224 × 224 pixels" in model.yaml()
