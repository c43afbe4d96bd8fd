"""Questions by a language model.

What it says is checked before it is believed, and made good by rule otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from clew.errors import ModelError
from clew.models.language_model import ATTEMPTS, LanguageModel, UnusableError, messages, parsed
from clew.ports import Questioner, Questions

__all__ = ["ATTEMPTS", "ModelQuestioner", "UnusableError", "language_model", "prompt", "usable"]

LONGEST = 200  # characters of a question
MOST = 2
ANSWER_TOKENS = 200  # two questions are not longer
COPIED = 40  # characters in a row that only a copy of the prompt has in common with it


def language_model(
    name: str,
    *,
    base: str,
    key: str,
    timeout_seconds: float,
    otherwise: Questioner,
    most: int = MOST,
    sleep: Callable[[float], None] = time.sleep,
) -> ModelQuestioner:
    """Return a questioner that asks an OpenAI-compatible server.

    The address is checked at once, the server asked later.
    """
    model = LanguageModel(
        name, protocol="openai", base=base, key=key, timeout_seconds=timeout_seconds, sleep=sleep
    )
    return ModelQuestioner(model, otherwise, most)


class ModelQuestioner:
    """Asks a language model for the questions of one memory after the other."""

    def __init__(self, model: LanguageModel, otherwise: Questioner, most: int) -> None:
        self._model, self._otherwise, self._most = model, otherwise, most

    def questions(self, texts: Sequence[str]) -> Sequence[Questions]:
        """Return the questions of each text.

        A server that fails once is not asked again for the rest.
        """
        made: list[Questions] = []
        down = ""
        for text in texts:
            if not down:
                try:
                    made.append(Questions(self._asked(text)))
                    continue
                except UnusableError as error:
                    problem = f"{self._model.host} gave no usable questions: {error}"
                except ModelError as error:
                    problem = down = error.message
            made.append(
                self._otherwise.questions([text])[0]._replace(
                    note=f"Its questions were made by rules. {down or problem}"
                )
            )
        return made

    def _asked(self, text: str) -> tuple[str, ...]:
        asked = prompt(text, most=self._most)[0]["content"]

        def read(answer: Any) -> tuple[str, ...]:
            return checked(answer, text=text, asked=asked)

        found = self._model.ask(
            "questions", text, read=read, answer_tokens=ANSWER_TOKENS, most=str(self._most)
        )
        return found[: self._most]


def prompt(text: str, *, most: int) -> list[dict[str, str]]:
    """Return the messages for one memory, between marks that it cannot hold."""
    return messages("questions", text, most=str(most))


def usable(said: str, *, text: str, asked: str) -> tuple[str, ...]:
    r"""Return the questions in what a model said, or raise where they are not what was asked for.

    >>> usable('```json\n["Why did it fail?"]\n```', text="It failed.", asked="")
    ('Why did it fail?',)
    """
    return checked(parsed(said), text=text, asked=asked)


def checked(listed: Any, *, text: str, asked: str) -> tuple[str, ...]:
    """Return the questions in an answer, or raise where they are not what was asked for."""
    if not isinstance(listed, list) or not 1 <= len(listed) <= MOST:
        raise UnusableError("not a list of one or two")
    return tuple(dict.fromkeys(_question(each, text=text, asked=asked) for each in listed))


def _question(each: object, *, text: str, asked: str) -> str:
    if not isinstance(each, str):
        raise UnusableError("not text")
    question = " ".join(each.split())
    if (
        not question.isprintable()
        or len(question) > LONGEST
        or len(question) < 2
        or not question.endswith(("?", "？", "؟"))
    ):
        raise UnusableError("not a question of at most 200 characters")
    if _copies(question, asked) and not _copies(question, text):
        raise UnusableError("a copy of the prompt")
    return question


def _copies(question: str, source: str) -> bool:
    """Tell whether a question repeats a stretch of a source, or all of it that it has to say.

    >>> _copies("Write at most 2 short questions, in the language?", "You. Write at most 2 short questions, in the language of it.")
    True
    """
    source = " ".join(source.split()).casefold()
    said = question.casefold().rstrip("?？؟ ")
    stretches = [said[at : at + COPIED] for at in range(max(1, len(said) - COPIED + 1))]
    return any(len(stretch) >= COPIED and stretch in source for stretch in stretches)
