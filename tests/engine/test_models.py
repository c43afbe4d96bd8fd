"""With a model, without one, with one that fails, and from one to another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

import clew
from clew.errors import ModelMismatchError, ModelMissingError, ModelServiceError
from clew.models.vectors import HashingEmbedder
from clew.ports import EmbedRole
from clew.types import Vectors
from tests.conftest import Open

NOTES = [
    f"Note {n}: the {word} is kept in room {n}"
    for n, word in enumerate(("ladder", "printer", "projector", "kettle", "piano"))
]


class Switchable(HashingEmbedder):
    """Answers like a server that is up or down."""

    down = False

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:
        if self.down:
            raise ModelServiceError("The embedding server answered 503. Try again later.")
        return super().embed(texts, role=role)


class Watching(HashingEmbedder):
    """Lets a test look at the store between two batches."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self.before: list[object] = []
        self.look: Callable[[], object] = lambda: None

    def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:
        if role is EmbedRole.PASSAGE:
            self.before.append(self.look())
        return super().embed(texts, role=role)


def test_without_a_model_recall_is_by_words_and_says_so(open_clew: Open) -> None:
    memory = open_clew(model={"embedder": "none"})
    outcome = memory.remember(NOTES[0])
    assert "embedder is 'none'" in outcome.notes[0]
    for recipe in ("balanced", "fast", "thorough"):
        answer = memory.recall("where is the ladder", recipe=recipe)
        assert [hit.text for hit in answer.hits] == [NOTES[0]]
        assert any("by words alone" in note for note in answer.notes)
        assert any("by words alone" in note for note in answer.stats["notes"])
        assert set(answer.hits[0].channels) == {"sparse"}
    assert memory.stats()["vectors"] == 0


def test_the_lexical_recipe_never_asks_the_model(open_clew: Open) -> None:
    embedder = Switchable()
    memory = open_clew(embedder=embedder)
    memory.remember(NOTES[0])
    embedder.down = True
    answer = memory.recall("ladder", recipe="lexical")
    assert (len(answer.hits), answer.notes) == (1, ())


def test_a_failing_model_costs_neither_the_memory_nor_the_answer(open_clew: Open) -> None:
    embedder = Switchable()
    memory = open_clew(embedder=embedder)
    memory.remember(NOTES[0])
    embedder.down = True
    outcome = memory.remember(NOTES[1])
    assert outcome.outcome == "inserted"
    assert "Stored without a vector" in outcome.notes[0]
    assert "503" in outcome.notes[0]
    answer = memory.recall("where is the printer")
    assert answer.hits[0].text == NOTES[1]
    assert any("by words alone" in note and "503" in note for note in answer.notes)
    assert memory.stats()["unembedded"] == 1

    embedder.down = False
    assert memory.reembed().embedded == 1
    assert memory.stats()["unembedded"] == 0
    answer = memory.recall("where is the printer")
    assert answer.notes == ()
    assert set(answer.hits[0].channels) == {"dense", "sparse", "tokens"}
    assert memory.verify() == ()


def test_a_store_without_any_vector_says_that_recall_is_by_words(open_clew: Open) -> None:
    embedder = Switchable()
    embedder.down = True
    memory = open_clew(embedder=embedder)
    # and lacks no vectors
    assert memory.recall("ladder").notes == ("The space default holds nothing to recall.",)
    memory.remember(NOTES[0])
    embedder.down = False
    answer = memory.recall("ladder")
    assert len(answer.hits) == 1
    assert any("no vectors yet" in note and "clew reembed" in note for note in answer.notes)


def test_min_similarity_without_a_vector_is_said_not_to_apply(open_clew: Open) -> None:
    memory = open_clew(model={"embedder": "none"})
    memory.remember(NOTES[0])
    answer = memory.recall("ladder", min_similarity=0.9)
    assert len(answer.hits) == 1
    assert any("min_similarity was not applied" in note for note in answer.notes)


def test_another_models_vectors_are_refused_with_the_command(open_clew: Open) -> None:
    open_clew().remember(NOTES[0])
    other = open_clew(model={"embedder": "hashing-64"})
    for act in (lambda: other.remember(NOTES[1]), lambda: other.recall("ladder")):
        with pytest.raises(ModelMismatchError, match=r"hashing-256.*hashing-64.*clew reembed"):
            act()
    assert len(other.recall("ladder", recipe="lexical").hits) == 1
    assert other.stats()["nodes"] == 1


def test_reembedding_without_a_model_says_what_to_do(open_clew: Open) -> None:
    with pytest.raises(ModelMissingError, match="clew reembed --model"):
        open_clew(model={"embedder": "none"}).reembed()


def test_reembedding_moves_the_store_and_the_old_vectors_serve_meanwhile(open_clew: Open) -> None:
    memory = open_clew(memory={"batch_size": 2})
    memory.remember_many(NOTES)
    reader = open_clew()
    embedder = Watching(512)
    embedder.look = lambda: [
        hit.text
        for hit in reader.recall("where is the piano", recipe="dense", k=1, track=False).hits
    ]
    steps: list[tuple[int, int | None]] = []
    done = memory.reembed(embedder, progress=lambda _, at, of: steps.append((at, of)))
    assert (done.model, done.embedded) == ("hashing-512", 5)
    assert embedder.before == [[NOTES[4]]] * 3
    assert steps == [(0, 5), (2, 5), (4, 5), (5, 5)]
    assert (memory.stats()["model"], memory.stats()["vectors"]) == ("hashing-512", 5)
    assert memory.recall("where is the piano", recipe="dense", k=1).hits[0].text == NOTES[4]
    embedder.look = lambda: None
    assert memory.remember("A new note after the move to room nine").outcome == "inserted"
    with pytest.raises(ModelMismatchError):
        reader.recall("where is the piano")
    assert memory.verify() == ()


def test_what_is_written_while_reembedding_is_moved_too(open_clew: Open) -> None:
    memory = open_clew(memory={"batch_size": 2})
    memory.remember_many(NOTES)
    writer = open_clew()
    late = iter(
        [
            "Late note about the telescope in the attic",
            "Late note about the microscope in the cellar",
        ]
    )
    embedder = Watching(512)
    embedder.look = lambda: [writer.remember(text) for text in [next(late, "")] if text]
    assert memory.reembed(embedder).embedded == 7
    assert memory.stats()["unembedded"] == 0
    assert memory.recall("telescope in the attic", recipe="dense", k=1).hits


def test_a_reembedding_that_failed_goes_on_where_it_stopped(open_clew: Open) -> None:
    memory = open_clew(memory={"batch_size": 2})
    memory.remember_many(NOTES)

    class Failing(HashingEmbedder):
        calls = 0

        def embed(self, texts: Sequence[str], *, role: EmbedRole) -> Vectors:
            self.calls += 1
            if self.calls == 3:
                raise ModelServiceError("The server went away.")
            return super().embed(texts, role=role)

    with pytest.raises(ModelServiceError):
        memory.reembed(Failing(64))
    assert memory.stats()["model"] == "hashing-256"
    assert memory.recall("where is the piano", recipe="dense", k=1).hits[0].text == NOTES[4]
    assert memory.reembed(HashingEmbedder(64)).embedded == 1
    assert memory.verify() == ()


def test_a_writer_that_never_searches_keeps_up_with_its_own_writes(open_clew: Open) -> None:
    """The work of one write must not grow with the number of writes of the same process."""
    memory = open_clew()
    dense = memory.store._dense  # type: ignore[attr-defined]
    for n in range(40):
        memory.remember(f"Entry {n} is about the subject {n * 7919}")
        if dense._overlay is not None:
            assert dense._overlay[0].size <= 2
    assert dense._shared.size >= 38


def test_a_model_whose_name_does_not_exist_is_refused_before_anything_is_made(
    open_clew: Open,
) -> None:
    with pytest.raises(clew.ClewError, match="no such model"):
        open_clew(model={"embedder": "arctic-embed-xs"})
