"""The explorer's questions: the figures of the command line, its errors, and nothing that reaches beyond them."""

from __future__ import annotations

import base64
import itertools
import json
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from support.safetensors_files import CONFIG, WEIGHTS, file

import archcalc
from archcalc.ui.ask import ask, ask_json

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run

GPT2 = {"preset": "gpt2"}
ABSENT = ("typer", "click", "rich", "numpy", "torch", "transformers")
BROKEN = "d_model: 512\nheads: 7\nfoo: 3\ndecoder: 2\nffn: 64\nvocab: 100\n"


def asked(question: str, source: Any = GPT2, **more: Any) -> dict[str, Any]:
    answer = ask({"ask": question, "source": source, **more})
    assert answer["ok"], answer
    return answer


def refused(question: str, source: Any = GPT2, **more: Any) -> dict[str, Any]:
    answer = ask({"ask": question, "source": source, **more})
    assert not answer["ok"]
    error: dict[str, Any] = answer["error"]
    return error


def cell(table: dict[str, Any], row: str, column: str) -> str:
    place = [each["label"] for each in table["columns"]].index(column)
    return next(str(each["cells"][place]) for each in table["rows"] if each["cells"][0] == row)


def test_exact_figures_are_those_of_the_command_line(run: Run) -> None:
    answer = asked("exact", settings={"batch": "2", "seq": "512"}, records=True)
    assert answer["answer"] == "124.4 M parameters"
    assert answer["about"] == f"{12 * (12 * 768 * 768 + 13 * 768) + (50257 + 1024 + 2) * 768:,}"
    assert json.loads(answer["records"]["params"]) == run("params", "gpt2", "--format", "json").json
    sized = ("--batch", "2", "--seq", "512", "--format", "json")
    assert json.loads(answer["records"]["flops"]) == run("flops", "gpt2", *sized).json
    assert json.loads(answer["records"]["shapes"]) == run("shapes", "gpt2", *sized).json
    assert cell(answer["tables"]["params"], "tokens", "total") == f"{50257 * 768:,}"
    assert set(answer["charts"]) == {"icicle", "work", "diagram"}


@pytest.mark.parametrize("mode", ["train", "infer"])
def test_peaks_are_those_of_the_command_line(run: Run, mode: str) -> None:
    memory = asked("memory", settings={"mode": mode, "batch": "4"}, records=True)
    options = ("--mode", mode, "--batch", "4", "--format", "json")
    assert json.loads(memory["records"]["memory"]) == run("memory", "gpt2", *options).json
    fit = asked("fit", settings={"mode": mode, "batch": "4"}, gpus=["rtx-4090"], records=True)
    assert json.loads(fit["records"]["fit"]) == run("fit", "gpt2", "--gpu", "rtx-4090", *options).json


def test_only_what_is_shown_is_worked_out(run: Run) -> None:
    """Parameters always, and of the rest the parts that are asked for."""
    whole = asked("exact")
    bare, work, shapes = (asked("exact", show=parts) for parts in ([], ["work"], ["shapes"]))
    assert bare["parameters"] == f"{run('params', 'gpt2', '--format', 'json').json['total']:,}"
    assert bare["tables"] == bare["charts"] == {} and "flops" not in bare
    assert work["flops"]["clauses"] == run("flops", "gpt2", columns=400).out.splitlines()[1].split(" · ")
    assert shapes["tables"] == {"shapes": whole["tables"]["shapes"]}
    assert refused("exact", show=["everything"])["field"] == "show"


def test_a_verdict_comes_with_its_sentence_and_its_bars(run: Run) -> None:
    """The sentence that heads `fit`, and parts that add up to what is needed and left."""
    answer = asked("fit", {"preset": "llama-3-8b"}, gpus=["rtx-4060", "rtx-4090", "h100"], helps=False, cards=True)
    devices = ("--gpu", "rtx-4060", "--gpu", "rtx-4090", "--gpu", "h100")
    found = run("fit", "llama-3-8b", *devices, "--format", "json").json
    assert "; ".join(answer["clauses"]) == found["summary"]
    assert answer["bars"][answer["about_bar"]]["gpu"] == "rtx-4090"  # the smallest that it fits
    for bar, row in zip(answer["bars"], found["rows"], strict=True):
        sizes = {one["name"]: int(one["exact"].removesuffix(" bytes").replace(",", "")) for one in bar["parts"]}
        assert sum(sizes.values()) == max(row["capacity_bytes"], row["required_bytes"])
        assert sum(one["share"] for one in bar["parts"]) == pytest.approx(1)
        assert bar["limit"] == pytest.approx(min(row["capacity_bytes"] / row["required_bytes"], 1))


def test_peak_memory_is_that_of_the_only_device(run: Run) -> None:
    """Of several, and of unequal ones that share layers, it is that of any device."""
    llama = {"preset": "llama-3-8b"}
    one = asked("memory", llama, gpus=["rtx-4090"], records=True)["records"]["memory"]
    assert json.loads(one) == run("memory", "llama-3-8b", "--gpu", "rtx-4090", "--format", "json").json
    anywhere = asked("memory", llama)["clauses"]
    for gpus in ([], ["rtx-4090", "h100"], ["rtx-4090+h100"]):
        assert asked("memory", llama, gpus=gpus)["clauses"] == anywhere


def test_what_a_list_offers_is_grouped_and_explained() -> None:
    """In words that are made of the files of formats and engines."""
    catalog = ask({"ask": "catalog"})
    weights = {one["value"]: one for each in catalog["settings"] if each["name"] == "weights" for one in each["known"]}
    assert (weights["q4_k"]["group"], weights["q4_k"]["aside"]) == ("GGUF", f"{4 + 12 / 32 + 32 / 256} bits")
    assert weights["int4"]["title"].endswith("an fp16 scale and a 4-bit zero for each 128")
    for listed in (catalog["presets"], catalog["gpus"], list(weights.values())):
        names = [one["group"] for one in listed]
        assert len(set(names)) == 1 + sum(
            one != other for one, other in itertools.pairwise(names)
        )  # none in two places


def test_an_empty_field_stands_for_what_the_run_has() -> None:
    """By the mode, the model and the code that are asked for, and never what was set."""
    asked_for = {"mode": "train", "batch": "4", "recompute": "full"}
    usual = asked("memory", {"preset": "llama-3-8b"}, settings=asked_for)["usual"]
    assert usual == {
        "seq": "2048",
        "precision": "mixed",
        "attention": "flash",
        "optimizer": "adamw-fused",
        "code": "transformers",
    }
    assert asked("memory", {"preset": "llama-3-8b"}, settings={})["usual"]["engine"] == "plain"


def test_verdicts_come_without_searching() -> None:
    """The same verdicts, and nothing that stands for what was not looked for."""
    settings = {"mode": "train", "batch": "32"}
    quick, whole = (asked("fit", settings=settings, gpus=["rtx-4060", "h100"], helps=helps) for helps in (False, True))
    for table in (quick["tables"]["devices"], whole["tables"]["devices"]):
        assert [row["tone"] for row in table["rows"]] == ["bad", "good"]
    assert not {"batch", "context", "GPUs"} & {column["label"] for column in quick["tables"]["devices"]["columns"]}
    assert "more" not in quick["tables"] and not any("makes it fit" in line for line in quick["beneath"])


def test_a_remedy_says_what_it_sets() -> None:
    answer = asked("fit", {"preset": "llama-3-8b"}, gpus=["rtx-4060"])
    first = next(row for table in answer["tables"].values() for row in table["rows"] if "settings" in row)
    assert first["cells"][0] == f"--weights {first['settings']['weights']}"
    again = asked("fit", {"preset": "llama-3-8b"}, gpus=["rtx-4060"], settings=first["settings"])
    assert again["bars"][0]["tone"] == "good"


def test_a_long_training_context_is_bounded_as_on_the_command_line(run: Run) -> None:
    answer = asked("memory", {"preset": "llama-3-8b"}, settings={"seq": "1e12"}, records=True)
    assert (
        json.loads(answer["records"]["memory"])["total_bytes"]
        == archcalc.load("llama-3-8b").memory(seq=10**12).total_bytes
    )


def test_a_spec_is_read_as_from_a_file() -> None:
    text = archcalc.load("gpt2").yaml()
    opened = asked("open", {"text": text, "file": "mine.yaml"})
    assert (opened["yaml"], opened["file"], opened["command_model"]) == (text, "mine.yaml", "mine.yaml")
    assert asked("exact", {"text": text})["answer"] == asked("exact")["answer"]


def test_every_mistake_of_a_spec_has_its_line() -> None:
    answer = ask({"ask": "exact", "source": {"text": BROKEN, "file": "mine.yaml"}})
    found = {(error["line"], error["field"], error["where"]) for error in answer["errors"]}
    assert (3, "foo", "mine.yaml") in found
    assert answer["error"] == answer["errors"][0]


def test_mistakes_are_told_as_on_the_command_line(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(BROKEN, "utf-8")
    told = "".join(
        f"error: {error['text']}\n"
        for error in ask({"ask": "exact", "source": {"text": BROKEN, "file": "mine.yaml"}})["errors"]
    )
    assert run("params", "mine.yaml").err == told


@pytest.mark.parametrize(
    ("settings", "field"),
    [({"batch": "many"}, "--batch"), ({"engine": "vllm"}, "--engine"), ({"kv-dtype": "fp8"}, "--kv-dtype")],
)
def test_a_mistake_in_a_setting_names_it(settings: dict[str, str], field: str) -> None:
    """Unreadable, of another question, or of another mode."""
    assert refused("exact", settings=settings)["field"] == field


def test_a_config_is_read_as_a_file() -> None:
    opened = asked("open", {"text": json.dumps(CONFIG), "file": "config.json"})
    assert opened["yaml"] == json.dumps(CONFIG) and "d_model:" in opened["spec"]


def test_the_header_of_a_safetensors_file_is_enough() -> None:
    whole = file(WEIGHTS)
    length = 8 + int.from_bytes(whole[:8], "little")
    source = {"file": "model.safetensors", "bytes": len(whole)}
    read = asked("exact", {**source, "header": base64.b64encode(whole[:length]).decode()})
    assert set(read["tables"]) == {"params"} and "flops" not in read
    cut = ask({"ask": "open", "source": {**source, "header": base64.b64encode(whole[: length - 1]).decode()}})
    assert cut == {"ok": False, "more": True}


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "hf:openai-community/gpt2", "../gpt2.yaml", "-", "", "file:///etc/passwd"]
)
def test_no_source_reaches_the_disk_or_the_network(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("archcalc.importers.hub.repository", lambda *_: pytest.fail("asked the Hub"))
    refused("exact", {"preset": name})
    refused("memory", settings={"draft": name or "./x"})


def test_a_name_is_text_whatever_it_says() -> None:
    hostile = "<img src=x onerror=alert(1)>\x1b[31m"
    text = archcalc.load("gpt2").yaml().replace("GPT-2 small", json.dumps(hostile), 1)
    answer = asked("exact", {"text": text})
    assert answer["title"] == "<img src=x onerror=alert(1)>\\x1b[31m"
    assert all("<img" not in svg for svg in answer["charts"].values())


def test_models_side_by_side(run: Run) -> None:
    sources = [GPT2, {"preset": "gpt2-medium"}]
    answer = ask({"ask": "compare", "sources": sources, "records": True})
    assert json.loads(answer["records"]["compare"]) == run("compare", "gpt2", "gpt2-medium", "--format", "json").json


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ({"command": "fit", "gpus": ["rtx-4090"]}, "archcalc fit gpt2 --batch 8 --gpu rtx-4090"),
        ({"command": "params"}, "archcalc params gpt2"),
        (
            {"command": "memory", "source": {"text": "", "file": "my model.yaml"}},
            "archcalc memory 'my model.yaml' --batch 8",
        ),
        ({"command": "shapes", "source": {"text": "", "file": "-x.yaml"}}, "archcalc shapes ./-x.yaml --batch 8"),
        (
            {"command": "compare", "sources": [GPT2, {"preset": "GPT2-Medium"}], "metric": "flops"},
            "archcalc compare gpt2 gpt2-medium --batch 8 --metric flops",
        ),
    ],
)
def test_a_view_as_a_command(question: dict[str, Any], line: str) -> None:
    assert ask({"ask": "command", "source": GPT2, "settings": {"batch": "8"}, **question})["line"] == line


def test_curves_are_those_of_the_command_line(run: Run) -> None:
    asked_for = {"x": "seq=128..1k", "y": ["memory", "cache"], "by": "batch=1,8", "gpus": ["rtx-4060"]}
    question = {"sources": [GPT2], **asked_for, "settings": {"mode": "infer", "weights": "int8"}}
    answer = ask({"ask": "plot", **question, "records": True})
    line = ask({"ask": "command", "command": "plot", **question})["line"]
    assert line.startswith("archcalc plot gpt2 ")
    assert json.loads(answer["records"]["plot"]) == run(*shlex.split(line)[1:], "--format", "json").json
    assert answer["charts"]["curves"].startswith("<svg")


def test_the_report_is_that_of_the_command_line(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    question = {"source": GPT2, "settings": {"batch": "2"}, "gpus": ["rtx-4090"]}
    answer = ask({"ask": "report", **question})
    line = ask({"ask": "command", "command": "report", **question})["line"]
    assert run(*shlex.split(line)[1:]).out == f"wrote {answer['file']}\n"
    assert (tmp_path / answer["file"]).read_text("utf-8") == answer["html"]


@pytest.mark.parametrize("question", ["exact", "memory", "fit"])
def test_charts_are_as_wide_as_the_page_wants_them(question: str) -> None:
    charts = asked(question, wide=400)["charts"]
    drawn = [svg for name, svg in charts.items() if name not in ("icicle", "diagram")]
    assert all('width="400"' in svg for svg in drawn) and drawn
    assert refused(question, wide=10)["field"] == refused(question, wide="x")["field"] == "wide"


def test_what_there_is_to_choose_from() -> None:
    catalog = ask({"ask": "catalog"})
    one = next(each for each in catalog["presets"] if each["name"] == "gpt2")
    assert (one["parameters"], one["short"]) == ("124,439,808", "124.4 M")
    settings = {each["name"]: each for each in catalog["settings"]}
    assert (
        settings["mode"]["kind"] == "choice"
        and settings["sp"]["kind"] == "flag"
        and settings["batch"]["kind"] == "size"
    )
    assert settings["engine"]["applies"] == ["memory", "fit", "plot", "report"]
    assert settings["batch"]["applies"] == ["exact", "memory", "fit", "plot", "report", "compare"]
    assert "vllm" in [one["value"] for one in settings["engine"]["known"]]
    assert "d_model" in ask({"ask": "schema", "family": "transformer"})["schema"]["properties"]


def test_listed_counts_are_those_that_are_counted() -> None:
    listed = {each["name"]: each["parameters"] for each in ask({"ask": "catalog"})["presets"]}
    for name in ("gpt2", "vit-b-16", "deepseek-v3", "bert-base"):
        assert listed[name] == f"{archcalc.load(name).params().total:,}"


@pytest.mark.parametrize(
    "question",
    [None, [], "exact", {}, {"ask": 3}, {"ask": "delete"}, {"ask": "exact"}, {"ask": "exact", "source": {"path": "x"}},
     {"ask": "exact", "source": GPT2, "settings": []}, {"ask": "exact", "source": GPT2, "settings": {"batch": {}}},
     {"ask": "fit", "source": GPT2, "gpus": [3]}, {"ask": "compare", "sources": 3},
     {"ask": "exact", "source": {"header": "!", "bytes": 3}}, {"ask": "exact", "source": {"text": "\ud800"}},
     {"ask": "exact", "source": {"text": "a" * (1 << 21)}}],
)  # fmt: skip
def test_whatever_is_asked_there_is_an_answer(question: Any) -> None:
    answer = json.loads(ask_json(json.dumps(question)))
    assert not answer["ok"]
    assert "bug" not in answer["error"]["fact"]


def test_what_is_not_json_is_answered_too() -> None:
    for text in ("", "{", "[" * 100_000):
        assert not json.loads(ask_json(text))["ok"]


def test_a_bug_is_answered_with_what_a_report_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("archcalc.ui.exact.loaded", lambda _: 1 / 0)
    error = refused("exact")
    assert "not a mistake of yours" in error["fact"] and "ZeroDivisionError" in error["text"]


def test_only_the_last_models_are_kept() -> None:
    from archcalc.ui import sources

    for width in range(1, 2 * sources.KEPT):
        sources.model_of({"text": f"vocab: 100\nd_model: {8 * width}\nheads: 1\nffn: 8\ndecoder: 1\n"})
    assert len(sources._kept) == sources.KEPT


def test_answers_need_neither_the_command_line_nor_the_server() -> None:
    """As in Pyodide, where none of these is installed."""
    code = (
        "import sys\n"
        f"for name in {ABSENT}: sys.modules[name] = None\n"
        "from archcalc.ui.ask import ask\n"
        "source = {'preset': 'gpt2'}\n"
        "asked = [{'ask': name, 'source': source, 'sources': [source, source], 'command': 'fit'}\n"
        "         for name in ('catalog', 'open', 'exact', 'memory', 'fit', 'compare', 'command', 'schema')]\n"
        "assert all(ask(question)['ok'] for question in asked)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
