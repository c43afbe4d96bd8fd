"""What is offered with a secret in it leaves none behind.

Not in the store, its log, its near duplicates, nor in an error.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import clew
from clew.errors import InputError
from clew.memories.firewall.screening import scrub
from clew.surface import payload
from clew.types import OutcomeKind
from tests.conftest import Open

SECRET = "tr0ub4dor-and-3"
TEXT = f"The lab laptop belongs to Kim; its password: {SECRET}"


def left_in(path: Path) -> list[str]:
    """Return the files of a store that hold the secret."""
    return [
        file.name
        for file in path.parent.glob(f"{path.name}*")
        if SECRET.encode() in file.read_bytes()
    ]


def refusal(memory: clew.Clew, text: str, **fields: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        memory.remember(text, **fields)
    assert SECRET not in json.dumps(payload.error(caught.value))
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(caught.value.value)
    return caught.value


def test_the_rest_of_a_text_is_kept_and_the_outcome_names_the_rule_and_the_way_out(
    memory: clew.Clew,
) -> None:
    outcome = memory.remember(TEXT)
    assert outcome.outcome is OutcomeKind.INSERTED
    assert outcome.id is not None
    node = memory.get(outcome.id)
    assert node is not None
    assert node.text == "The lab laptop belongs to Kim; its password: [secret:password]"
    assert any("password" in note and "firewall.secrets" in note for note in outcome.notes)


def test_a_secret_is_taken_out_of_every_field(memory: clew.Clew, path: Path) -> None:
    outcome = memory.remember(
        TEXT,
        title=f"Kim's laptop {SECRET}",
        tags=["laptop", SECRET],
        keywords=[SECRET, "laptop"],
        metadata={"login": {"password": SECRET}, "seen": [f"typed {SECRET} twice"], SECRET: 1},
        source=f"https://kim:{SECRET}@wiki.acme.example/laptops",
    )
    assert outcome.id is not None
    node = memory.get(outcome.id)
    assert node is not None
    assert node.tags == ("laptop", "[secret:password]")
    assert node.metadata["login"] == {"password": "[secret:password]"}
    assert node.source == "https://kim:[secret:url_password]@wiki.acme.example/laptops"
    memory.close()
    assert left_in(path) == []


def test_what_comes_again_in_other_words_leaves_no_secret_as_evidence(
    memory: clew.Clew, path: Path
) -> None:
    first = memory.remember(TEXT)
    again = memory.remember(f"Lab laptop belongs to Kim; its password: {SECRET}", near=True)
    assert again.outcome in (OutcomeKind.NEAR_DUPLICATE, OutcomeKind.EXACT_DUPLICATE)
    assert first.id is not None
    memory.supersede(first.id, f"The lab laptop belongs to Lena; its password: {SECRET}x9")
    memory.close()
    assert left_in(path) == []


def test_a_change_of_what_stands_beside_a_text_is_screened_too(
    memory: clew.Clew, path: Path
) -> None:
    id = memory.remember("The lab laptop belongs to Kim since March").id
    assert id is not None
    assert (
        memory.update(
            id, title=f"password: {SECRET}", metadata={"secret_token": "9f8e7d6c5b4a3210ffee"}
        ).title
        == "password: [secret:password]"
    )
    memory.close()
    assert left_in(path) == []


def test_tags_that_can_be_walked_through_once_are_screened_and_kept(memory: clew.Clew) -> None:
    outcome = memory.remember(TEXT, tags=(tag for tag in ("laptop", SECRET)))
    assert outcome.id is not None
    node = memory.get(outcome.id)
    assert node is not None
    assert node.tags == ("laptop", "[secret:password]")


@pytest.mark.parametrize("field", ["space", "idempotency_key"])
def test_a_name_with_a_secret_is_refused_for_two_of_them_would_become_one(
    memory: clew.Clew, field: str
) -> None:
    assert (
        refusal(memory, "Kim keeps the laptop at home", **{field: f"password={SECRET}"}).field
        == field
    )


def test_an_error_about_another_field_does_not_repeat_the_secret(memory: clew.Clew) -> None:
    refusal(memory, TEXT, title="x" * 300 + f" password={SECRET}")
    refusal(memory, TEXT, category=f"password={SECRET}")
    refusal(memory, TEXT, metadata={"password": SECRET, "when": object()})


def test_an_error_about_one_of_many_does_not_repeat_the_secret(memory: clew.Clew) -> None:
    with pytest.raises(InputError) as caught:
        memory.remember_many([{"note": f"password={SECRET}"}])
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(caught.value.value)


def test_the_evidence_of_a_link_is_screened(memory: clew.Clew) -> None:
    ids = [
        str(memory.remember(text).id)
        for text in ("Kim keeps the laptop at home", "Lena keeps the tablet at work")
    ]
    assert memory.link(*ids, evidence=f"password={SECRET}").evidence == "password=[secret:password]"


def test_errors_on_every_surface_are_scrubbed(memory: clew.Clew) -> None:
    error = InputError(
        "line 3", f'{{"text": 5, "note": "password={SECRET}"}}', "is not a memory", "Write a text."
    )
    assert SECRET not in json.dumps(payload.error(error))
    assert scrub([{"a": (f"password={SECRET}",)}]) == [{"a": ("password=[secret:password]",)}]


def test_with_refuse_nothing_is_kept_and_the_rejection_is_counted(
    open_clew: Open, path: Path
) -> None:
    memory = open_clew(firewall={"secrets": "refuse"})
    outcome = memory.remember(TEXT, title="Kim")
    assert (outcome.outcome, outcome.rule, outcome.value) == (
        OutcomeKind.REJECTED,
        "secret",
        "password",
    )
    assert memory.stats()["rejected"] == {"secret": 1}
    memory.close()
    assert left_in(path) == []


def test_with_allow_a_text_is_kept_as_it_is(open_clew: Open) -> None:
    outcome = open_clew(firewall={"secrets": "allow"}).remember(TEXT)
    assert outcome.notes == ()


def test_an_ordinary_text_comes_through_as_it_was_without_a_note(memory: clew.Clew) -> None:
    outcome = memory.remember(
        "The password is stored in the vault under ops/staging",
        metadata={"key": "Q3-2026"},
        tags=["vault"],
    )
    assert outcome.notes == ()


def test_a_text_too_long_to_be_kept_is_rejected_unread(memory: clew.Clew, path: Path) -> None:
    assert memory.remember(f"password={SECRET} " * 2000).rule == "too_long"
    memory.close()
    assert left_in(path) == []


def test_metadata_nested_beyond_reading_is_refused(memory: clew.Clew) -> None:
    deep: dict[str, Any] = {"password": SECRET}
    for _ in range(5000):
        deep = {"a": deep}
    with pytest.raises(InputError, match="not JSON"):
        memory.remember("Kim keeps the laptop at home", metadata=deep)


# --- files ---

GUIDE = (
    f"# Laptops\n\nKim has one.\n\nIts password: {SECRET}\n\n"
    + "The lab has many machines of all sizes. " * 200
    + f"\n\nBye, {SECRET}.\n"
)


def test_secrets_in_a_file_are_covered_and_every_offset_stays_true(
    memory: clew.Clew, path: Path, tmp_path: Path
) -> None:
    file = tmp_path / "guide.md"
    file.write_text(GUIDE, encoding="utf-8")
    report = memory.import_path(file)
    assert any("2 × password" in note for note in report.files[0].notes)
    nodes = {node.id: node for node in memory.store.nodes()}
    root = next(node for node in nodes.values() if node.kind == "document")
    assert len(root.text) == len(GUIDE)
    for node in nodes.values():
        assert root.text[node.start : node.end] == node.text
    memory.close()
    assert left_in(path) == []


def test_with_refuse_a_file_with_a_secret_fails_and_says_on_which_line(
    open_clew: Open, tmp_path: Path
) -> None:
    file = tmp_path / "guide.md"
    file.write_text(GUIDE, encoding="utf-8")
    report = open_clew(firewall={"secrets": "refuse"}).import_path(file)
    assert report.failed
    assert "password on line 5" in report.files[0].reason
    assert SECRET not in report.files[0].reason


def test_a_file_is_read_anew_when_the_firewall_changes(open_clew: Open, tmp_path: Path) -> None:
    file = tmp_path / "guide.md"
    file.write_text(GUIDE, encoding="utf-8")
    assert open_clew(firewall={"secrets": "allow"}).import_path(file).totals["imported"] == 1
    assert open_clew().import_path(file).totals["updated"] == 1


def test_a_title_and_metadata_read_from_a_file_are_screened(
    memory: clew.Clew, path: Path, tmp_path: Path
) -> None:
    file = tmp_path / "note.md"
    file.write_text(
        f"---\ntitle: 'password: {SECRET}'\npassword: {SECRET}\n---\n\nKim has the laptop of the lab.\n",
        encoding="utf-8",
    )
    assert memory.import_path(file).totals["imported"] == 1
    memory.close()
    assert left_in(path) == []


def test_a_secret_that_only_the_text_gives_away_is_taken_out_of_the_title_too(
    memory: clew.Clew, path: Path, tmp_path: Path
) -> None:
    file = tmp_path / "note.md"
    file.write_text(
        f"# Login with {SECRET}\n\nKim has the laptop of the lab; its password: {SECRET}\n",
        encoding="utf-8",
    )
    assert memory.import_path(file).totals["imported"] == 1
    memory.close()
    assert left_in(path) == []


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("tags", [f"password={SECRET}"]),
        ("tags", iter([f"password={SECRET}"])),
        ("metadata", {"password": SECRET}),
        ("space", f"password={SECRET}"),
    ],
)
def test_an_option_of_an_import_with_a_secret_is_refused(
    memory: clew.Clew, path: Path, tmp_path: Path, option: str, value: Any
) -> None:
    file = tmp_path / "note.md"
    file.write_text("# Laptops\n\nKim has the laptop of the lab.\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"{option}: holds a secret") as caught:
        memory.import_path(file, **{option: value})
    assert SECRET not in str(caught.value)
    assert memory.import_path(file, tags=iter(["lab"])).totals["imported"] == 1
    assert all(node.tags == ("lab",) for node in memory.recent(limit=9))
    memory.close()
    assert left_in(path) == []
