"""docs/architecture.md is true: what it walks through is done here with its own text, and what it names is there."""

from __future__ import annotations

import dataclasses
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
from archcalc.analyze.memory.peak import peak, played
from archcalc.core.ir import Dim, Module, axes, walk
from archcalc.render import render
from archcalc.run.device import device
from archcalc.spec import model_types
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


@pytest.mark.parametrize(("offset", "numbers"), [(False, 1), (True, 2)])
def test_a_position_encoding(added: Added, offset: bool, numbers: int) -> None:
    """A number or two for each of 3 heads in each of 2 blocks, and a bias on the scores of every pair of positions."""
    encoding = added("archcalc/archs/transformer/positions/slopes.py").ENCODING(kind="slopes", offset=offset)
    model = archcalc.load({"vocab": 11, "d_model": 12, "heads": 3, "ffn": 20, "decoder": 2})
    resolved: Any = model.resolved
    (decoder,) = resolved.stacks
    attention = dataclasses.replace(decoder.parts["attention"], positions=(encoding,))
    stack = dataclasses.replace(decoder, parts={**decoder.parts, "attention": attention})
    placed = dataclasses.replace(model, resolved=dataclasses.replace(resolved, decoder=stack))
    assert placed.params().total - model.params().total == 2 * 3 * numbers
    work = placed.workload(batch=1, seq=5, attention="eager")
    ops = [op for node, _ in walk(placed.build(work)) for op in node.ops]
    (bias,) = [
        op.output
        for op in ops
        if op.kind == "multiply" and len(op.output.dims) == 3 and op.output.dims[0].name == "heads"
    ]
    assert [int(dim.size) for dim in bias.dims] == [3, 5, 5]


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
    as_llama = {**model_types.described("llama"), "config": "ExampleLlamaConfig", "family": "example_llama"}
    shutil.copytree(data_root() / "hf", tmp_path / "hf")
    (tmp_path / "hf" / "example_llama.json").write_text(json.dumps(as_llama), encoding="utf-8")
    for module in (archcalc.importers.hf, model_types):
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
    """With a unit and a device of its own, in every format."""
    module, model = added("archcalc/analyze/energy.py"), archcalc.load("lenet-5")
    report = module.energy(model.build(), "h100", model=model.name)
    _, h100 = device("h100")
    assert h100.power and h100.half_peak
    products = 28 * 28 * 6 * 25 + 10 * 10 * 16 * 6 * 25 + 400 * 120 + 120 * 84 + 84 * 10
    assert report.record()["joules"] == pytest.approx(700 * 2 * products / h100.half_peak)
    first = {"part": "conv_1", "flops": 2 * 28 * 28 * 6 * 25, "joules": report.rows[0].joules}
    assert report.record()["rows"][0] == first
    for name in set(archcalc.render.formats()) - {"svg"}:  # it has no chart
        assert "conv" in render(report, name)
    for name in set(archcalc.render.formats()) - {"svg", "json", "csv"}:
        assert f"{1000 * report.joules:.3g} mJ" in render(report, name)


def test_a_command(run: Run, added: Added) -> None:
    """With an option of its own, those of the questions that it asks, aliases, and a line in help."""
    added("archcalc/cli/commands/joules.py")
    assert re.search(r"^  joules +The energy of a pass, by its FLOPs\.$", run("--help").out, re.MULTILINE)
    shown = run("joules", "--help-all").out
    assert "--flops-per-joule SIZE" in shown and "--causal full|half" in shown and "--overhead" not in shown
    forward = run("flops", "gpt2", "--mode", "prefill", "--seq", "64", "--format", "json").json["total"]
    asked = run("joules", "gpt2", "--seq-length", "64", "--flops-per-joule", "1G")
    assert (asked.code, asked.out) == (0, f"{forward / 10**9:,.1f} J\n")
    assert "--flops-per-joule: expected a whole number" in run("joules", "gpt2", "--flops-per-joule", "some").err
    assert "did you mean --causal?" in run("joules", "gpt2", "--causl", "half").err


def test_an_engine(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four fifths of what weights, a step and the context of CUDA leave; no band of another engine."""
    (tmp_path / "engines").mkdir()
    written("presets/engines/example-serve.yaml", tmp_path / "engines")
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    asked = run("fit", "llama-3-8b", "--gpu", "h100", "--engine", "example-serve", "--format", "json").json
    (row,), parts = asked["rows"], asked["parts"]
    beside = sum(size for part, size in parts.items() if part != "kv_cache")
    assert row["kv_pool_bytes"] == int(0.8 * (row["capacity_bytes"] - beside))
    assert asked["band"] is None
    assert "not on those of AMD" in run("fit", "gpt2", "--gpu", "mi300x", "--engine", "example-serve").err


def test_an_optimizer(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "optimizers").mkdir()
    written("presets/optimizers/soap.yaml", tmp_path / "optimizers")
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    asked = ("--mode", "train", "--precision", "fp32", "--code", "plain", "--seq", "8", "--format", "json")
    found = {name: run("memory", "gpt2", *asked, "--optimizer", name).json for name in ("soap", "adam")}
    block = 4 * (768**2 + 768**2) + 2 * (768**2 + 3072**2)  # queries, keys, values and output; both of the FFN
    pairs = 12 * block + (50257**2 + 768**2) + (1024**2 + 768**2)
    states = {name: answer["states"]["optimizer"] for name, answer in found.items()}
    assert states["soap"] - states["adam"] == 2 * 4 * pairs
    assert any("SOAP: libraries differ" in text for text in found["soap"]["estimates"])


def test_a_renderer(run: Run, added: Added) -> None:
    added("archcalc/render/as_asciidoc.py")
    out = run("params", "gpt2", "--format", "asciidoc").out
    assert out.startswith("== GPT-2 small\n\n124.4 M parameters · 124,439,808\n\n* embeddings: ")
    assert '[cols="<,>,>,>,>",options="header"]\n|===\n|part |× |one |total |share\n|embedding ' in out
    assert "|38,597,376 " in out


def test_a_pass(added: Added, monkeypatch: pytest.MonkeyPatch) -> None:
    """It composes with the passes of other options."""
    module, model = added("archcalc/simulate/passes/eight_bit_activations.py"), archcalc.load("gpt2")
    asked: dict[str, Any] = {"mode": "train", "batch": 16, "seq": 1024, "precision": "bf16", "recompute": "selective"}
    usual, before = model.memory(**asked).parts["activations"], training.passes
    monkeypatch.setattr(training, "passes", lambda *given: [*before(*given), module.save_in_8_bits])
    peak.cache_clear()
    played.cache_clear()
    assert 0.4 * usual < model.memory(**asked).parts["activations"] < 0.7 * usual


def test_every_yaml_of_the_page_is_walked_through() -> None:
    """The device, the preset, the training code, the optimizer and the spec of the family, which the tests above write
    to files."""
    shown = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    walked = [
        "presets/gpus/example-100.yaml",
        "presets/models/example-tiny.yaml",
        "presets/code/example.yaml",
        "presets/engines/example-serve.yaml",
        "presets/optimizers/soap.yaml",
    ]
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
