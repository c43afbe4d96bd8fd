"""Settings: every value has a name, a source and limits, and nothing wrong is ignored."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest
import yaml

from clew.errors import SettingError
from clew.settings import (
    Loaded,
    Settings,
    Weights,
    as_dict,
    config_hash,
    describe,
    load,
    reference_markdown,
    template,
)

DOCS = Path(__file__).parents[1] / "docs" / "settings.md"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path)}


def configured(home: Mapping[str, str], name: str, text: str) -> Path:
    file = Path(home["HOME"]) / ".config" / "clew" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def refused(home: Mapping[str, str], **overrides: Any) -> SettingError:
    with pytest.raises(SettingError) as caught:
        load(
            environ=home,
            overrides={key.replace("__", "."): value for key, value in overrides.items()},
        )
    return caught.value


def test_without_any_source_every_value_is_the_default(home: dict[str, str]) -> None:
    loaded = load(environ=home)
    assert loaded.settings == Settings()
    assert set(loaded.sources.values()) == {"default"}
    assert loaded.file is None


def test_the_missions_numbers_are_the_defaults() -> None:
    settings = Settings()
    assert (settings.memory.min_characters, settings.memory.max_characters) == (12, 4000)
    assert (settings.duplicates.near_threshold, settings.duplicates.near_neighbours) == (0.8, 50)
    recall = settings.recall
    assert (
        recall.candidates,
        recall.rrf_k,
        recall.rrf_dense_weight,
        recall.rrf_sparse_weight,
        recall.dense_floor,
    ) == (
        100,
        60,
        0.7,
        0.3,
        -0.1,
    )
    assert (settings.score.recency_rate_per_day, settings.score.access_divisor) == (0.1, 5.0)
    assert settings.score.presets["balanced"] == Weights(
        semantic=0.5, recency=0.2, importance=0.2, access=0.1
    )
    assert all(math.isclose(sum(weights), 1.0) for weights in settings.score.presets.values())
    assert (settings.lists.important_min, settings.lists.popular_min) == (0.7, 5)


def test_each_source_wins_over_the_one_before(home: dict[str, str]) -> None:
    file = configured(home, "config.yaml", "recall:\n  k: 3\n  candidates: 30\n  rrf_k: 33\n")
    environ = {**home, "CLEW_RECALL__CANDIDATES": "40", "CLEW_RECALL__RRF_K": "44"}
    loaded = load(environ=environ, overrides={"recall.rrf_k": 55})
    assert (
        loaded.settings.recall.k,
        loaded.settings.recall.candidates,
        loaded.settings.recall.rrf_k,
    ) == (3, 40, 55)
    assert loaded.sources["recall.k"] == f"file:{file}"
    assert loaded.sources["recall.candidates"] == "env:CLEW_RECALL__CANDIDATES"
    assert loaded.sources["recall.rrf_k"] == "argument"
    assert loaded.sources["recall.recipe"] == "default"


def test_toml_and_yaml_say_the_same(home: dict[str, str], tmp_path: Path) -> None:
    yaml_file, toml_file = tmp_path / "a.yaml", tmp_path / "a.toml"
    yaml_file.write_text(
        "duplicates:\n  near: false\n  near_threshold_by_category: {fact: 0.95}\nmemory:\n  triggers: [a, b]\n"
    )
    toml_file.write_text(
        '[duplicates]\nnear = false\nnear_threshold_by_category = {fact = 0.95}\n[memory]\ntriggers = ["a", "b"]\n'
    )
    assert load(yaml_file, environ=home).settings == load(toml_file, environ=home).settings
    assert load(toml_file, environ=home).settings.memory.triggers == ("a", "b")


def test_the_named_file_wins_over_clew_config_and_that_over_the_home_folder(
    home: dict[str, str], tmp_path: Path
) -> None:
    configured(home, "config.toml", "recall.k = 1\n")
    named, by_variable = tmp_path / "named.yml", tmp_path / "variable.yaml"
    named.write_text("recall: {k: 3}")
    by_variable.write_text("recall: {k: 2}")
    environ = {**home, "CLEW_CONFIG": str(by_variable)}
    assert load(environ=home).settings.recall.k == 1
    assert load(environ=environ).settings.recall.k == 2
    assert load(named, environ=environ).settings.recall.k == 3


def test_two_files_in_the_home_folder_are_refused_rather_than_one_ignored(
    home: dict[str, str],
) -> None:
    configured(home, "config.toml", "")
    configured(home, "config.yaml", "")
    with pytest.raises(SettingError, match="more than one file"):
        load(environ=home)


def test_store_and_space_have_short_variables_and_the_long_ones_win(home: dict[str, str]) -> None:
    environ = {**home, "CLEW_STORE": "/tmp/a.clew", "CLEW_SPACE": "team"}
    loaded = load(environ=environ)
    assert (loaded.settings.store.path, loaded.settings.store.space) == ("/tmp/a.clew", "team")
    assert loaded.sources["store.path"] == "env:CLEW_STORE"
    assert (
        load(environ={**environ, "CLEW_STORE__PATH": "/tmp/b.clew"}).settings.store.path
        == "/tmp/b.clew"
    )


def test_the_store_file_expands_the_home_sign() -> None:
    assert "~" not in str(Settings().store.file)


def test_an_empty_variable_counts_as_unset(home: dict[str, str]) -> None:
    assert (
        load(environ={**home, "CLEW_STORE": "", "CLEW_RECALL__K": "", "CLEW_CONFIG": ""}).settings
        == Settings()
    )


def test_lists_and_mappings_in_the_environment_are_yaml(home: dict[str, str]) -> None:
    environ = {
        **home,
        "CLEW_MEMORY__CATEGORIES": "[observation, recipe]",
        "CLEW_DUPLICATES__NEAR_THRESHOLD_BY_CATEGORY": "{recipe: 0.99}",
        "CLEW_SCORE__PRESETS": "{mine: [1, 0, 0, 0], fresh: {recency: 1}}",
    }
    settings = load(environ=environ).settings
    assert settings.memory.categories == ("observation", "recipe")
    assert settings.duplicates.near_threshold_by_category == {"recipe": 0.99}
    assert settings.score.presets["fresh"] == Weights(0, 1, 0, 0)


def test_a_preset_of_ones_own_joins_the_others_and_may_be_the_default(home: dict[str, str]) -> None:
    settings = load(
        environ=home,
        overrides={"score": {"presets": {"mine": (0.9, 0.1, 0, 0)}}, "recall.preset": "mine"},
    ).settings
    assert set(settings.score.presets) == {
        "balanced",
        "semantic",
        "recent",
        "important",
        "popular",
        "mine",
    }


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("Yes", True), ("1", True), ("off", False), ("0", False)]
)
def test_switches_are_read_as_people_write_them(
    home: dict[str, str], text: str, value: bool
) -> None:
    assert (
        load(environ={**home, "CLEW_SUBSTANCE__ENABLED": text}).settings.substance.enabled is value
    )


def test_a_number_that_yaml_takes_for_text_is_read(home: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("score: {recency_rate_per_day: 1e-3}")
    assert load(file, environ=home).settings.score.recency_rate_per_day == 0.001


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("recall.kk", "recall.k"),
        ("recal.candidates", "recall.candidates"),
        ("stroe", "store"),
        ("memory.min_chars", "memory.min_characters"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_known_one(
    home: dict[str, str], key: str, nearest: str
) -> None:
    with pytest.raises(SettingError) as caught:
        load(environ=home, overrides={key: 1})
    assert f"the nearest is {nearest} " in str(caught.value)
    assert "(got 1)" in str(caught.value)
    assert caught.value.facts["source"] == "argument"


def test_an_unknown_key_in_a_file_or_variable_is_refused_with_its_source(
    home: dict[str, str], tmp_path: Path
) -> None:
    with pytest.raises(SettingError, match="CLEW_RECALL__K") as caught:
        load(environ={**home, "CLEW_RECAL__K": "1"})
    assert "CLEW_RECAL__K" in str(caught.value)
    file = tmp_path / "a.toml"
    file.write_text("[recall]\nkay = 1\n")
    with pytest.raises(SettingError, match=r"a\.toml"):
        load(file, environ=home)


def test_other_variables_of_clew_are_left_alone(home: dict[str, str]) -> None:
    assert (
        load(environ={**home, "CLEW_OFFLINE": "1", "CLEW_TOKEN": "x", "OTHER__KEY": "1"}).settings
        == Settings()
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("recall.k", 0),
        ("recall.k", 1001),
        ("recall.k", True),
        ("recall.k", 2.5),
        ("recall.k", "many"),
        ("recall.k", None),
        ("recall.dense_floor", math.nan),
        ("recall.dense_floor", math.inf),
        ("recall.dense_floor", "nan"),
        ("recall.dense_floor", -1.5),
        ("recall.dense_floor", [0.5]),
        ("recall.dense_floor", 10**400),
        ("recall.recipe", "magic"),
        ("recall.recipe", False),
        ("recall.preset", "magic"),
        ("substance.enabled", "perhaps"),
        ("substance.enabled", 1),
        ("store.path", ""),
        ("store.space", "a\0b"),
        ("store.space", 7),
        ("memory.categories", []),
        ("memory.categories", "fact"),
        ("memory.categories", ["fact", 3]),
        ("memory.categories", "[fact"),
        ("memory.default_category", "nonsense"),
        ("memory.max_characters", 3),
        ("duplicates.near_threshold_by_category", {"fact": 1.5}),
        ("duplicates.near_threshold_by_category", {"nonsense": 0.5}),
        ("duplicates.near_threshold_by_category", [1]),
        ("score.presets", {"mine": [1, 2]}),
        ("score.presets", {"mine": {"semantics": 1}}),
        ("score.presets", {"mine": [0, 0, 0, 0]}),
        ("score.presets", {"mine": [math.nan, 0, 0, 0]}),
        ("score.presets", {"mine": 1}),
        ("recall", "fast"),
    ],
)
def test_a_wrong_value_is_refused_by_key_and_source(
    home: dict[str, str], key: str, value: object
) -> None:
    error = refused(home, **{key: value})
    assert error.field == key
    assert error.facts["source"] == "argument"
    assert error.code == "setting.invalid"


def test_a_refusal_says_value_range_and_variable(home: dict[str, str]) -> None:
    with pytest.raises(SettingError) as caught:
        load(environ={**home, "CLEW_RECALL__K": "5000"})
    message = str(caught.value)
    assert all(
        part in message for part in ("recall.k", "'5000'", "from 1 to 1000", "env:CLEW_RECALL__K")
    )


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.yaml", b"recall: [", "does not parse"),
        ("a.toml", b"recall = {", "does not parse"),
        ("a.yaml", b"\xff\xfe", "does not parse"),
        ("a.yaml", b"- 1\n- 2\n", "must hold sections"),
        ("a.yaml", b"!!python/object/apply:os.getcwd []", "does not parse"),
        ("a.json", b"{}", "must end in"),
    ],
)
def test_a_file_that_is_not_settings_is_refused_by_name(
    home: dict[str, str], tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SettingError, match=problem) as caught:
        load(tmp_path / name, environ=home)
    assert name in str(caught.value)


def test_a_named_file_that_is_missing_is_refused(home: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="cannot be read"):
        load(tmp_path / "none.yaml", environ=home)
    with pytest.raises(SettingError, match="cannot be read"):
        load(environ={**home, "CLEW_CONFIG": str(tmp_path)})


def test_an_empty_file_and_an_empty_section_change_nothing(
    home: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("recall:\n")
    assert load(file, environ=home).settings == Settings()
    file.write_text("")
    assert load(file, environ=home).settings == Settings()


def test_describe_shows_every_setting_with_value_source_and_default(home: dict[str, str]) -> None:
    rows = {row.key: row for row in describe(load(environ=home, overrides={"recall.k": 5}))}
    assert (rows["recall.k"].value, rows["recall.k"].default, rows["recall.k"].source) == (
        5,
        10,
        "argument",
    )
    assert all(row.description and row.allowed for row in rows.values())
    json.dumps([row.value for row in rows.values()])


def test_as_dict_reads_back_as_overrides(home: dict[str, str]) -> None:
    settings = load(
        environ=home, overrides={"recall.k": 5, "score.presets": {"mine": [1, 0, 0, 0]}}
    ).settings
    assert (
        load(environ=home, overrides=json.loads(json.dumps(as_dict(settings)))).settings == settings
    )


def test_the_hash_follows_the_values_and_not_the_place_of_the_store(home: dict[str, str]) -> None:
    def hashed(**overrides: Any) -> str:
        return config_hash(
            load(
                environ=home,
                overrides={key.replace("__", "."): value for key, value in overrides.items()},
            ).settings
        )

    assert hashed() == hashed(store__path="/elsewhere.clew") == config_hash(Settings())
    assert (
        len({hashed(), hashed(recall__k=5), hashed(score__presets={"semantic": [1, 0, 0, 0]})}) == 3
    )


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().recall.k = 3  # type: ignore[misc]


def test_the_template_loads_as_it_is_and_uncommented_as_the_defaults(
    home: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(template())
    assert load(file, environ=home).settings == Settings()
    lines = [
        line.replace("  # ", "  ", 1)
        for line in template().splitlines()
        if not line.startswith("  # ") or not line.endswith(".")
    ]
    file.write_text("\n".join(lines))
    loaded: Loaded = load(file, environ=home)
    assert loaded.settings == Settings()
    assert set(loaded.sources.values()) == {f"file:{file}"}
    assert yaml.safe_load(file.read_text())["recall"]["k"] == 10


def test_the_page_of_settings_is_the_generated_one() -> None:
    assert DOCS.read_text(encoding="utf-8") == reference_markdown(), (
        "run: python -c 'from clew.settings import *; print(reference_markdown(), end=\"\")' > docs/settings.md"
    )


def test_importing_settings_loads_no_parser_and_no_numpy() -> None:
    heavy = "{'yaml', 'tomllib', 'numpy', 'pydantic', 'difflib', 'json'}"
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys, clew.settings; print(sorted({heavy} & set(sys.modules)))",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "[]"
