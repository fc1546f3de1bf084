"""archcalc compare: models side by side, part by part."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from support.assumption_texts import texts
from torch import nn

import archcalc
from archcalc.run.options import options_of
from archcalc.spec.option import flag_of

if TYPE_CHECKING:
    from conftest import Run, Write

SMALL, MEDIUM, XL = 124_439_808, 354_823_168, 1_557_611_200  # GPT-2 as published

MERGE = ("parent", "reconstruction", "classifier")


def compared(run: Run, *arguments: str) -> dict[str, Any]:
    """Rows by path."""
    answer = run("compare", *arguments, "--format", "json")
    assert answer.code == 0, answer.err
    return {row["path"]: row for row in answer.json["rows"]}


def test_the_headline_says_which_is_larger(run: Run) -> None:
    """By what factor, and by how many."""
    lines = run("compare", "gpt2", "gpt2-medium").out.splitlines()
    assert lines[0] == "gpt2 · gpt2-medium"
    assert lines[1] == f"gpt2-medium has 2.851 times the parameters of gpt2, {MEDIUM - SMALL:,} more"
    assert round(MEDIUM / SMALL, 3) == 2.851
    assert lines[3] == f"A  gpt2         124.4 M  {SMALL:,}"


def test_a_gru_has_three_quarters_of_an_lstms_recurrent_parameters(run: Run) -> None:
    """Layer by layer, as PyTorch has them; embedding and head do not shrink, so the whole is 0.940."""
    rows = compared(run, "sentiment-lstm", "sentiment-gru")
    layers = [rows[path] for path in ("layer_1", "layer_2")]
    cells = [cell(100, 128, num_layers=2, bidirectional=True) for cell in (nn.LSTM, nn.GRU)]
    expected = [sum(parameter.numel() for parameter in cell.parameters()) for cell in cells]
    assert [sum(row["values"][index] for row in layers) for index in range(2)] == expected
    assert [row["ratio"] for row in layers] == [[3 / 4], [3 / 4]]
    assert rows["embedding"]["ratio"] == rows["head"]["ratio"] == [1]
    out = run("compare", "sentiment-lstm", "sentiment-gru").out
    ratios = {line.split("  ")[0]: line.split()[-1] for line in out.splitlines() if line.split()}
    assert (ratios["layer 1"], ratios["layer 2"], ratios["model"]) == ("3/4", "3/4", "0.940")


def test_the_larger_one_may_be_named_first(run: Run) -> None:
    """The headline does not change, the differences turn negative."""
    answer = run("compare", "gpt2-medium", "gpt2").out
    assert f"gpt2-medium has 2.851 times the parameters of gpt2, {MEDIUM - SMALL:,} more" in answer
    assert f"−{MEDIUM - SMALL:,}" in answer


def test_totals_differences_and_ratios(run: Run) -> None:
    """To the first model; the first has none of its own."""
    total = compared(run, "gpt2", "gpt2-medium", "gpt2-xl")["model"]
    assert total["values"] == [SMALL, MEDIUM, XL]
    assert total["difference"] == [MEDIUM - SMALL, XL - SMALL]
    assert total["ratio"] == [MEDIUM / SMALL, XL / SMALL]


@pytest.mark.parametrize("names", [("textbook", "transformer-base"), ("gpt2", "bert-base"), ("t5-base", "gpt2-xl")])
def test_every_value_is_what_params_says(run: Run, names: tuple[str, ...]) -> None:
    """Beside each other stands what each model says alone; what one of them lacks is null there."""
    rows = compared(run, *names)
    for index, name in enumerate(names):
        alone = {row.path: row.total for row in archcalc.load(name).params().rows if row.kind == "module"}
        beside = [row["values"][index] for row in rows.values() if row["values"][index] is not None]
        assert sorted(beside) == sorted(alone.values())


def test_columns_add_up(run: Run) -> None:
    """Every model's parts to its total, every difference to the total's."""
    rows = compared(run, "textbook", "gpt2", "bart-base")
    top = [row for path, row in rows.items() if "." not in path and path != "model"]
    for index in range(3):
        assert sum(row["values"][index] or 0 for row in top) == rows["model"]["values"][index]
    for index in range(2):
        assert sum(row["difference"][index] for row in top) == rows["model"]["difference"][index]


def test_blocks_of_different_depth_share_a_row(run: Run) -> None:
    """With how often they stand in each model."""
    row = compared(run, "gpt2", "gpt2-medium")["decoder.blocks"]
    assert row["times"] == [12, 24]
    assert "  block × 12, 24 " in run("compare", "gpt2", "gpt2-medium").out
    assert "  block × 12  " in run("compare", "gpt2", "bert-base").out


def test_a_model_against_itself_with_a_change(run: Run) -> None:
    """Twelve more blocks, each of 12·768² + 13·768 parameters; all else is equal and not taken apart."""
    answer = run("compare", "gpt2", "--set", "decoder.blocks=24")
    more = 12 * (12 * 768**2 + 13 * 768)
    assert f"gpt2:decoder.blocks=24 has 1.683 times the parameters of gpt2, {more:,} more" in answer.out
    embedding = next(line for line in answer.out.splitlines() if line.startswith("embedding"))
    assert embedding.split() == ["embedding", "39,383,808", "39,383,808", "=", "1"]
    assert "tokens" not in answer.out
    rows = compared(run, "gpt2", "--set", "decoder.blocks=24")
    assert rows["embedding.tokens"]["values"] == [50257 * 768, 50257 * 768]


def test_changes_to_one_model_alone(run: Run) -> None:
    """Behind a colon, several with commas; the others stay as they are."""
    rows = compared(run, "gpt2", "gpt2:kv_heads=4,ffn={width: 2048, act: relu}")
    assert rows["decoder.blocks.attention.k"]["ratio"] == [1 / 3]
    assert rows["decoder.blocks.ffn.in"]["values"] == [12 * (768 * 3072 + 3072), 12 * (768 * 2048 + 2048)]
    assert rows["embedding"]["difference"] == [0]


def test_a_change_to_all_models(run: Run) -> None:
    """--set with several models changes each of them, and says so."""
    answer = run("compare", "gpt2", "gpt2-medium", "--set", "vocab=1000")
    assert "· vocab=1000 in every model" in answer.out
    rows = compared(run, "gpt2", "gpt2-medium", "--set", "vocab=1000")
    assert rows["embedding.tokens"]["values"] == [1000 * 768, 1000 * 1024]


def test_own_changes_and_one_more(run: Run) -> None:
    """A single model with a change of its own is what --set is compared with."""
    answer = run("compare", "gpt2:decoder.blocks=6", "--set", "vocab=1000")
    assert answer.out.startswith("gpt2:decoder.blocks=6 · gpt2:decoder.blocks=6,vocab=1000\n")
    rows = compared(run, "gpt2:decoder.blocks=6", "--set", "vocab=1000")
    assert rows["decoder.blocks"]["times"] == [6, 6]
    assert rows["model"]["difference"] == [(1000 - 50257) * 768]


def test_a_file_whose_name_looks_like_a_change(run: Run, write: Write) -> None:
    """What is there under the whole name is that file."""
    file = write(archcalc.load("gpt2").yaml(), "model:heads=8")
    assert compared(run, "gpt2", file)["model"]["values"] == [SMALL, SMALL]


def test_simple_ratios_are_exact_and_others_rounded(run: Run) -> None:
    """`4/3` and `1` are meant to the last digit, `2.851` and `1.000` are not."""
    lines = [line.split() for line in run("compare", "gpt2", "gpt2-medium").out.splitlines()]
    ratios = {line[0]: line[-1] for line in lines if len(line) >= 5}
    assert (ratios["model"], ratios["embedding"]) == ("2.851", "4/3")
    out = run("compare", "gpt2", "bert-base").out.splitlines()
    stacks, blocks = (next(line for line in out if part in line) for part in ("decoder / encoder", "block × 12"))
    assert (stacks.split()[-1], blocks.split()[-1]) == ("1.000", "1")


def test_the_only_stacks_stand_side_by_side(run: Run) -> None:
    """A decoder and an encoder that are all the blocks there are share rows; their own parts keep their order."""
    out = run("compare", "gpt2", "bert-base").out
    names = [line.split("  ")[0].strip() or line.strip().split("  ")[0] for line in out.splitlines()]
    assert names.index("tokens") < names.index("types") < names.index("positions")
    assert "decoder / encoder" in names
    assert "attention norm / Add & Norm" in names


def test_an_encoder_and_a_decoder_are_not_mixed_up(run: Run) -> None:
    """Beside a model that has both, a decoder is held against the decoder."""
    rows = compared(run, "textbook", "gpt2")
    assert rows["encoder"]["values"] == [50_439_168, None]
    assert rows["encoder"]["difference"] == [-50_439_168]
    assert rows["encoder"]["ratio"] == [None]
    assert rows["decoder.blocks"]["times"] == [8, 12]
    assert "counts as 0 in differences" in run("compare", "textbook", "gpt2").out


def test_parts_of_the_second_model_stand_where_they_stood(run: Run) -> None:
    """GPT-2 has no cross-attention: BART's stands between self-attention and feed-forward layer all the same."""
    paths = list(compared(run, "gpt2", "bart-base"))
    blocks = [path.removeprefix("decoder.blocks.") for path in paths if path.startswith("decoder.blocks.")]
    order = [name for name in blocks if name in ("attention", "cross", "ffn")]
    assert order == ["attention", "cross", "ffn"]


def test_models_of_different_families(run: Run) -> None:
    """Nothing lines up: what one model has alone is not taken apart, except for programs."""
    rows = compared(run, "linear-autoencoder", "recursive-autoencoder")
    assert list(rows) == ["model", "encoder", "decoder", "merge", *(f"merge.{part}" for part in MERGE)]
    assert rows["merge"]["values"] == [None, 10_252]
    out = run("compare", "linear-autoencoder", "recursive-autoencoder").out
    table = out.split("\n\n")[2]
    assert "\nmerge " in table
    assert not any(part in table for part in MERGE)


@pytest.mark.parametrize(
    "names", [("gpt2", "gpt2-medium"), ("gpt2", "gpt2-medium", "gpt2-xl"), ("textbook", "gpt2-xl")]
)
def test_two_or_three_models_fit_eighty_columns(run: Run, names: tuple[str, ...]) -> None:
    """Where differences do not fit they are left out, which is said; names are never cut."""
    out = run("compare", *names).out
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    assert ("B − A, C − A left out: the terminal is too narrow" in out) == (len(names) == 3)


def test_a_wide_terminal_shows_the_differences_of_three(run: Run) -> None:
    """Nothing is left out that fits."""
    out = run("compare", "gpt2", "gpt2-medium", "gpt2-xl", columns=140).out
    assert "C − A" in out
    assert f"+{XL - SMALL:,}" in out
    assert "left out" not in out


def test_equal_models_are_called_equal(run: Run) -> None:
    """And not taken apart."""
    lines = run("compare", "gpt2", "gpt2:heads=8").out.splitlines()
    assert lines[1] == "gpt2 and gpt2:heads=8 have the same number of parameters"
    assert not any("attention" in line for line in lines)


def test_an_exact_multiple(run: Run) -> None:
    """Is called by its number, where others are rounded to three digits."""
    assert (
        "A has 2 times the parameters of B" in run("compare", "linear-autoencoder", "linear-autoencoder:hidden=16").out
    )


def test_long_names_give_way_to_letters(run: Run) -> None:
    """In the headline, which is one line."""
    change = "vocab=1000,ffn.width=1024,position.length=512"
    lines = run("compare", "gpt2", f"gpt2:{change}").out.splitlines()
    assert lines[1].startswith("A has ")
    assert " times the parameters of B, " in lines[1]
    wide = run("compare", "gpt2", f"gpt2:{change}", columns=200).out.splitlines()
    assert wide[1].startswith("gpt2 has ") and f" times the parameters of gpt2:{change}, " in wide[1]


def test_depth(run: Run) -> None:
    """How many levels are shown."""
    out = run("compare", "gpt2", "gpt2-medium", "--depth", "1").out
    table = out.split("\n\n")[2].splitlines()
    assert [line.split()[0] for line in table] == ["part", "model", "embedding", "decoder"]
    assert "  block" not in out


def test_csv_has_a_column_for_every_number(run: Run) -> None:
    """Ready for a spreadsheet, all rows, whatever the depth."""
    out = run("compare", "gpt2", "gpt2-medium", "gpt2-xl", "--format", "csv").out
    header, first, *rest = csv.reader(io.StringIO(out))
    assert header == ["path", "A gpt2", "B gpt2-medium", "C gpt2-xl", "B - A", "C - A", "B / A", "C / A"]
    assert first[:6] == ["model", *map(str, (SMALL, MEDIUM, XL, MEDIUM - SMALL, XL - SMALL))]
    assert len(rest) == len(compared(run, "gpt2", "gpt2-medium", "gpt2-xl")) - 1


def test_markdown(run: Run) -> None:
    """A table for notes and pull requests."""
    out = run("compare", "gpt2", "gpt2-medium", "--format", "markdown").out
    assert out.startswith("### gpt2 · gpt2-medium\n")
    assert "| part | A | B | B − A | B ÷ A |" in out
    assert f"| model | {SMALL:,} | {MEDIUM:,} | +{MEDIUM - SMALL:,} | 2.851 |" in out


def test_json_says_what_was_compared(run: Run) -> None:
    """Stable keys, exact ints."""
    answer = run("compare", "gpt2", "gpt2:heads=8", "--format", "json").json
    assert list(answer) == ["schema_version", "metric", "models", "assumptions", "rows"]
    assert answer["metric"] == "params"
    assert [model["label"] for model in answer["models"]] == ["gpt2", "gpt2:heads=8"]
    assert [model["total"] for model in answer["models"]] == [SMALL, SMALL]
    assert list(answer["rows"][0]) == ["path", "title", "times", "values", "difference", "ratio"]


def test_standard_input_is_read_once(run: Run) -> None:
    """Compared with itself before a change, it goes by its name."""
    spec = archcalc.load("gpt2").yaml()
    answer = run("compare", "-", "--set", "decoder.blocks=24", stdin=spec)
    assert answer.out.startswith("GPT-2 small · GPT-2 small:decoder.blocks=24\n")
    assert run("compare", "-", "gpt2-medium", "--format", "json", stdin=spec).json["rows"][0]["values"][0] == SMALL


SEES = {
    "model_type": "lighton_ocr",
    "architectures": ["LightOnOcrForConditionalGeneration"],
    "text_config": {"model_type": "qwen3", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 100},
    "vision_config": {"model_type": "pixtral", "num_hidden_layers": 2},
}


def test_what_an_import_leaves_out_is_said_of_its_model(run: Run, write: Write) -> None:
    """As `params` of the file says it, with the letter that the model goes by; of all models it is said once."""
    file = write(json.dumps(SEES), "config.json")
    alone = "lighton_ocr is multimodal: only its text_config (qwen3) is counted"
    assumptions = texts(run("compare", "gpt2", file, "--format", "json").json)
    assert "B: text model of lighton_ocr" in assumptions
    assert any(words.startswith(f"B: {alone}") for words in assumptions)
    assert not any(words.startswith("A: ") for words in assumptions)
    both = texts(run("compare", file, "--set", "vocab=50", "--format", "json").json)
    assert sum(alone in words for words in both) == 1


MISTAKES = {
    ("gpt2",): "there is only one model to compare\n  name a second model, or a change",
    ("gpt2", "gpt22"): "no preset and no file is called gpt22\n  did you mean gpt2",
    ("gpt2", "gpt2:decoder.blcks=3"): "gpt2:decoder.blcks=3: decoder.blcks: no such field\n  did you mean blocks?",
    ("gpt2", "linear-autoencoder", "--set", "heads=4"): "this is linear-autoencoder; to change one model alone, write "
    "MODEL:heads=4",
    ("gpt2", "gpt2-medium", "--metric", "parms"): "--metric: no metric called parms\n  did you mean params?",
    ("gpt2", "gpt2-medium", "--format", "yaml"): "--format: no format called yaml",
    tuple(["gpt2"] * 27): "27 models to compare\n  name 2 to 26",
}


@pytest.mark.parametrize(("arguments", "told"), MISTAKES.items())
def test_a_mistake_is_told(run: Run, arguments: tuple[str, ...], told: str) -> None:
    """With the way out, and exit code 2."""
    answer = run("compare", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err


def test_a_mistake_in_a_file_is_told_with_its_line(run: Run, write: Write) -> None:
    """As every command does."""
    answer = run("compare", "gpt2", write("vocab: 10\nd_modl: 5\n"))
    assert answer.code == 2
    assert "model.yaml:2: d_modl: no such field\n  2 | d_modl: 5\n  did you mean d_model?" in answer.err


def test_the_installed_program(run: Run) -> None:
    """The console script prints what the tests above read."""
    program = shutil.which("archcalc")
    command = [program] if program else [sys.executable, "-m", "archcalc"]
    done = subprocess.run([*command, "compare", "gpt2", "gpt2-medium"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == run("compare", "gpt2", "gpt2-medium").out.splitlines()[1]


FIGURES = {"params": "total", "flops": "total", "memory": "required_bytes"}
ASKED = [
    ("params", []),
    ("params", ["--lora", "8"]),
    ("params", ["--freeze", "embedding"]),
    ("flops", ["--seq", "512"]),
    ("flops", ["--mode", "forward", "--seq", "128", "--batch", "4"]),
    ("flops", ["--mode", "decode", "--context", "300", "--causal", "half"]),
    ("flops", ["--lora", "8", "--recompute", "full", "--seq", "64", "--gpu", "h100"]),
    ("memory", ["--seq", "512"]),
    ("memory", ["--seq", "512", "--overhead", "0"]),
    ("memory", ["--mode", "decode", "--context", "500", "--weights", "int4", "--kv-dtype", "fp8"]),
    ("memory", ["--mode", "train", "--batch", "2", "--seq", "64", "--precision", "bf16", "--optimizer", "sgd"]),
    ("memory", ["--mode", "train", "--seq", "64", "--lora", "8", "--weights", "nf4"]),
    ("memory", ["--mode", "forward", "--seq", "64", "--tp", "2", "--gpu", "2xa100"]),
]


@pytest.mark.parametrize(("metric", "options"), ASKED, ids=str)
def test_answers_are_those_of_the_metrics_own_command(run: Run, metric: str, options: list[str]) -> None:
    """Whatever is asked of it."""
    asked = [*options, "--format", "json"]
    models = run("compare", "gpt2", "gpt2-medium", "--metric", metric, *asked).json["models"]
    alone = [run(metric, name, *asked).json[FIGURES[metric]] for name in ("gpt2", "gpt2-medium")]
    assert [model["total"] for model in models] == alone


def test_every_option_of_the_commands_is_one_of_compare(run: Run) -> None:
    words = run("compare", "--help-all").out.split()
    options = {name for command in FIGURES for name, _ in options_of(command)} - {"measured"}  # one run's
    assert {flag_of(name) for name in options} <= set(words)


@pytest.mark.parametrize("metric", ["flops", "memory"])
def test_costs_differ_where_parameters_do_not(run: Run, metric: str) -> None:
    """Softmax against kernel attention."""
    sizes = ("--seq", "512", "--format", "json")
    compared = run("compare", "gpt2", "gpt2:attention.feature=elu", "--metric", metric, *sizes).json
    softmax, kernel = (model["total"] for model in compared["models"])
    assert kernel == run(metric, "gpt2", "--set", "attention.feature=elu", *sizes).json[FIGURES[metric]] < softmax


def test_parts_with_adapters_are_those_of_the_code_that_trains(run: Run) -> None:
    """One matrix of queries, keys and values, with two of rank 8 beside it."""
    row = compared(run, "gpt2", "gpt2-medium", "--lora", "8")["decoder.blocks.attention.qkv"]
    assert row["values"][0] == 12 * (768 * 2304 + 2304 + 8 * (768 + 2304))


def test_a_mistake_of_one_model_names_it(run: Run) -> None:
    answer = run("compare", "gpt2", "resnet-50", "--metric", "flops", "--seq", "64")
    assert (answer.code, answer.out) == (2, "")
    assert "--seq: this model reads no sequence" in answer.err
    assert answer.err.endswith("this is resnet-50\n")


@pytest.mark.parametrize(
    ("metric", "options", "told"),
    [
        ("params", ["--batch", "8"], "--batch: has no effect on parameters\n  add --metric flops or memory"),
        ("flops", ["--optimizer", "sgd"], "--optimizer: has no effect on FLOPs\n  add --metric memory"),
        ("memory", ["--causal", "half"], "--causal: has no effect on bytes\n  add --metric flops"),
    ],
)
def test_an_option_of_another_metric_is_refused(run: Run, metric: str, options: list[str], told: str) -> None:
    answer = run("compare", "gpt2", "gpt2-medium", "--metric", metric, *options)
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err


def test_a_length_is_for_costs(run: Run) -> None:
    """It would change no parameter."""
    answer = run("compare", "gpt2", "gpt2-medium", "--seq", "8")
    assert (answer.code, answer.out) == (2, "")
    assert "--seq: has no effect on parameters" in answer.err


@pytest.mark.parametrize("metric", ["flops", "memory"])
def test_different_lengths_are_told_beneath_the_headline(run: Run, metric: str) -> None:
    """They are a part of why costs differ; at one length there is nothing to tell."""
    lines = run("compare", "gpt2", "llama-2-7b", "--metric", metric).out.splitlines()
    assert lines[2] == "at different lengths: A seq 1,024, B seq 2,048"
    answer = run("compare", "gpt2", "linear-autoencoder", "--metric", metric).out
    assert "at different sizes: A batch 1 and seq 1,024, B batch 64" in answer
    answer = run("compare", "gpt2", "t5-base", "sentiment-lstm", "--metric", metric).out
    assert answer.splitlines()[2].startswith(
        "at different sizes: A batch 1 and seq 1,024, B batch 1 and src_seq 512 and"
    )
    assert "different lengths" not in run("compare", "gpt2", "llama-2-7b", "--metric", metric, "--seq", "512").out


def test_memory_says_what_belongs_to_no_part(run: Run) -> None:
    """Parts add up to weights and caches; what the whole has more are activations and overhead."""
    answer = run("compare", "gpt2", "gpt2-medium", "--metric", "memory", "--overhead", "0", "--format", "json").json
    said = "activations and overhead are counted for the whole model, not by part"
    assert said in texts(answer)
    whole, *parts = (row for row in answer["rows"] if "." not in row["path"])
    activations = archcalc.load("gpt2").memory(overhead=0).parts["activations"]
    assert whole["values"][0] - sum(row["values"][0] for row in parts) == activations > 0
    assert not any(said in words for words in texts(run("compare", "gpt2", "bert-base", "--format", "json").json))
