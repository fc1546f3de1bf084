"""What the page's archive leaves out is never imported by a question of the explorer."""

from __future__ import annotations

import json
import subprocess
import sys

import site_python

# In a Python of its own, in which a file that the archive does not have is neither imported nor opened.
PROGRAM = """
import importlib.abc, json, sys
sys.path[:0] = json.loads(sys.argv[1])
import site_python
class Without(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        file = name.replace(".", "/")
        if name.startswith("archcalc") and not (site_python.is_read(f"{file}.py") and site_python.is_read(f"{file}/")):
            raise ModuleNotFoundError(f"{name} is not in the archive")
sys.meta_path.insert(0, Without())
def opened(event, words):
    _, _, data = str(words[0]).partition("/presets/") if event == "open" else ("", "", "")
    if data and not site_python.is_read(f"archcalc/presets/{data}"):
        raise FileNotFoundError(f"{data} is not in the archive")
sys.addaudithook(opened)
from archcalc.ui.ask import ask
print(json.dumps([ask(question) for question in json.load(sys.stdin)]))
"""
PRESETS = ("textbook", "gpt2", "deepseek-v3", "mamba-130m", "resnet-50", "vae-mnist", "sentiment-lstm", "word2vec-cbow")
CONFIG = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100}
LOADED = {"text": json.dumps({**CONFIG, "intermediate_size": 128}), "file": "config.json"}


def test_every_question_is_answered_with_what_the_archive_has() -> None:
    sources: list[dict[str, str]] = [*({"preset": name} for name in PRESETS), LOADED]
    asked = [{"ask": "catalog"}, {"ask": "schema"}, *(question for source in sources for question in about(source))]
    words = [sys.executable, "-c", PROGRAM, json.dumps(sys.path)]
    done = subprocess.run(words, input=json.dumps(asked), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    refused = [
        (question, answer) for question, answer in zip(asked, json.loads(done.stdout), strict=True) if not answer["ok"]
    ]
    assert refused == []


def about(source: dict[str, str]) -> list[dict[str, object]]:
    gpus = ["rtx-4090"]
    return [
        {"ask": "open", "source": source},
        {"ask": "exact", "source": source, "wide": 600},
        {"ask": "memory", "source": source, "wide": 600},
        {"ask": "fit", "source": source, "gpus": gpus, "wide": 600},
        {"ask": "compare", "sources": [source, {"preset": "gpt2"}], "metric": "params"},
        {"ask": "plot", "sources": [source], "x": "batch=1..4", "y": ["memory"], "by": "", "gpus": gpus},
        {"ask": "report", "source": source, "gpus": gpus},
        {"ask": "command", "command": "params", "source": source, "gpus": gpus},
    ]


def test_what_a_page_reads_is_kept_and_what_it_does_not_is_left_out() -> None:
    wasm = "pydantic_core/_pydantic_core.cpython-314-wasm32-emscripten.so"
    kept = ["archcalc/ui/ask.py", "archcalc/presets/models/gpt2.yaml", wasm, "pydantic-2.dist-info/licenses/LICENSE"]
    left = ["archcalc/cli/app.py", "archcalc/ui/server.py", "pydantic/main.pyi", "pydantic-2.dist-info/METADATA"]
    left += ["yaml/_yaml.cpython-311-x86_64-linux-gnu.so", "pydantic/v1/main.py"]
    assert [name for name in (*kept, *left) if site_python.is_read(name)] == kept
