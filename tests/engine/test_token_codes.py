"""Token codes are written with the vectors, from the same run of the model, and follow the memories wherever these go."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import clew
from clew.engine.models import Vectoriser
from clew.errors import CorruptStoreError, InputError
from clew.memories.embedding import TEXTS_AT_ONCE, embed_passages
from clew.models.vectors import HashingEmbedder
from clew.ports import Embedder, EmbedRole, SpannedText
from clew.testing import FixedClock
from clew.token_codes import maxsim
from clew.types import Kind, NodeId, Role
from tests.conftest import Open
from tests.token_model import TokenModel

PORT = "The staging database listens on port 5433"
NOTES = [PORT, "The kettle is in the kitchen", "Ada Lovelace keeps the ladder in the cellar"]
OFF = {"model.token_codes": False}
SMALL = {"min_tokens": 1, "target_tokens": 8, "max_tokens": 16, "overlap_tokens": 0}
CHAT = [
    {"role": "Ann", "content": "Do you run in the morning?"},
    {"role": "Ben", "content": "Yes, on Sundays along the river!"},
    {"role": "Ann", "content": "Which shoes do you wear for that?"},
]


@pytest.fixture
def model() -> TokenModel:
    return TokenModel()


def codes_of(memory: clew.Clew, *ids: NodeId | None) -> list[bytes | None]:
    found = memory.store.token_codes([str(id) for id in ids])
    return [found.get(str(id)) for id in ids]


def vectors_of(memory: clew.Clew) -> dict[tuple[NodeId, Role], bytes]:
    found = memory.store.embeddings([node.id for node in memory.store.nodes()])
    return {(each.node, each.role): each.vector.tobytes() for each in found}


# --- remember ---


def test_a_memory_gets_its_codes_from_the_run_that_makes_its_vector(
    open_clew: Open, model: TokenModel
) -> None:
    memory = open_clew(embedder=model)
    id = memory.remember(PORT, title="Staging").id
    assert codes_of(memory, id) == [model.codes(f"Staging\n{PORT}")]
    assert model.plain == []
    assert [[each.text for each in batch] for batch in model.spanned] == [[f"Staging\n{PORT}"]]


def test_each_memory_of_a_batch_gets_its_own_codes(open_clew: Open, model: TokenModel) -> None:
    memory = open_clew(embedder=model)
    outcomes = memory.remember_many(NOTES)
    assert codes_of(memory, *(each.id for each in outcomes)) == [
        model.codes(text) for text in NOTES
    ]
    assert len(model.spanned) == 1


def test_questions_of_a_memory_have_vectors_and_no_codes(
    open_clew: Open, model: TokenModel
) -> None:
    memory = open_clew(embedder=model, questions={"enabled": True})
    text = "The build failed because the cache was stale. To clear the cache, run make clean."
    id = str(memory.remember(text, trigger="problem-solution").id)
    made = {each.role: each.tokens for each in memory.store.embeddings([id])}
    assert made == {Role.CONTENT: model.codes(text), Role.QUESTION: None, Role.QUESTION_2: None}


def test_the_question_is_compared_with_the_codes_of_what_was_written(
    open_clew: Open, model: TokenModel
) -> None:
    memory = open_clew(embedder=model)
    ids = [each.id for each in memory.remember_many(NOTES)]
    asked = Vectoriser(model, memory.store).query("kettle in the kitchen")
    assert asked.tokens is not None
    codes = [code for code in codes_of(memory, *ids) if code is not None]
    assert maxsim(asked.tokens.tokens, codes).mean(axis=0).argmax() == 1


def test_a_question_gives_its_vector_and_its_tokens_in_one_run(
    open_clew: Open, model: TokenModel
) -> None:
    memory = open_clew(embedder=model)
    memory.remember(PORT)
    model.spanned.clear()
    asked = Vectoriser(model, memory.store).query("which port")
    assert asked.vector is not None
    assert (
        asked.vector.tobytes()
        == HashingEmbedder(64).embed(["which port"], role=EmbedRole.QUERY)[0].tobytes()
    )
    assert asked.tokens is not None
    assert asked.tokens.tokens.shape == (2, 64)
    assert asked.tokens.pieces == (("which", 1), ("port", 1))
    assert (len(model.spanned), model.plain) == (1, [])


# --- turned off, or a model without tokens ---


def test_turned_off_nothing_is_written_and_no_token_of_a_question_is_given(
    open_clew: Open, model: TokenModel
) -> None:
    memory = open_clew(embedder=model, **OFF)
    ids = [each.id for each in memory.remember_many(NOTES)]
    memory.import_data(chat().encode(), name="chat.json")
    assert not any(codes_of(memory, *ids))
    assert memory.stats()["token_codes"] == {"nodes": 0, "missing": 0, "bytes": 0}
    assert Vectoriser(model, memory.store, token_codes=False).query("kettle").tokens is None
    assert model.spanned == []
    memory.reembed()
    assert memory.stats()["token_codes"]["nodes"] == 0


def test_a_model_without_tokens_works_without_codes(open_clew: Open) -> None:
    memory = open_clew()
    ids = [each.id for each in memory.remember_many(NOTES)]
    assert codes_of(memory, *ids) == [None] * 3
    assert memory.stats()["token_codes"] == {"nodes": 0, "missing": 0, "bytes": 0}
    assert memory.reembed().embedded == 0
    asked = Vectoriser(HashingEmbedder(), memory.store).query("kettle")
    assert asked.vector is not None
    assert asked.tokens is None


# --- import ---


def chat() -> str:
    return json.dumps(CHAT)


def test_of_a_file_the_chunks_have_codes_and_sections_and_documents_have_none(
    open_clew: Open, model: TokenModel, tmp_path: Path
) -> None:
    file = tmp_path / "book.md"
    file.write_text(
        "\n\n".join(f"# Part {n}\n\n" + f"A sentence about subject {n}. " * 60 for n in range(4))
    )
    memory = open_clew(embedder=model)
    memory.import_path(file)
    nodes = {node.id: node for node in memory.store.nodes()}
    coded = {nodes[id].kind for id in memory.store.token_codes(list(nodes))}
    assert {node.kind for node in nodes.values()} == {Kind.DOCUMENT, Kind.SECTION, Kind.CHUNK}
    assert coded == {Kind.CHUNK}
    chunks = sum(node.kind is Kind.CHUNK for node in nodes.values())
    assert {key: memory.stats()["token_codes"][key] for key in ("nodes", "missing")} == {
        "nodes": chunks,
        "missing": 0,
    }


def small_parts(tmp_path: Path, *, changed: str = "") -> Path:
    """Write a file that is cut into small chunks with context keys, of which neighbours have the same."""
    file = tmp_path / "tools.md"
    parts = [
        f"The {name} hangs at hook number {at} in the shed."
        for at, name in enumerate(("saw", "drill", "plane"))
    ]
    file.write_text("# Tools\n\n" + "\n\n".join([*parts, changed]))
    return file


def test_a_small_chunk_is_read_amid_its_neighbours_and_keeps_its_own_tokens(
    open_clew: Open, model: TokenModel, tmp_path: Path
) -> None:
    memory = open_clew(embedder=model, chunking=SMALL)
    memory.import_path(small_parts(tmp_path))
    chunks = [node for node in memory.store.nodes() if node.kind is Kind.CHUNK]
    keyed = [node for node in chunks if node.context]
    assert keyed
    for node in keyed:
        whole = f"{node.title}\n{node.context}"
        start = len(node.title) + 1 + node.context.index(node.text)
        own = model.codes(whole, (0, len(node.title)), (start, start + len(node.text)))
        assert codes_of(memory, node.id) == [own]
        made = {each.role: each.tokens for each in memory.store.embeddings([node.id])}
        assert made == {Role.CONTENT: None, Role.CONTEXT: own}
    assert any(
        codes_of(memory, node.id) != [model.codes(f"{node.title}\n{node.text}")] for node in keyed
    )


def test_passages_that_a_change_of_the_file_leaves_keep_their_codes(
    open_clew: Open, model: TokenModel, tmp_path: Path
) -> None:
    """Neighbours may have the same context key; each keeps the codes of its own tokens."""
    memory = open_clew(embedder=model, chunking=SMALL)
    memory.import_path(small_parts(tmp_path))
    memory.import_path(small_parts(tmp_path, changed="It is blunt."))
    fresh = open_clew(":memory:", embedder=model, chunking=SMALL)
    fresh.import_path(small_parts(tmp_path, changed="It is blunt."))

    def live(of: clew.Clew) -> dict[str, bytes | None]:
        nodes = [
            node for node in of.store.nodes() if node.kind is Kind.CHUNK and node.t_expired is None
        ]
        return {node.text: codes_of(of, node.id)[0] for node in nodes}

    assert live(memory) == live(fresh)
    assert None not in live(memory).values()
    assert memory.stats()["token_codes"]["missing"] == 0


def test_token_vectors_are_packed_a_few_texts_at_a_time(model: TokenModel) -> None:
    """The vectors of 256 long texts would take 100 MB."""
    sources = [
        SpannedText.whole(f"text {number}") if number % 3 else f"text {number}"
        for number in range(2 * TEXTS_AT_ONCE + 5)
    ]
    found = embed_passages(model, sources, token_codes=True)
    assert [len(batch) for batch in model.spanned] == [TEXTS_AT_ONCE, TEXTS_AT_ONCE, 5]
    assert found.vectors is not None
    assert found.vectors.shape == (len(sources), 64)
    assert list(found.codes) == [
        model.codes(f"text {number}") if number % 3 else None for number in range(len(sources))
    ]


# --- what changes a memory ---


def test_a_new_title_renews_the_codes(open_clew: Open, model: TokenModel) -> None:
    memory = open_clew(embedder=model)
    id = str(memory.remember(PORT).id)
    memory.update(id, category="fact")
    assert codes_of(memory, id) == [model.codes(PORT)]
    memory.update(id, title="Staging")
    assert codes_of(memory, id) == [model.codes(f"Staging\n{PORT}")]


def test_what_supersedes_a_memory_has_codes_and_so_has_every_version(
    open_clew: Open, model: TokenModel, clock: FixedClock
) -> None:
    memory = open_clew(embedder=model)
    old = memory.remember(PORT).id
    clock.advance(days=1)
    new = memory.supersede(str(old), PORT.replace("5433", "5444")).id
    versions = [node for node in memory.store.nodes() if node.root == old]
    assert len(versions) == 1
    assert codes_of(memory, old, versions[0].id, new) == [model.codes(PORT)] * 2 + [
        model.codes(PORT.replace("5433", "5444"))
    ]
    memory.invalidate(str(new))
    clock.advance(days=1)
    memory.reassert(str(new))
    rows = [node.id for node in memory.store.nodes()]
    assert None not in codes_of(memory, *rows)


# --- forget ---


def test_forgetting_leaves_no_codes_in_the_files(
    open_clew: Open, model: TokenModel, path: Path
) -> None:
    memory = open_clew(embedder=model)
    for text in NOTES:
        memory.remember(text)
    id = str(memory.remember("The vault opens with the word xyzzyplugh on weekdays").id)
    [secret] = codes_of(memory, id)
    assert secret
    memory.forget(id)
    assert codes_of(memory, id) == [None]
    memory.close()
    assert [
        each.name for each in path.parent.glob(f"{path.name}*") if secret in each.read_bytes()
    ] == []
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM token_code").fetchone() == (len(NOTES),)


# --- reembed ---


def test_reembed_fills_in_missing_codes_and_leaves_the_vectors_alone(
    open_clew: Open, model: TokenModel, path: Path, tmp_path: Path
) -> None:
    before = open_clew(embedder=model, chunking=SMALL, **OFF)
    before.remember_many(NOTES)
    before.import_path(small_parts(tmp_path))
    vectors = vectors_of(before)
    before.close()
    memory = open_clew(embedder=model, chunking=SMALL)
    missing = memory.stats()["token_codes"]["missing"]
    assert missing > len(NOTES)
    model.plain.clear()
    with closing(sqlite3.connect(path)) as connection:
        changes = connection.execute("SELECT count(*) FROM change").fetchone()
        assert memory.reembed().embedded == missing
        # nobody has a vector to read anew
        assert connection.execute("SELECT count(*) FROM change").fetchone() == changes
    assert vectors_of(memory) == vectors
    assert memory.stats()["token_codes"]["missing"] == 0
    assert memory.reembed().embedded == 0
    fresh = open_clew(":memory:", embedder=model, chunking=SMALL)
    fresh.remember_many(NOTES)
    fresh.import_path(small_parts(tmp_path))

    def by_text(of: clew.Clew) -> dict[str, bytes | None]:
        return {node.text: codes_of(of, node.id)[0] for node in of.store.nodes()}

    assert by_text(memory) == by_text(fresh)


def test_moving_to_another_model_brings_its_codes(open_clew: Open, model: TokenModel) -> None:
    memory = open_clew(embedder=model)
    ids = [each.id for each in memory.remember_many(NOTES)]
    other = TokenModel(128)
    memory.reembed(other)
    assert codes_of(memory, *ids) == [other.codes(text) for text in NOTES]
    memory.reembed(HashingEmbedder(32))
    assert codes_of(memory, *ids) == [None] * 3


def test_a_text_without_any_token_is_not_embedded_for_ever(
    open_clew: Open, model: TokenModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_clew(embedder=model, **OFF) as before:
        before.remember_many(NOTES)
    monkeypatch.setattr(
        model, "tokens", lambda each: TokenModel.tokens(model, SpannedText(each.text, ()))
    )
    memory = open_clew(embedder=model)
    assert memory.reembed().embedded == len(NOTES)
    assert memory.reembed().embedded == 0
    assert memory.stats()["token_codes"] == {"nodes": len(NOTES), "missing": 0, "bytes": 0}


# --- verify and repair ---


DAMAGES = {
    "a byte too many": (
        "codes = CAST(codes || x'00' AS BLOB)",
        "does not hold 8 bytes for each token",
    ),
    "too many tokens": ("codes = zeroblob(8 * 257)", "holds 257 tokens, more than 256"),
    "other bits": ("codes = zeroblob(length(codes))", "its checksum differs"),
    "text": ("codes = 'text'", "codes is of the type str"),
    "no vector": ("eid = 99", "its vector or its model is not known"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_codes_are_named_dropped_by_repair_and_made_anew(
    open_clew: Open, model: TokenModel, path: Path, damage: str
) -> None:
    change, reason = DAMAGES[damage]
    with open_clew(embedder=model) as memory:
        ids = [str(each.id) for each in memory.remember_many(NOTES)]
        vectors = vectors_of(memory)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"UPDATE token_code SET {change} WHERE eid = 1")
    memory = open_clew(embedder=model)
    problem = memory.verify()[0]
    assert reason in problem.detail
    assert problem.way_out == "Run: clew verify --repair, then: clew reembed"
    if damage != "no vector":
        assert problem.detail.startswith(f"the token codes of {ids[0]}: ")
    memory.repair()
    assert memory.verify() == ()
    assert codes_of(memory, *ids) == [None, *(model.codes(text) for text in NOTES[1:])]
    assert vectors_of(memory) == vectors
    memory.reembed()
    assert codes_of(memory, *ids) == [model.codes(text) for text in NOTES]


def test_codes_of_a_wrong_length_are_an_error_that_names_the_memory(
    open_clew: Open, model: TokenModel, path: Path
) -> None:
    with open_clew(embedder=model) as memory:
        id = str(memory.remember(PORT).id)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE token_code SET codes = CAST(codes || x'00' AS BLOB)")
    memory = open_clew(embedder=model)
    with pytest.raises(
        CorruptStoreError, match=f"token codes of {id} is damaged.*clew verify --repair"
    ):
        memory.store.token_codes([id])


# --- copies ---


def test_an_export_carries_codes_and_a_load_brings_them_back(
    open_clew: Open, model: TokenModel, tmp_path: Path
) -> None:
    memory = open_clew(embedder=model)
    ids = [each.id for each in memory.remember_many(NOTES)]
    memory.import_path(small_parts(tmp_path))
    lines = list(memory.export())
    every = [node.id for node in memory.store.nodes()]
    copy = open_clew(tmp_path / "copy.clew", embedder=model)
    copy.load(lines)
    assert copy.store.token_codes(every) == memory.store.token_codes(every)
    assert copy.stats()["token_codes"] == memory.stats()["token_codes"]
    without = open_clew(tmp_path / "off.clew", embedder=model, **OFF)
    without.load(lines)
    assert not any(codes_of(without, *ids))
    assert without.stats()["vectors"] == memory.stats()["vectors"]


@pytest.mark.parametrize("tokens", ["!", "AAAA", "A" * 4 * 800, 7])
def test_codes_of_an_export_that_cannot_be_are_refused(
    open_clew: Open, model: TokenModel, tmp_path: Path, tokens: object
) -> None:
    memory = open_clew(embedder=model)
    memory.remember(PORT)
    lines = [json.loads(line) for line in memory.export()]
    for line in lines:
        if "vector" in line:
            line["vector"]["tokens"] = tokens
    copy = open_clew(tmp_path / "copy.clew", embedder=model)
    with pytest.raises(InputError, match="line 4"):
        copy.load(json.dumps(line) for line in lines)
    assert copy.stats()["nodes"] == 0


def test_backup_restore_and_compact_keep_the_codes(
    open_clew: Open, model: TokenModel, path: Path, tmp_path: Path
) -> None:
    memory = open_clew(embedder=model)
    ids = [each.id for each in memory.remember_many(NOTES)]
    before = codes_of(memory, *ids)
    memory.backup(tmp_path / "backup.clew")
    memory.compact()
    assert codes_of(memory, *ids) == before
    memory.close()
    clew.restore_backup(tmp_path / "backup.clew", path)
    assert codes_of(open_clew(embedder=model), *ids) == before


# --- the default model ---


@pytest.mark.model
def test_the_default_model_ranks_by_its_own_codes(open_clew: Open, real_embedder: Embedder) -> None:
    memory = open_clew(embedder=real_embedder)
    ids = [each.id for each in memory.remember_many(NOTES)]
    codes = [code for code in codes_of(memory, *ids) if code is not None]
    for question, answer in (
        ("Where can I boil water?", 1),
        ("Who has something to climb on?", 2),
        ("How do I reach the database?", 0),
    ):
        asked = Vectoriser(real_embedder, memory.store).query(question)
        assert asked.tokens is not None
        assert maxsim(asked.tokens.tokens, codes).mean(axis=0).argmax() == answer
    assert all(len(code) % 48 == 0 for code in codes)
