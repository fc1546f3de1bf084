"""Print every storage that training a transformers class makes and drops, op by op, with the bytes that are alive.

    python tools/trace_training.py config.json --batch 2 --seq 16 --attention flash --recompute
    python tools/trace_training.py config.json --peaks            # only the peak of each phase, and what is alive there
    python tools/trace_training.py config.json --gpus 8 --precision fp32      # of one GPU under FSDP2

The options are the fields of `Setting` in archcalc/verify/hf/training.py.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import fields
from pathlib import Path

from sharded_steps import trace_sharded

from archcalc.reference.lifetimes import Birth, Phase, Storage
from archcalc.verify.hf.traced import Trace, trace_training
from archcalc.verify.hf.training import Setting, Training

USUAL = {"batch": 2, "seq": 16}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--peaks", action="store_true")
    for field in fields(Setting):
        _add(parser, field.name, USUAL.get(field.name, field.default))
    given = vars(parser.parse_args())
    config = json.loads(given["config"].read_text("utf-8"))
    setting = Setting(**{field.name: given[field.name] for field in fields(Setting)})
    several = given["gpus"] > 1
    trace = trace_sharded(config, setting, given["gpus"]) if several else trace_training(Training(config, setting))
    print("\n".join(_at_peaks(trace) if given["peaks"] else listed(trace)))


def _add(parser: argparse.ArgumentParser, name: str, usual: object) -> None:
    option = f"--{name.replace('_', '-')}"
    if isinstance(usual, bool):
        parser.add_argument(option, action="store_true")
    elif isinstance(usual, tuple):
        parser.add_argument(option, type=lambda text: tuple(text.split(",")), default=usual)
    else:
        parser.add_argument(option, type=type(usual), default=usual)


def _at_peaks(trace: Trace) -> list[str]:
    lines = []
    for phase, peak in trace.peaks.items():
        lines.append(f"== {phase.name or 'before'} {phase.step}: {peak.bytes:,} bytes")
        lines += [f"  {said(storage, trace.names)}" for storage in peak.alive]
    return lines


def listed(trace: Trace) -> list[str]:
    """A line for each event, for people who look for a difference."""
    lines, now = list[str](), 0
    for event in trace.events:
        if isinstance(event, Phase):
            lines.append(f"== {event.name} {event.step}")
            continue
        is_birth = isinstance(event, Birth)
        now += event.storage.bytes if is_birth else -event.storage.bytes
        lines.append(f"{now:>14,} {'+' if is_birth else '-'} {said(event.storage, trace.names)}")
    return lines


def said(storage: Storage, names: dict[int, str]) -> str:
    """A storage in one line."""
    shape = "×".join(map(str, storage.shape))
    name = names.get(storage.key, storage.module)
    return f"{storage.key} {storage.bytes:,} {storage.op.removeprefix('aten.')} {shape} {storage.dtype} {name}"


if __name__ == "__main__":
    main()
