"""Make hypothetical questions for memories, store them and read them back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clew.memories.draft import Draft, embedding_text
from clew.ports import Questioner, Questions, Store
from clew.settings import QuestionSettings
from clew.text.words import content_hash
from clew.types import QUESTIONS, Embedding, EventKind, Node, NodeId, Vectors

NO_QUESTIONS = Questions()
# in the detail of the ADD event: the node's own fields are searched, and these are not its words
DETAIL_KEY = "questions"


def gets_questions(of: Draft, settings: QuestionSettings) -> bool:
    """Tell whether a memory is of those that get questions."""
    return settings.enabled and of.trigger in settings.triggers


def ask_questions(
    drafts: Iterable[Draft], questioner: Questioner | None, settings: QuestionSettings
) -> dict[str, Questions]:
    """Return the questions for the memories that get any, by embedded text."""
    texts = list(
        dict.fromkeys(embedding_text(each) for each in drafts if gets_questions(each, settings))
    )
    if questioner is None or not texts:
        return {}
    made = questioner.questions(texts)
    return {
        text: each._replace(texts=each.texts[: settings.most])
        for text, each in zip(texts, made, strict=True)
    }


class PreparedQuestioner:
    """A questioner that was asked already.

    What is known is not asked again, as inside a transaction nobody should wait for it.
    """

    def __init__(self, known: Mapping[str, Questions], questioner: Questioner | None) -> None:
        self._known, self._questioner = known, questioner

    def questions(self, texts: Sequence[str]) -> Sequence[Questions]:
        """Return what is known, or else ask."""
        missing = [text for text in texts if text not in self._known]
        made = (
            self._questioner.questions(missing)
            if self._questioner is not None and missing
            else [NO_QUESTIONS] * len(missing)
        )
        known = {**self._known, **dict(zip(missing, made, strict=True))}
        return [known[text] for text in texts]


def embeddings(
    node: NodeId, texts: Sequence[str], vectors: Mapping[str, Vectors]
) -> list[Embedding]:
    """Return the vectors of a node's questions, as a store keeps them."""
    return [
        Embedding(node=node, role=role, text_hash=content_hash(text), vector=vectors[text])
        for role, text in zip(QUESTIONS, texts, strict=False)
        if text in vectors
    ]


def question_detail(texts: Sequence[str]) -> dict[str, Any]:
    """Return the part of an ADD event's detail that tells a node's questions.

    Nothing where it has none.
    """
    return {DETAIL_KEY: list(texts)} if texts else {}


def questions_of(store: Store, nodes: Iterable[Node]) -> dict[NodeId, tuple[str, ...]]:
    """Return the questions that were kept with the nodes, of those that have any.

    A version has those of its fact.
    """
    found = {}
    for node in nodes:
        if node.trigger:  # only these are ever asked about: the events of others need not be read
            told = [
                event.detail
                for event in store.events(node.root or node.id)
                if event.kind is EventKind.ADD
            ]
            texts = next((detail[DETAIL_KEY] for detail in told if detail.get(DETAIL_KEY)), ())
            found[node.id] = tuple(text for text in texts if isinstance(text, str))[
                : len(QUESTIONS)
            ]
    return {id: texts for id, texts in found.items() if texts}
