"""Make a preset of a config.json if its count equals what others count; else say what is missing, and write nothing.

    python tools/add_model.py config.json --hub owner/name --released 2026-03
    python tools/add_model.py hf:owner/name
    python tools/add_model.py --from configs.jsonl.gz --only owner/name other/name

Writes presets/models/NAME.yaml, and the config into presets/configs.json. A list has a JSON object in each line: `name`
(as the Hub has it), `config`, `from`, where the config was read, and what else the options would say of this one.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from new_preset import Release, text_of, with_entry
from preset_counts import compared

import archcalc
from archcalc.core.errors import InputError
from archcalc.spec.paths import data_root
from archcalc.spec.release import REPOSITORY

HUB = "https://huggingface.co/"
OF_ONE = ("called", "title", "hub", "source", "released", "published", "precision")  # options that a list has for each


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("config", nargs="?", help="a config.json, its folder, or hf:owner/name")
    parser.add_argument(
        "--from", dest="listed", metavar="FILE", type=Path, help="a list of configs, .jsonl or .jsonl.gz"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these models of the list; all without it")
    parser.add_argument("--called", default="", metavar="NAME", help="the preset's name; usually that of the model")
    parser.add_argument("--title", default="", help="what the model is called in reports")
    parser.add_argument("--hub", nargs="+", default=[], metavar="OWNER/NAME", help="repositories with these shapes")
    parser.add_argument("--source", default="", help="where the config was read: a page, a repository, a paper")
    parser.add_argument("--released", default="", metavar="MONTH", help="2026-03, or 2026")
    parser.add_argument("--published", default="", metavar="COUNT", help="parameters that its authors print: 8.2B")
    parser.add_argument("--index", type=Path, metavar="FILE", help="the checkpoint's model.safetensors.index.json")
    parser.add_argument("--precision", default="", help="of the weights, where the config names none: bf16")
    parser.add_argument("--to", type=Path, default=data_root(), metavar="FOLDER", help="instead of presets")
    parser.add_argument("--force", action="store_true", help="overwrite a preset of that name")
    return parser


def releases(asked: argparse.Namespace) -> Iterator[Release]:
    if bool(asked.listed) == bool(asked.config):
        raise InputError("one config is needed, or a list", "name a config.json, or --from FILE")
    if not asked.listed:
        yield of_file(asked)
        return
    rows = [json.loads(line) for line in _lines(asked.listed)]
    missing = sorted({*(asked.only or ())} - {row["name"] for row in rows})
    if missing:
        raise InputError(f"not in the list: {', '.join(missing)}", field=str(asked.listed))
    for row in rows:
        if not asked.only or row["name"] in asked.only:
            own = argparse.Namespace(**vars(asked) | {word: row[word] for word in OF_ONE if word in row})
            yield described(own, row["config"], row["name"], row.get("from", ""))


def of_file(asked: argparse.Namespace) -> Release:
    if asked.config.startswith("hf:"):
        return described(asked, archcalc.load(asked.config).document.config, asked.config.removeprefix("hf:"), "")
    file = Path(asked.config)
    file = file / "config.json" if file.is_dir() else file
    config = json.loads("".join(_lines(file)))
    if not isinstance(config, dict) or "model_type" not in config:
        raise InputError("this is no config.json", "it has no model_type", field=asked.config)
    return described(asked, config, file.resolve().parent.name, "")


def described(asked: argparse.Namespace, config: dict[str, Any], name: str, read_in: str) -> Release:
    """What is not said of it follows from its name on the Hub."""
    hub = tuple(asked.hub) or ((name,) if REPOSITORY.fullmatch(name) else ())
    said = [f"{HUB}{hub[0]} config.json"] if hub else []
    source = asked.source or ", ".join([*said, *([f"read in {read_in}"] if read_in else [])])
    if not source:
        raise InputError("where is the config from?", "name it by --source or --hub", field=name)
    title = asked.title or (hub[0] if hub else name).rpartition("/")[2]
    more = {"called": asked.called, "released": asked.released, "published": asked.published}
    return Release(config, title, source, hub, **more, index=asked.index, precision=asked.precision)


def add(release: Release, folder: Path, *, force: bool) -> Path:
    """Write the preset, once all has been compared."""
    file, configs = folder / "models" / f"{release.preset}.yaml", folder / "configs.json"
    if file.exists() and not force:
        raise InputError("there is a preset of this name", "--force overwrites it", field=release.preset)
    print(f"{release.preset}: {release.total:,} parameters, {release.read.scope.name}")
    for sentence in (*compared(release), *release.read.spec.notes):
        print(f"  {sentence}")
    text = text_of(release)
    kept = configs.read_text(encoding="utf-8") if configs.exists() else "{}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    configs.write_text(with_entry(kept, release.preset, release.entry), encoding="utf-8")
    return file


def main(arguments: list[str] | None = None) -> int:
    asked, failed = options().parse_args(arguments), 0
    try:
        for release in releases(asked):
            failed += not _added(release, asked)
    except (InputError, json.JSONDecodeError) as error:
        print(error.told() if isinstance(error, InputError) else f"no JSON: {error}", file=sys.stderr)
        return 2
    return min(failed, 1)


def _added(release: Release, asked: argparse.Namespace) -> bool:
    """Others of a list are made though one is not."""
    try:
        print(f"  written: {add(release, asked.to, force=asked.force)}")
        return True
    except InputError as error:
        print(f"{release.title} is not added\n{error.told()}", file=sys.stderr)
        return False


def _lines(file: Path) -> list[str]:
    """Of a text, which may be compressed."""
    try:
        raw = file.read_bytes()
    except OSError as reason:
        raise InputError(f"cannot be read: {reason.strerror}", field=str(file)) from None
    text = (gzip.decompress(raw) if file.suffix == ".gz" else raw).decode("utf-8")
    return [line for line in text.splitlines() if line.strip()]


if __name__ == "__main__":
    sys.exit(main())
