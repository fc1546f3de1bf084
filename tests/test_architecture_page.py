"""docs/architecture.md is true: what it walks through is done here with its own text, and what it names is there."""

from __future__ import annotations

import importlib
import itertools
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from test_layout import ORDER

import archcalc
import archcalc.archs
import archcalc.importers.hf
import archcalc.render
from archcalc.analyze.memory import training
from archcalc.core.ir import Dim, Module, axes
from archcalc.importers.hf._helpers import reading
from archcalc.render import render
from archcalc.spec.paths import data_root
from archcalc.styles.ways import WAYS, Way

if TYPE_CHECKING:
    from conftest import Run

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w/.-]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def written(path: str, folder: Path) -> Path:
    """A file of the page in a folder of the test's own."""
    file = folder / Path(path).name
    file.write_text(FILES[path], encoding="utf-8")
    return file


class Added(Protocol):
    def __call__(self, path: str) -> ModuleType: ...


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Added]:
    """Adds a file of the page to the package that it is written for, as if it lay there."""
    made: list[str] = []

    def add(path: str) -> ModuleType:
        written(path, tmp_path)
        package, name = ".".join(Path(path).parent.parts), Path(path).stem
        monkeypatch.setattr(f"{package}.__path__", [*importlib.import_module(package).__path__, str(tmp_path)])
        made.append(f"{package}.{name}")
        return importlib.import_module(made[-1])

    yield add
    for name in made:
        sys.modules.pop(name, None)


def spec_of_convnet(folder: Path) -> str:
    found = re.search(r"^```yaml\n(family: convnet\n.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found
    file = folder / "net.yaml"
    file.write_text(found[1], encoding="utf-8")
    return str(file)


def test_a_family_in_one_file_answers_everything(run: Run, added: Added, tmp_path: Path) -> None:
    """A small convolutional net: parameters, shapes, FLOPs, memory and fit, with nothing else touched."""
    added("archcalc/archs/convnet.py")
    spec = spec_of_convnet(tmp_path)
    stages = [(3, 64, 16), (64, 128, 8), (128, 256, 4)]  # channels in and out, and the side that is left
    parameters = sum(out * into * 9 + out for into, out, _ in stages) + 256 * 10 + 10
    forward = sum(2 * 8 * out * side * side * into * 9 for into, out, side in stages) + 2 * 8 * 256 * 10
    first = 2 * 8 * 64 * 16 * 16 * 3 * 9  # an image wants no gradient
    assert run("params", spec, "--format", "json").json["total"] == parameters
    assert "8 × 256 × 4 × 4" in run("shapes", spec, "--batch", "8").out
    flops = run("flops", spec, "--batch", "8", "--format", "json").json
    assert (flops["forward"], flops["backward"]) == (forward, 2 * forward - first)
    trained = run("memory", spec, "--mode", "train", "--batch", "8", "--overhead", "0", "--format", "json").json
    assert trained["parts"]["weights"] == 4 * parameters
    assert trained["total_bytes"] > 4 * 4 * parameters
    assert run("memory", spec, "--format", "json").json["parts"]["weights"] == 4 * parameters
    row = run("fit", spec, "--mode", "train", "--gpu", "rtx-4090", "--format", "json").json["rows"][0]
    assert row["fits"] and row["max_batch"] > 1


def test_the_family_equals_pytorch(added: Added, tmp_path: Path) -> None:
    """Parameters, FLOPs, and the bytes that PyTorch saves for the backward pass."""
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    added("archcalc/archs/convnet.py")
    model = archcalc.load(spec_of_convnet(tmp_path))
    widths = (3, 64, 128, 256)
    convolutions = [
        layer
        for into, out in itertools.pairwise(widths)
        for layer in (torch.nn.Conv2d(into, out, 3, stride=2, padding=1), torch.nn.ReLU())
    ]
    net = torch.nn.Sequential(
        *convolutions, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(256, 10)
    )
    assert model.params().total == sum(parameter.numel() for parameter in net.parameters())
    with FlopCounterMode(display=False) as counter:
        net(torch.zeros(8, 3, 32, 32)).sum().backward()
    assert model.flops(batch=8).total == counter.get_total_flops()


def test_a_family_says_what_is_wrong_with_its_spec(run: Run, added: Added, tmp_path: Path) -> None:
    added("archcalc/archs/convnet.py")
    spec = spec_of_convnet(tmp_path)
    answer = run("params", spec, "--set", "image=30")
    assert answer.code == 2 and "an image of 30 cannot be halved 3 times" in answer.err
    assert "no PyTorch reference of the family convnet" in run("verify", spec).err
    assert "convnet" in run("schema").json["properties"]["family"]["enum"]


def test_a_device(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gpus").mkdir()
    written("presets/gpus/example-100.yaml", tmp_path / "gpus")
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    assert "Example 100 64GB" in run("gpus", "ex100").out
    assert [row["gpu"] for row in run("gpus", "--maker", "example", "--format", "json").json["rows"]] == ["example-100"]
    assert run("fit", "gpt2", "--gpu", "example-100", "--format", "json").json["rows"][0]["fits"]


def test_a_training_code(run: Run, added: Added, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each norm it keeps x, its square's input in fp32, a root in both formats and what the weight multiplies."""
    norm = added("archcalc/styles/root_in_fp32.py").root_in_fp32
    monkeypatch.setitem(WAYS["rms_norm"], "root_in_fp32", Way("only the inverse root in fp32", {"rms_norm": norm}))
    (tmp_path / "code").mkdir()
    written("presets/code/example.yaml", tmp_path / "code")
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    asked = ("memory", "llama-3.2-1b", "--mode", "train", "--precision", "bf16", "--seq", "512", "--format", "json")
    now, before, plain = (run(*asked, "--code", code).json for code in ("example", "example@2025-12", "plain"))
    rows, norms = 512, 2 * 16 + 1
    kept = rows * 2048 * (2 + 4 + 2) + rows * (4 + 2)
    upcast = rows * 2048 * (4 + 2) + rows * 4
    assert before["rows"][0]["activations"] - now["rows"][0]["activations"] == norms * (upcast - kept)
    assert now["run"]["choices"]["code"]["value"] == "example" != plain["run"]["choices"]["code"]["value"]


def test_a_preset(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models").mkdir()
    written("presets/models/example-tiny.yaml", tmp_path / "models")
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    block = 256 * (256 + 2 * 2 * 32 + 256) + 3 * 256 * 704 + 2 * 256
    assert run("params", "example-tiny", "--format", "json").json["total"] == 2 * 1000 * 256 + 4 * block + 256
    model = archcalc.load("example-tiny")
    assert model.spec.published and model.spec.published.parameters == model.params().total


def test_a_hugging_face_family(run: Run, added: Added, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the defaults that the tool would write: here those of Llama."""
    as_llama = {**reading.described("llama"), "config": "ExampleLlamaConfig", "family": "example_llama"}
    shutil.copytree(data_root() / "hf", tmp_path / "hf")
    (tmp_path / "hf" / "example_llama.json").write_text(json.dumps(as_llama), encoding="utf-8")
    for module in (archcalc.importers.hf, reading):
        monkeypatch.setattr(module, "data_root", lambda: tmp_path)
    added("archcalc/importers/hf/example_llama.py")
    sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"model_type": "example_llama", "vocab_size": 100, **sizes}), encoding="utf-8")
    block = 4 * 64 * 64 + 3 * 64 * 128 + 2 * 64 + 2 * 16
    assert run("params", str(config), "--format", "json").json["total"] == 2 * 100 * 64 + 2 * block + 64


def test_a_layer(added: Added) -> None:
    """Its parameters and its products, from what it records."""
    from archcalc.analyze.flops.cost import work

    module = added("archcalc/layers/squeeze_excite.py")
    root = Module("model")
    x = root.record("input", to=axes(Dim.of("batch", 2), Dim.of("seq", 5), Dim.of("channels", 16)))
    assert module.squeeze_excite(root["gate"], x, Dim.of("squeezed", 4)).shape == (2, 5, 16)
    parameters = [param for child in root["gate"].children for param in child.params.values()]
    assert sum(int(param.elements) for param in parameters) == (16 * 4 + 4) + (4 * 16 + 16)
    assert work(root).forward == 2 * (2 * 16 * 4 + 2 * 4 * 16)


def test_an_analyzer(added: Added) -> None:
    module, model = added("archcalc/analyze/largest.py"), archcalc.load("gpt2")
    report = module.largest(model.build(), model=model.name)
    assert report.record()["rows"][0] == {"parameter": "embedding.tokens.weight", "elements": 50257 * 768}
    for name in set(archcalc.render.formats()) - {"svg"}:  # it has no chart
        assert "embedding.tokens.weight" in render(report, name)


def test_a_renderer(run: Run, added: Added) -> None:
    added("archcalc/render/as_tsv.py")
    out = run("params", "gpt2", "--format", "tsv").out
    assert out.splitlines()[0].split("\t")[0] == "path"
    assert any("38597376" in line.split("\t") for line in out.splitlines())


def test_a_pass(added: Added, monkeypatch: pytest.MonkeyPatch) -> None:
    """It composes with the passes of other options."""
    module, model = added("archcalc/analyze/memory/passes/eight_bit_activations.py"), archcalc.load("gpt2")
    asked: dict[str, Any] = {"mode": "train", "batch": 16, "seq": 1024, "precision": "bf16", "recompute": "selective"}
    usual, before = model.memory(**asked).parts["activations"], training.passes
    monkeypatch.setattr(training, "passes", lambda *given: [*before(*given), module.save_in_8_bits])
    assert 0.4 * usual < model.memory(**asked).parts["activations"] < 0.7 * usual


def test_every_yaml_of_the_page_is_walked_through() -> None:
    """The device, the preset, the training code and the spec of the family, which the tests above write to files."""
    shown = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    walked = ["presets/gpus/example-100.yaml", "presets/models/example-tiny.yaml", "presets/code/example.yaml"]
    assert [text for text in shown if not text.startswith("family: convnet\n")] == [FILES[path] for path in walked]


def test_every_path_of_the_page_exists() -> None:
    named = set(re.findall(r"`((?:archcalc|presets|tests|tools|docs)/[\w/.-]+)`", PAGE))
    made = {*FILES, "archcalc/reference/convnet.py", "archcalc/render/as_NAME.py"}
    assert {path for path in named - made if not (ROOT / path).exists()} == set()
    assert len(named) > 30


def test_the_packages_stand_in_the_order_of_their_imports() -> None:
    table = PAGE.partition("| package |")[2].partition("\n\n")[0]
    assert tuple(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == ORDER


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *(f"docs/{file.name}" for file in ROOT.glob("docs/*.md"))]
)
def test_every_link_leads_somewhere(page: str) -> None:
    file = ROOT / page
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", file.read_text(encoding="utf-8"))
    assert [link for link in links if not (file.parent / link).exists()] == []
