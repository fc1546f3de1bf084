"""Write presets/hf/texts.json: which config types hold a language model in their text_config, and who ties its head.

    PYTHONPATH=tests python tools/hf_texts.py            # every type of the registry
    PYTHONPATH=tests python tools/hf_texts.py --check 5  # five random texts in each, against its class

Whether the head is the token table is said by the outer config, by the inner one or by either; no class says which, so
that the model is built with every choice, and the rule that explains all of them is written down.
"""

from __future__ import annotations

import json
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
import transformers
from hf_defaults import text
from support.hf_random import random_fields
from support.hf_truth import Verdict, build, judge_text, language_class
from transformers import CONFIG_MAPPING, PreTrainedConfig

from archcalc.importers.hf import translators
from archcalc.spec.paths import data_root

Said = dict[str, Any]
CHOICES = (None, True, False)
RULES: dict[str, Callable[[Any, Any, bool, bool], bool]] = {  # of what outer and inner say, and their defaults
    "outer": lambda outer, inner, own, its: own if outer is None else outer,
    "inner": lambda outer, inner, own, its: its if inner is None else inner,
    "either": lambda outer, inner, own, its: bool(
        (own if outer is None else outer) or (its if inner is None else inner)
    ),
    "first": lambda outer, inner, own, its: outer if outer is not None else (its if inner is None else inner),
    "never": lambda outer, inner, own, its: False,
}
NOT_BUILT = {"fast_vlm": "either", "perception_lm": "first", "aya_vision": "outer"}  # by their config classes: the
# vision towers need packages that draw images, or have no default that can be built
OTHER = (
    "ovis2",  # its head is as wide as the outer config says
    *("gemma4_assistant", "gemma4_unified_assistant"),  # drafts tokens from another model's states
)


def described(model_type: str) -> Said | None:
    """The type of the language model inside, and the rule of its head; None where archcalc must not read it."""
    spec = CONFIG_MAPPING[model_type].sub_configs_defaults["text_config"]
    inner = spec.model_type
    if inner not in translators() or translators()[inner].usual != "causal" or model_type in OTHER:
        return None
    own, its = (_declared(CONFIG_MAPPING[kind]) for kind in (model_type, inner))
    rule = NOT_BUILT.get(model_type) or _rule(model_type, inner, own, its)
    if rule is None:
        return None
    fixed = issubclass(spec.config_class, PreTrainedConfig)
    about = {"text": inner, "fixed": fixed, "tie": rule, "tied": own, "fields": spec.init_kwargs}
    return {**about, "merged": _merges(model_type, inner, spec.init_kwargs), "flat": _reads_flat(model_type)}


def _merges(model_type: str, inner: str, fields: Said) -> bool:
    """Whether the class puts its own fields below those of a text_config that leaves them out."""
    usual = CONFIG_MAPPING[inner].default_config_fields()
    made = CONFIG_MAPPING[model_type].from_dict({"text_config": {"model_type": inner}}).text_config
    keys = ("hidden_size", "num_hidden_layers", "vocab_size")
    sizes = [key for key in keys if fields.get(key, usual.get(key)) != usual.get(key)]
    return bool(sizes) and all(getattr(made, key) == fields[key] for key in sizes)


def _reads_flat(model_type: str) -> bool:
    """Whether the class reads the language model's fields from beside the vision_config, as older files have them."""
    try:
        made = CONFIG_MAPPING[model_type].from_dict({"hidden_size": 896, "num_hidden_layers": 13}).text_config
    except Exception:  # a class whose other parts do not fit to such a width
        return False
    return bool((made.hidden_size, made.num_hidden_layers) == (896, 13))


def _declared(config: type[PreTrainedConfig]) -> bool:
    return bool(config.default_config_fields().get("tie_word_embeddings"))


def _rule(model_type: str, inner: str, own: bool, its: bool) -> str | None:
    try:
        found = {(a, b): _is_tied(model_type, inner, a, b) for a in CHOICES for b in CHOICES}
    except Exception as reason:  # a class that cannot be built as it stands is not written down
        print(f"{model_type}: {str(reason)[:90]}", file=sys.stderr)
        return None
    for name, rule in RULES.items():
        if all(rule(a, b, own, its) == tied for (a, b), tied in found.items()):
            return name
    print(f"{model_type}: no rule explains its head", file=sys.stderr)
    return None


def _is_tied(model_type: str, inner: str, outer_tie: bool | None, inner_tie: bool | None) -> bool:
    said = a_file(model_type, inner, "tie")
    said["text_config"]["model_type"] = inner
    said |= {} if outer_tie is None else {"tie_word_embeddings": outer_tie}
    said["text_config"] |= {} if inner_tie is None else {"tie_word_embeddings": inner_tie}
    model: Any = build(said)
    return bool(model.get_output_embeddings().weight is model.get_input_embeddings().weight)


def a_file(model_type: str, inner: str, seed: str) -> Said:
    """A small random language model in the type's default surroundings."""
    rng = random.Random(f"{model_type} {seed}")
    fields = {**random_fields(inner, rng), "vocab_size": 70_000}  # some classes need their special tokens to be there
    fields.pop("tie_word_embeddings", None)
    fields.pop("add_cross_attention", None)
    return {"model_type": model_type, "architectures": [language_class(model_type)], "text_config": fields}


def every_type() -> Iterator[tuple[str, Said | None]]:
    for model_type in sorted(CONFIG_MAPPING.keys()):
        if "text_config" in CONFIG_MAPPING[model_type].sub_configs_defaults:
            yield model_type, described(model_type)


def check(number: int) -> bool:
    written: dict[str, Said] = json.loads((data_root() / "hf" / "texts.json").read_text(encoding="utf-8"))
    good = True
    for model_type, about in ((name, about) for name, about in written.items() if about):
        verdicts = [_judged(model_type, about["text"], str(seed)) for seed in range(number)]
        tally = {
            outcome: sum(v.outcome == outcome for v in verdicts) for outcome in ("exact", "wrong", "refused", "invalid")
        }
        why = next((v.why for v in verdicts if v.outcome != "exact"), "")
        print(f"{model_type:24}{about['text']:24}{tally} {why[:300]}", flush=True)
        good = good and not tally["wrong"]
    return good


def _judged(model_type: str, inner: str, seed: str) -> Verdict:
    said = a_file(model_type, inner, seed)
    rng = random.Random(seed)
    for place in (said, said["text_config"]):
        if (tie := rng.choice(CHOICES)) is not None:
            place["tie_word_embeddings"] = tie
    if rng.random() < 0.5:
        said["text_config"]["model_type"] = inner
    return judge_text(said)


def main() -> None:
    transformers.logging.set_verbosity_error()
    warnings.simplefilter("ignore")
    if "--check" in sys.argv:
        sys.exit(0 if check(int(sys.argv[-1])) else 1)
    with torch.device("meta"):
        (data_root() / "hf" / "texts.json").write_text(text(dict(every_type())), encoding="utf-8")


if __name__ == "__main__":
    main()
