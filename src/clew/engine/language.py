"""What a language model does for a Clew: substance, names, facts of conversations, summaries.

Rules where it cannot.

Whatever is asked of the model is named in the notes of the answer, and so is every fallback to
rules.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from clew.errors import InputError, ModelError
from clew.memories.draft import Draft, embedding_text, rejected
from clew.memories.statements import statements
from clew.memories.substance import reject_unsubstantial
from clew.models.language_model import LanguageModel, UnusableError
from clew.models.language_tasks import (
    Fact,
    Verdict,
    judge_conflict,
    judge_substance,
    list_facts,
    list_names,
    summarise,
)
from clew.settings import LlmSettings, Settings
from clew.types import Mention, Outcome

if TYPE_CHECKING:
    from clew.types import Node

T = TypeVar("T")

UNSET = "none"
RULE = "language_model"
NAME_CONFIDENCE = 0.8  # of a name that a model lists and that stands in the text
SUMMARY_CHARACTERS = 500
KEPT_SENTENCES = 3  # of a section that is summarised by rules
ENTITY_TYPES = {"PERSON": "PERSON", "ORGANISATION": "ORG", "PLACE": "PLACE", "CONCEPT": "CONCEPT"}
_SENTENCE_ENDS = re.compile(r"(?<=[.!?。！？])\s+|\n+")


class Made(NamedTuple):
    """Something that was made, and how: by which model, or by rules and why."""

    value: str
    note: str


class Language:
    """Asks a language model, and says what was asked."""

    def __init__(self, model: LanguageModel, settings: LlmSettings) -> None:
        self.model = model
        self.substance = settings.substance
        self.entities = settings.entities
        self.conflicts = settings.conflicts

    @property
    def _by(self) -> str:
        return f"{self.model.name} at {self.model.host}"

    def judged(self, draft: Draft, settings: Settings) -> tuple[Outcome | None, str]:
        """Return the rejection of a draft that is not worth keeping, or None, and a note.

        What rules reject is not asked about.
        """
        if reject_unsubstantial(draft.text, settings=settings.substance) is not None:
            return None, ""
        found, problem = self._try(lambda: judge_substance(self.model, embedding_text(draft)))
        if found is None:
            return None, f"Its substance was judged by rules. {problem}"
        if found.keep:
            return None, f"Judged worth keeping by {self._by}."
        outcome = rejected(RULE, found.reason or "not worth keeping", "worth keeping")
        return (
            outcome,
            f"Judged not worth keeping by {self._by}. To keep it all the same, use force.",
        )

    def named(self, node: Node, *, most: int) -> tuple[tuple[Mention, ...], str]:
        """Return what the model adds to the names in a memory, and a note."""
        found, problem = self._try(lambda: list_names(self.model, node.text, most=most))
        if found is None:
            return (), f"Its names were read by rules. {problem}"
        # Word lists that only a write needs
        from clew.text.names.keys import entity_key  # noqa: PLC0415

        mentions = []
        for each in found:
            start = node.text.find(each.name)
            key, kind = entity_key(each.name), ENTITY_TYPES[each.type]
            mentions.append(
                Mention(
                    node.id,
                    key,
                    each.name,
                    kind,
                    NAME_CONFIDENCE,
                    start=start,
                    end=start + len(each.name),
                )
            )
        return tuple(
            each for each in mentions if each.key
        ), f"{len(mentions)} names were read by {self._by}."

    def facts(
        self, said: Sequence[str], *, categories: Sequence[str]
    ) -> tuple[tuple[Fact, ...] | None, str]:
        """Return the facts of a conversation, or None, and a note."""
        found, problem = self._try(lambda: list_facts(self.model, said, categories=categories))
        return found, problem or f"The facts were extracted by {self._by}."

    def summary(self, text: str) -> tuple[str | None, str]:
        """Return a summary, or None, and a note."""
        found, problem = self._try(lambda: summarise(self.model, text, most=SUMMARY_CHARACTERS))
        return found, problem or f"Summarised by {self._by}."

    def conflict(self, first: str, second: str) -> tuple[Verdict | None, str]:
        """Return whether two memories contradict each other, or None if the call failed, and a note."""
        found, problem = self._try(lambda: judge_conflict(self.model, first, second))
        return found, problem or f"Judged by {self._by}."

    def _try(self, work: Callable[[], T]) -> tuple[T | None, str]:
        """Return what the work returns, or None and what went wrong."""
        try:
            return work(), ""
        except UnusableError as error:
            return None, f"{self.model.host} gave no usable answer: {error}."
        except ModelError as error:
            return None, error.message


def language_of(settings: LlmSettings) -> Language | None:
    """Return what the settings configure; nothing is asked yet. None without a model."""
    if settings.protocol == UNSET:
        if settings.substance or settings.entities or settings.conflicts:
            raise InputError(
                "llm.protocol",
                UNSET,
                "names no kind of server",
                "Set it and llm.model, or turn llm.substance, llm.entities and llm.conflicts off.",
            )
        return None
    if settings.model == UNSET:
        raise InputError(
            "llm.model", settings.model, "names no language model", "Name one that the server has."
        )
    model = LanguageModel(
        settings.model,
        protocol=settings.protocol,
        base="" if settings.endpoint == "default" else settings.endpoint,
        key=os.environ.get(settings.key_env, ""),
        timeout_seconds=settings.timeout_seconds,
        budget_tokens=settings.budget_tokens,
    )
    return Language(model, settings)


def facts_by_rule(
    said: Sequence[tuple[str, str]], *, categories: Sequence[str]
) -> Iterator[tuple[Fact, str]]:
    """Yield what rules find in the messages of a conversation, given as role and text, with the trigger of each."""
    answers = False
    for number, (role, text) in enumerate(said):
        speaker = "assistant" if role == "assistant" else "user"
        for stated, rule in statements(text, role=speaker, answers=answers):
            if rule.category in categories:
                yield Fact(stated, rule.category, (number,)), rule.trigger
        answers = answers or speaker == "assistant"


def summary_by_rule(text: str) -> str:
    """Return the first sentences of a text, as many as a summary may hold.

    >>> summary_by_rule("Ports are odd. Hosts are even. Names are short. The rest follows.")
    'Ports are odd. Hosts are even. Names are short.'
    """
    kept = ""
    for sentence in _SENTENCE_ENDS.split(text.strip(), maxsplit=KEPT_SENTENCES)[:KEPT_SENTENCES]:
        longer = f"{kept} {' '.join(sentence.split())}".strip()
        if len(longer) > SUMMARY_CHARACTERS:
            break
        kept = longer
    return kept or " ".join(text[: SUMMARY_CHARACTERS - 1].split()) + "…"
