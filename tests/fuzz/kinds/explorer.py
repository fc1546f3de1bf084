"""Questions of the explorer's page, as any page might send them: plain data of the wrong form, sources, settings."""

from __future__ import annotations

import base64
import json
from typing import Any

from archcalc.ui.ask import QUESTIONS, ask_json
from fuzz import questions, treewise
from fuzz.case import Case, Wrong, check_message
from fuzz.kinds import configs, safetensors, specs
from fuzz.values import odd

QUICK = {name: 1 if name in ("plot", "report", "fit") else 6 for name in QUESTIONS}
PRESETS = ("gpt2", "textbook", "lenet-5", "sentiment-lstm", "mamba-130m", "", "../x", "hf:owner/name")


def run(case: Case) -> None:
    """Answered, or refused in words; never a bug of archcalc's own."""
    question: Any = _question(case)
    if case.chance(0.3):
        question = treewise.mutated(question, case.random)
    written = json.dumps(question)
    case.steps.append(written[:2000])
    answer = json.loads(ask_json(written if case.chance(0.97) else written[: case.random.randrange(len(written))]))
    if answer["ok"]:
        return
    case.refused = True
    if not answer.get("more"):
        _check(answer["error"]["text"])


def _check(text: str) -> None:
    if "this is a bug in archcalc" in text:
        raise Wrong(f"{text.splitlines()[-1]}: {text[-3000:]}")
    check_message(text)


def _question(case: Case) -> dict[str, Any]:
    found: dict[str, Any] = {"ask": case.random.choices(list(QUICK), list(QUICK.values()))[0], "source": source(case)}
    known = questions.options_of(case.random.choice(("flops", "memory")))
    named = case.random.sample(list(known), case.random.choice((0, 1, 2, 3)))
    found["settings"] = {name.removeprefix("--"): _setting(case, known[name]) for name in named}
    if found["ask"] == "compare" or case.chance(0.1):
        found["sources"] = [source(case), source(case)]
    if found["ask"] in ("fit", "plot", "report") or case.chance(0.1):
        found |= {"gpus": case.random.sample(questions.GPUS, 1), "x": case.random.choice(questions.AXES)}
    return found | {"family": "network", "command": case.random.choice(("fit", "memory", "params", "plot", "x"))}


def _setting(case: Case, choices: tuple[str, ...]) -> Any:
    return odd(case.random) if case.chance(0.1) else case.random.choice(choices or (True,))


def source(case: Case) -> dict[str, Any]:
    chosen = case.random.random()
    if chosen < 0.5:
        return {"preset": case.random.choice(PRESETS)}
    if chosen < 0.8:
        text = case.random.choice((specs.text, configs.text))(case)
        return {"text": text.decode("utf-8", "replace"), "file": case.random.choice(("a.yaml", "config.json", "x"))}
    raw = safetensors.contents(case)
    start = raw[: case.random.choice((8, 100, len(raw)))]
    return {"header": base64.b64encode(start).decode(), "file": "m.safetensors", "bytes": len(raw)}
