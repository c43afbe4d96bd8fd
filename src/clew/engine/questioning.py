"""What makes the questions of memories, by the settings; loaded when the first memory wants some."""

from __future__ import annotations

import os
from collections.abc import Sequence

from clew.errors import InputError
from clew.ports import Questioner, Questions
from clew.settings import QuestionSettings

UNNAMED = "none"


class Rules:
    """The rules, read when they are first needed."""

    def __init__(self, most: int) -> None:
        self._most = most

    def questions(self, texts: Sequence[str]) -> Sequence[Questions]:
        """Return the questions of each text."""
        from clew.ingest.questions.rules import RuleQuestioner  # noqa: PLC0415 - few memories get questions

        return RuleQuestioner(most=self._most).questions(texts)


def questioner(settings: QuestionSettings) -> Questioner | None:
    """Return what makes questions; None where none are made."""
    if not settings.enabled:
        return None
    rules = Rules(settings.most)
    if settings.generator == "rules":
        return rules
    if settings.model == UNNAMED:
        raise InputError("questions.model", settings.model, "names no language model", "Name one, or set questions.generator to rules.")
    from clew.models.questions import language_model  # noqa: PLC0415 - opens no connection, but needs the HTTP client

    return language_model(
        settings.model,
        base=settings.endpoint,
        key=os.environ.get(settings.key_env, ""),
        timeout_seconds=settings.timeout_seconds,
        most=settings.most,
        otherwise=rules,
    )
