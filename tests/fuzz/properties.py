"""What must hold of every model that can be read, whatever its numbers are."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from archcalc.core.errors import InputError
from archcalc.model import Model
from archcalc.render import render
from archcalc.report.base import Report
from fuzz.case import Case, Wrong

Rows = list[dict[str, Any]]


def check(case: Case, model: Model) -> None:
    """One of the properties."""
    chosen = case.random.choice(PROPERTIES)
    case.steps.append(f"property: {chosen.__name__}")
    chosen(case, model)


def same(said: str, one: Any, other: Any) -> None:
    if one != other:
        raise Wrong(f"{said}: {one!r:.300} and {other!r:.300}")


def or_refused(question: Callable[..., Any], **sizes: Any) -> Any:
    """None where the model, rightly, cannot be asked that."""
    try:
        return question(**sizes)
    except InputError:
        return None


def _record(question: Callable[..., Any], **sizes: Any) -> dict[str, Any]:
    """What programs read of the answer; nothing where it is refused."""
    report = or_refused(question, **sizes)
    return report.record() if report else {}


def rows_add_up(case: Case, model: Model) -> None:
    """Tensors add up to the model and to every module, parts to the peak, kinds of work to the total."""
    params = model.params().record()
    same("tensors and total", sum(row["total"] for row in params["rows"] if row["kind"] == "tensor"), params["total"])
    _modules_add_up(params["rows"])
    memory = _record(model.memory)
    if memory:
        same("parts and total", sum(memory["parts"].values()), memory["total_bytes"])
    flops = _record(model.flops)
    if flops:
        same("kinds and total", sum(kind["total"] for kind in flops["kinds"].values()), flops["total"])
        same("first row and total", flops["rows"][0]["total"], flops["total"])


def _modules_add_up(rows: Rows) -> None:
    """Each module's total is that of what stands directly in it; the model may have a child of its own name."""
    held: dict[str, int] = defaultdict(int)
    modules = {row["path"]: row["total"] for row in rows[1:] if row["kind"] == "module"} | {"": rows[0]["total"]}
    for row in rows[1:]:
        if row["kind"] != "part":
            above = next((path for path in _around(row["path"]) if path in modules), "")
            held[above] += row["total"]
    for path, total in modules.items():
        same(f"what {path or 'the model'} holds and its total", held[path], total)


def _around(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[:end]) for end in range(len(parts) - 1, 0, -1)]


def formats_agree(case: Case, model: Model) -> None:
    """JSON and CSV have the same rows; every figure stands in the table and in Markdown, too."""
    question = case.random.choice((model.params, model.flops, model.memory, model.shapes))
    report = or_refused(question)
    if report:
        _same_rows(report)
        for read in ("table", "markdown"):
            _figures_stand_in(report, render(report, read), read)
        _even_columns(render(report, "markdown"))


def _same_rows(report: Report) -> None:
    rows = json.loads(render(report, "json"))["rows"]
    read = list(csv.reader(io.StringIO(render(report, "csv"))))
    same("rows of JSON and of CSV", len(rows), len(read) - 1)
    for row, cells in zip(rows, read[1:], strict=True):
        same("columns of JSON that CSV lacks", [name for name in row if name not in read[0]], [])
        same("a row of JSON and of CSV", [_cell(row.get(name)) for name in read[0]], cells)


def _cell(value: Any) -> str:
    """A text that a spreadsheet would compute has an apostrophe before it."""
    text = " × ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
    return f"'{text}" if isinstance(value, str | list) and text.lstrip("'")[:1] in tuple("=+-@") else text


def _figures_stand_in(report: Report, text: str, format: str) -> None:
    for figure in report.figures():
        if f"{figure.value:,}" not in text:
            raise Wrong(f"{figure.label} {figure.value:,} is not in the {format}")


def _even_columns(text: str) -> None:
    """Every line of one Markdown table has as many cells as its head."""
    for block in text.split("\n\n"):
        lines = [line for line in block.split("\n") if line.startswith("| ")]
        columns = {line.replace("\\|", "").count("|") for line in lines}
        if len(columns) > 1:
            raise Wrong(f"lines of {sorted(columns)} cells in one Markdown table: {block[:300]!r}")


def show_reloads(case: Case, model: Model) -> None:
    """What `show` prints is the same model."""
    case.write("shown.yaml", model.yaml().encode())
    again = case.load("shown.yaml")
    if again is None:
        raise Wrong(f"what show prints is refused: {model.yaml()[:2000]}")
    same("parameters", model.params().record()["rows"], again.params().record()["rows"])
    same("FLOPs", _without_words(_record(model.flops)), _without_words(_record(again.flops)))
    if not any(note.startswith("weights:") for note in again.spec.notes):  # says which bytes a spec cannot take along
        same("memory", _without_words(_record(model.memory)), _without_words(_record(again.memory)))


def _without_words(record: dict[str, Any]) -> dict[str, Any]:
    """They may say where a figure comes from; a file lists its formats by size, its spec by the order of layers."""
    words = ("model", "run", "assumptions", "estimates", "weights_format")
    return {key: value for key, value in record.items() if key not in words}


def more_is_not_less(case: Case, model: Model) -> None:
    """A larger batch and a longer sequence cost no less, nor do more layers or wider weights."""
    case.random.choice((_more_work, _more_layers, _wider_weights))(case, model)


def _more_work(case: Case, model: Model) -> None:
    size = case.random.choice(("batch", "seq"))
    sizes = sorted((case.random.randint(1, 64), case.random.randint(1, 4096)))
    mode = case.random.choice(("infer", "train"))
    memory = [_record(model.memory, mode=mode, **{size: each}).get("total_bytes") for each in sizes]
    flops = [_record(model.flops, **{size: each}).get("total") for each in sizes]
    _ascending(f"bytes of {size} {sizes}", memory)
    _ascending(f"FLOPs of {size} {sizes}", flops)


def _more_layers(case: Case, model: Model) -> None:
    for stack in ("encoder", "decoder"):
        layers = model.document.data.get(stack)
        if isinstance(layers, int) and not isinstance(layers, bool):
            more = or_refused(Model.from_document, document=model.document, name="", changes=(f"{stack}={layers + 1}",))
            totals = [model.params().total, more.params().total if more else None]
            _ascending(f"parameters with one more layer in the {stack}", totals)


def _wider_weights(case: Case, model: Model) -> None:
    formats = ("int4", "int8", "bf16", "fp32")
    options = {"precision": "bf16"}  # of what a format leaves as it is
    found = [_record(model.memory, weights=each, **options).get("states", {}).get("weights") for each in formats]
    _ascending("bytes of weights in wider formats", found)


def _ascending(said: str, numbers: list[int | None]) -> None:
    told = [number for number in numbers if number is not None]
    if told != sorted(told):
        raise Wrong(f"{said}: {told}")


def largest_fits(case: Case, model: Model) -> None:
    """The largest batch that `fit` names fits with the error band to spare, and one more does not; so with the longest
    sequence. In training, with as large a share for the allocator as at the sizes asked for."""
    from archcalc.analyze.fit.answer import fit

    mode = case.random.choice(("infer", "train"))
    gpu = case.random.choice(("8GiB", "24GiB", "80GiB"))
    asked: dict[str, Any] = {"mode": mode, "gpu": gpu}  # the same run: a device decides on engine and kernel
    report = or_refused(fit, model=model, gpus=gpu, mode=mode)
    row = report.rows[0] if report else None
    most = row.room.safe * row.memory.total_bytes // (row.memory.required_bytes or 1) if row else 0
    if row and row.max_batch is not None:
        _largest(model, "batch", row.max_batch, most, asked)
    if row and row.max_seq is not None and row.limited_by == "memory":
        _largest(model, "seq", row.max_seq, most, asked)


def _largest(model: Model, size: str, largest: int, capacity: int, asked: dict[str, Any]) -> None:
    fits = model.memory(**(asked | {size: largest})).total_bytes if largest else 0
    over = _record(model.memory, **asked, **{size: largest + 1}).get("total_bytes")
    if fits > capacity or (over is not None and over <= capacity):
        raise Wrong(f"{size} {largest:,} takes {fits:,}, one more {over}, and there are {capacity:,} bytes")


def itself_is_equal(case: Case, model: Model) -> None:
    """Compared with itself, nothing differs."""
    from archcalc.analyze.compare.answer import compare

    metric = case.random.choice(("params", "flops", "memory"))
    report = or_refused(compare, models=[("A", model), ("B", model)], metric=metric)
    for row in report.record()["rows"] if report else ():
        same(f"{row['path']} twice", row["values"][0], row["values"][1])
        same(f"the difference of {row['path']}", row["difference"], [0])


PROPERTIES = (
    rows_add_up, rows_add_up, formats_agree, formats_agree, show_reloads, show_reloads, more_is_not_less,
    more_is_not_less, itself_is_equal, largest_fits,
)  # fmt: skip
