"""Files of the Hub are checked as those of a folder are: configs, headers, shards and what stands beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.loopback_hub import COMMIT, Hub, holding, listing, refused
from support.safetensors_files import CONFIG, WEIGHTS, file

import archcalc


def changed(**fields: object) -> bytes:
    """The weights, with fields of the first tensor as they cannot be."""
    content = file(WEIGHTS)
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    first = next(name for name in header if name != "__metadata__")
    header[first] |= fields
    written = json.dumps(header).encode()
    return len(written).to_bytes(8, "little") + written + content[8 + length :]


@pytest.mark.parametrize(
    "weights",
    [
        b"",
        b"\0" * 8,
        b"\xff" * 8 + b"{}",
        (2**40).to_bytes(8, "little") + b"{}",
        (200_000).to_bytes(8, "little") + b"[" * 200_000,
        (2).to_bytes(8, "little") + b"[]",
        file(WEIGHTS)[:-1],
        file(WEIGHTS) + b"\0",
        changed(shape=[-1, 2]),
        changed(shape="x"),
        changed(data_offsets=[0, -2]),
        changed(data_offsets=[8, 0]),
        changed(data_offsets=[0]),
        changed(dtype=["F32"]),
        changed(dtype="F33"),
    ],
    ids=range(15),
)
@pytest.mark.parametrize("beside", [True, False])
def test_headers_are_checked_as_those_of_a_file(hub: type[Hub], tmp_path: Path, weights: bytes, beside: bool) -> None:
    """What is refused of a file on disk is refused of the Hub's, for the same reason."""
    config = {"config__json": json.dumps(CONFIG).encode()} if beside else {}
    holding(hub, model__safetensors=weights, **config)
    local = tmp_path / "model.safetensors"
    local.write_bytes(weights)
    there, here = refused(), refused(str(local))
    assert there.startswith("hf:owner/name/model.safetensors: ")
    assert there.splitlines()[0].split(": ", 1)[1] == here.splitlines()[0].split(": ", 1)[1]


def test_a_long_header_is_read_whole(hub: type[Hub]) -> None:
    """Longer than what is asked for at first."""
    many = {f"layers.{index}.weight": ("F32", [2]) for index in range(3000)}
    holding(hub, model__safetensors=file(many))
    assert archcalc.load("hf:owner/name").params().total == 6000


def test_shards_are_joined_as_their_index_says(hub: type[Hub]) -> None:
    names = list(WEIGHTS)
    parts = {f"part-{index}.safetensors": names[index::20] for index in range(min(20, len(names)))}
    index = {"weight_map": {name: part for part, held in parts.items() for name in held}}
    files = {part: file({name: WEIGHTS[name] for name in held}) for part, held in parts.items()}
    files |= {"model.safetensors.index.json": json.dumps(index).encode(), "config.json": json.dumps(CONFIG).encode()}
    hub.answers["list"] = listing(*files)
    hub.answers.update({name: (200, {}, body) for name, body in files.items()})
    model = archcalc.load("hf:owner/name")
    assert any("as the config says" in note for note in (*model.document.notes, *model.document.file_notes))
    del hub.answers["part-1.safetensors"]
    noted = archcalc.load("hf:owner/name").document.file_notes
    assert any(
        note.startswith("1 of the ") and "are not here; bytes are computed from the config" in note for note in noted
    )
    hub.answers["model.safetensors.index.json"] = (200, {}, b'{"weight_map": {"a": "../../x.safetensors"}}')
    assert "not beside it" in refused()
    many = {"weight_map": {f"t{index}": f"{index}.safetensors" for index in range(3000)}}
    hub.answers["model.safetensors.index.json"] = (200, {}, json.dumps(many).encode())
    assert "3,000 shards" in refused()


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[]",
        b"null",
        b"\xff",
        b"",
        b"{",
        b'{"model_type": "gpt2", "n_embd": 1e999}',
    ],
)
def test_a_config_is_checked_as_a_file_is(hub: type[Hub], tmp_path: Path, raw: bytes) -> None:
    holding(hub, config__json=raw)
    local = tmp_path / "config.json"
    local.write_bytes(raw)
    there, here = refused(), refused(str(local))
    assert there.startswith("hf:owner/name/config.json:")
    assert there.replace("hf:owner/name/config.json", "") == here.replace(str(local), "")


def test_what_beside_the_config_tells_the_format_is_fetched(hub: type[Hub]) -> None:
    holding(hub, config__json=json.dumps(CONFIG).encode(), hf_quant_config__json=b"{}", other__json=b"{}")
    archcalc.load("hf:owner/name")
    fetched = [path.rsplit("/", 1)[-1] for path, _ in hub.asked]
    assert fetched == ["main", "config.json", "hf_quant_config.json"]
    assert all(f"/resolve/{COMMIT}/" in path for path, _ in hub.asked[1:])


def test_a_config_that_is_not_read_leaves_the_tensors(hub: type[Hub]) -> None:
    """As it does in a folder."""
    holding(hub, config__json=b'{"model_type": "sphinx"}', model__safetensors=file(WEIGHTS))
    model = archcalc.load("hf:owner/name")
    assert any("the tensors of the repository, without a forward pass" in note for note in model.document.notes)
    holding(hub, config__json=b'{"model_type": "sphinx"}', model__safetensors=b"")
    assert "sphinx" in refused()
