"""A stranger's config runs no code and asks nobody, whether it is traced or verified, and cannot grow without end."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from threading import Thread
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
import torch
import transformers
from support.loopback_hub import COMMIT, Quiet, serving

from archcalc.core.errors import InputError
from archcalc.importers.meta import build, limits
from archcalc.importers.meta.cleaned import DROPPED, cleaned
from archcalc.importers.meta.contained import Refused, contained

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Write

EVIL = "owner/evil"
NAMED: dict[str, Any] = {
    "backbone": EVIL,
    "use_pretrained_backbone": True,
    "use_timm_backbone": False,
    "backbone_kwargs": {"trust_remote_code": True},
}
BACKBONES = {
    "upernet": "UperNetForSemanticSegmentation",
    "detr": "DetrForObjectDetection",
    "conditional_detr": "ConditionalDetrForObjectDetection",
    "deformable_detr": "DeformableDetrForObjectDetection",
    "table-transformer": "TableTransformerForObjectDetection",
    "rt_detr": "RTDetrForObjectDetection",
    "rt_detr_v2": "RTDetrV2ForObjectDetection",
    "d_fine": "DFineForObjectDetection",
    "grounding-dino": "GroundingDinoForObjectDetection",
    "dpt": "DPTForDepthEstimation",
    "depth_anything": "DepthAnythingForDepthEstimation",
    "prompt_depth_anything": "PromptDepthAnythingForDepthEstimation",
    "zoedepth": "ZoeDepthForDepthEstimation",
    "mask2former": "Mask2FormerForUniversalSegmentation",
    "maskformer": "MaskFormerForInstanceSegmentation",
    "oneformer": "OneFormerForUniversalSegmentation",
    "omdet-turbo": "OmDetTurboForObjectDetection",
    "tvp": "TvpForVideoGrounding",
    "vitmatte": "VitMatteForImageMatting",
    "vitpose": "VitPoseForPoseEstimation",
}
SMALL: dict[str, Any] = {
    "model_type": "convbert",
    "vocab_size": 100,
    "hidden_size": 32,
    "embedding_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}
CODE = {"AutoConfig": f"{EVIL}--code.Evil", "AutoModel": f"{EVIL}--code.Evil", "AutoBackbone": f"{EVIL}--code.Evil"}
LEADS: dict[str, Any] = {  # each leads out of the file
    "auto_map": CODE,
    "_name_or_path": EVIL,
    "attn_implementation": EVIL,
    "_attn_implementation": f"flash_attention_2|{EVIL}",
    "_attn_implementation_internal": EVIL,
    "experts_implementation": EVIL,
    "_experts_implementation": EVIL,
    "quantization_config": {"quant_method": "awq", "modules_to_not_convert": None, "bits": 4},
    "use_kernels": True,
    "trust_remote_code": True,
    "custom_pipelines": {"x": {"impl": "code.Evil", "pt": ["AutoModel"]}},
}


class Hub(Quiet):
    """Answers everything with a config whose code would be run, and keeps a record."""

    asked: ClassVar[list[str]] = []

    def answer(self) -> None:
        self.asked.append(self.path)
        body = json.dumps({"model_type": "resnet", "auto_map": CODE}).encode()
        self.send(200, {"ETag": '"e"', "X-Repo-Commit": COMMIT}, body)


@pytest.fixture
def endpoint() -> Iterator[str]:
    Hub.asked.clear()
    with serving(Hub) as address:
        yield address


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every connection that would be made: sockets report what they are about to do, as real ones do, and record it."""
    made: list[object] = []

    def connect(self: object, address: object) -> None:
        sys.audit("socket.connect", self, address)
        made.append(address)
        raise OSError("no network in this test")

    def look_up(*asked: object, **_: object) -> None:
        sys.audit("socket.getaddrinfo", *asked)
        made.append(asked)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket.socket, "connect_ex", connect)
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return made


def built(said: dict[str, Any]) -> Any:
    return build.built(cleaned(said), torch=torch, transformers=transformers)


def outcome(said: dict[str, Any]) -> str:
    try:
        return type(built(said)).__name__
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("model_type", BACKBONES)
def test_a_backbone_that_is_only_named_is_refused(model_type: str, connections: list[object]) -> None:
    """Nothing is asked, and no other backbone stands in for it: at the top, and inside of a nested config."""
    said = {"model_type": model_type, "architectures": [BACKBONES[model_type]], **NAMED}
    assert f"names the backbone {EVIL}" in outcome(said)
    for name in (EVIL, f"hf-hub:{EVIL}", "local-dir:/tmp/evil"):
        assert f"names the backbone {name}" in outcome({**said, "use_timm_backbone": True, "backbone": name})
    timm = {"model_type": "timm_backbone", "backbone": f"hf-hub:{EVIL}"}
    assert f"names the backbone hf-hub:{EVIL}" in outcome({**said, "backbone_config": timm})
    assert not connections


@pytest.mark.parametrize("model_type", BACKBONES)
def test_whatever_a_config_says_nobody_is_asked(model_type: str, connections: list[object]) -> None:
    """Every way of half naming a backbone, with every field that leads out of the file, at two levels."""
    said = {"model_type": model_type, "architectures": [BACKBONES[model_type]], **LEADS}
    nested = {"model_type": "resnet", "out_features": ["stage1", "stage2", "stage3", "stage4"], **LEADS}
    for fields in (
        {},
        {"use_pretrained_backbone": True},
        {"use_timm_backbone": True, "backbone": "resnet50"},
        {"use_timm_backbone": True, "backbone": "resnet50", "backbone_kwargs": {"out_indices": [1, 2, 3, 4]}},
        {"backbone": "resnet50"},
        {"backbone": ["x"]},
        {"backbone_config": nested},
        {"backbone_config": {**nested, **NAMED}},
        {"backbone_config": {"model_type": EVIL}},
        {"backbone_config": EVIL},
    ):
        assert outcome({**said, **fields})
    assert not connections


def test_a_backbone_by_its_config_is_built(connections: list[object]) -> None:
    """Its name beside it, and wishes for its weights, change nothing."""
    inner = {"model_type": "resnet", "out_features": ["stage1", "stage2", "stage3", "stage4"]}
    said = {"model_type": "upernet", "architectures": ["UperNetForSemanticSegmentation"], "backbone_config": inner}
    config = transformers.UperNetConfig(backbone_config=transformers.ResNetConfig(out_features=inner["out_features"]))
    with torch.device("meta"):
        expected = transformers.UperNetForSemanticSegmentation(config)
    for fields in ({}, NAMED, LEADS):
        model = built({**said, **fields})
        assert sum(weight.numel() for weight in model.parameters()) == sum(w.numel() for w in expected.parameters())
    assert not connections


def test_a_config_without_the_fields_counts_the_same() -> None:
    plain = sum(weight.numel() for weight in built(SMALL).parameters())
    for key, value in LEADS.items():
        assert sum(weight.numel() for weight in built({**SMALL, key: value}).parameters()) == plain, key


def test_fields_are_dropped_wherever_they_stand() -> None:
    said = {"a": [{"b": dict.fromkeys(DROPPED, EVIL)}], "text_config": dict.fromkeys(DROPPED, EVIL), "auto_map": CODE}
    assert cleaned(said) == {"a": [{"b": {}}], "text_config": {}, "use_pretrained_backbone": False}


def test_a_way_out_that_nobody_thought_of_meets_the_guard(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Should transformers learn one: it is prevented, and told even where transformers catches that and goes on."""
    before = transformers.ConvBertConfig.__post_init__

    def curious(config: Any, **fields: Any) -> None:
        with contextlib.suppress(Exception):
            urllib.request.urlopen(endpoint)
        before(config, **fields)

    monkeypatch.setattr(transformers.ConvBertConfig, "__post_init__", curious)
    assert "tries to reach outside of this file" in outcome(SMALL)
    assert not Hub.asked


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: socket.create_connection(("127.0.0.1", 9)),
        lambda: socket.socket().connect(("127.0.0.1", 9)),
        lambda: socket.getaddrinfo("huggingface.co", 443),
        lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)),
        lambda: subprocess.run([sys.executable, "--version"], check=False),
        lambda: os.system("true"),
    ],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_nothing_leaves_the_process_meanwhile(attempt: Any) -> None:
    with contained() as attempts, pytest.raises(Refused):
        attempt()
    assert len(attempts) <= 1


def test_other_threads_go_on_meanwhile() -> None:
    """A server that verifies a config still answers."""
    found: list[object] = []
    with contained():
        thread = Thread(target=lambda: found.extend(socket.getaddrinfo("127.0.0.1", 80)))
        thread.start()
        thread.join()
    assert found
    assert socket.getaddrinfo("127.0.0.1", 80)


@pytest.mark.parametrize(
    "named",
    ["TextStreamer", "AutoModel", "AutoModelForCausalLM", "pipeline", "PreTrainedModel", "ConvBertPreTrainedModel",
     "ConvBertConfig", "BertTokenizer", "models.convbert.ConvBertModel", "__doc__", "os", "", "Evil", "set_seed"],
)  # fmt: skip
def test_only_model_classes_are_built(named: str) -> None:
    answer = outcome({**SMALL, "architectures": [named]})
    assert (answer == "ConvBertModel") if not named else (f"{named} is not a model class of transformers" in answer)


@pytest.mark.parametrize("named", ["ConvBertModel", {"a": 1}, [1], [["ConvBertModel"]], 3])
def test_a_list_of_classes_is_a_list_of_names(named: object) -> None:
    assert "not a list of names" in outcome({**SMALL, "architectures": named})


def test_class_and_type_belong_together() -> None:
    assert "GPT2LMHeadModel is built from a GPT2Config" in outcome({**SMALL, "architectures": ["GPT2LMHeadModel"]})


@pytest.mark.parametrize(
    ("model_type", "field"),
    [
        ("convbert", "num_hidden_layers"),
        ("swinv2", "depths"),
        ("flaubert", "n_layers"),
        ("convnext", "num_stages"),
        ("funnel", "block_sizes"),
        ("wav2vec2", "num_hidden_layers"),
        ("clap", "audio_config"),
        ("convbert", "num_labels"),
    ],
)
def test_a_billion_layers_are_refused(model_type: str, field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the config where its field is known for a number of layers, else by what has been built."""
    value: Any = {"depths": [10**9, 2, 2, 2], "audio_config": {"num_hidden_layers": 10**9, "depths": [10**9]}}
    value = value.get(field, [10**4] * 3 if field == "block_sizes" else 10**9)
    monkeypatch.setattr(limits, "MOST_TENSORS", 2000)
    answer = outcome({"model_type": model_type, field: value})
    assert "more than transformers can build" in answer or "was still building" in answer


def test_a_config_nested_without_end_is_refused() -> None:
    said: Any = {}
    for _ in range(500):
        said = {"a": [said]}
    assert "nested more than 40 deep" in outcome({**SMALL, "a": said})


def test_what_transformers_says_is_short_and_on_one_line() -> None:
    message = outcome({**SMALL, "hidden_act": "\x1b[2J\n" + "x" * 5000})
    assert "\x1b" not in message
    assert max(map(len, message.splitlines())) < 600


def environment(endpoint: str, home: Path, *paths: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGINGFACE"))}
    python_path = os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**kept, "HF_ENDPOINT": endpoint, "HF_HOME": str(home), "PYTHONPATH": python_path, "COLUMNS": "200"}


@pytest.mark.wide(1)
@pytest.mark.parametrize("command", [("params", "--trace"), ("verify",)], ids=["trace", "verify"])
def test_the_program_asks_nobody_and_imports_no_kernels(
    command: tuple[str, ...], endpoint: str, tmp_path: Path, write: Write
) -> None:
    """As it is installed, with an endpoint that would answer, and a package that says when it is imported."""
    package = tmp_path / "path" / "kernels"
    package.mkdir(parents=True)
    marker = tmp_path / "imported"
    package.joinpath("__init__.py").write_text(f"open({str(marker)!r}, 'w').close()\n__version__ = '0.17.2'\n")
    about = tmp_path / "path" / "kernels-0.17.2.dist-info"
    about.mkdir()
    about.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: kernels\nVersion: 0.17.2\n")
    said = {"model_type": "mamba", "architectures": ["MambaForCausalLM"], **LEADS, "hidden_size": 16, "vocab_size": 40}
    said |= {"num_hidden_layers": 2, "state_size": 4, "quantization_config": None}
    traced = {**SMALL, **LEADS, "architectures": ["ConvBertForMaskedLM"]}
    file = write(json.dumps(said if command == ("verify",) else traced), "config.json")
    name, *options = command
    environ = environment(endpoint, tmp_path / "home", str(tmp_path / "path"))
    ran = subprocess.run(
        [sys.executable, "-m", "archcalc", name, str(tmp_path / file), *options],
        env=environ, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert ran.returncode in (0, 1), ran.stderr
    assert not Hub.asked
    assert not marker.exists()


def test_a_folder_of_a_stranger_is_not_imported_from(tmp_path: Path, write: Write, endpoint: str) -> None:
    """The process that builds starts in the current folder, and must not find a transformers of its own there."""
    marker = tmp_path / "imported"
    for name in ("transformers", "torch", "json"):
        (tmp_path / f"{name}.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    write(json.dumps(SMALL), "config.json")
    ran = subprocess.run(
        [sys.executable, "-P", "-c", "from archcalc.__main__ import main; main()", "params", "config.json", "--trace"],
        cwd=tmp_path, env=environment(endpoint, tmp_path), capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert not marker.exists()
