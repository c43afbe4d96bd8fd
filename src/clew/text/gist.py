"""Choose the part of a text that is embedded and searched."""

from __future__ import annotations

import re

from clew.types import Kind

EXCERPT_CHARACTERS = 1500  # more than the default model reads of a text
MIN_USER_CHARACTERS = 60  # "Thanks, go on!" does not stand for the answer beside it
EXCERPTED_KINDS = (Kind.DOCUMENT, Kind.SECTION)
USER_ROLES = frozenset({"user", "human"})
_ROLE = re.compile(
    r"(?mi)^(user|human|assistant|ai|bot|model|system|tool|developer|chatgpt|claude):(?=\s)"
)


def embedded_text(kind: Kind, text: str) -> str:
    r"""Return the part of a node's text that its vector is made from.

    Of a chunk of a chat with an assistant that is what the user told, where that is more than a few
    words: what is said by the way ("I was at my cousin's wedding") is lost in the vector of the
    long answer (LongMemEval's dev part: all@5 of sessions 77.9 instead of 76.6, of what users told
    80.0 instead of 76.7). The answer beside it is found by its words.

    >>> embedded_text(Kind.CHUNK, "user: I was at my cousin's wedding at the Grand Ballroom last weekend.\nassistant: How nice!")
    "I was at my cousin's wedding at the Grand Ballroom last weekend."
    >>> embedded_text(Kind.CHUNK, "user: Thanks!\nassistant: Port 5432 it is.")
    'user: Thanks!\nassistant: Port 5432 it is.'
    """
    if kind == Kind.CHUNK:
        said = user_turns(text)
        return said if len(said) >= MIN_USER_CHARACTERS else text
    return excerpt(text, room=EXCERPT_CHARACTERS) if kind in EXCERPTED_KINDS else text


def with_title(title: str, text: str) -> str:
    """Return the text with its title, if any, on a line above it."""
    return f"{title}\n{text}" if title else text


def searched_text(kind: Kind, text: str) -> str:
    """Return the part of a node's text by whose words it is found.

    Of a document not all, for its sections hold the rest; of a section of a chat with an assistant
    what the user told.
    """
    if kind == Kind.SECTION:
        return user_turns(text)
    return excerpt(text, room=EXCERPT_CHARACTERS) if kind == Kind.DOCUMENT else text


def user_turns(text: str) -> str:
    r"""Return only the user's turns of a chat with an assistant; any other text unchanged.

    The answers are many times as long and mention every subject, so a session is found by what its
    user said (LongMemEval's dev part: all@5 of sessions by BM25 78.6
    instead of 72.4). The answers are found by their own chunks.

    >>> user_turns("user: I adopted a cat.\nassistant: Cats, dogs and parrots need care.\nuser: Her name is Luna.")
    'I adopted a cat.\nHer name is Luna.'
    >>> user_turns("Ann: Hi!\nBob: Hello.")
    'Ann: Hi!\nBob: Hello.'
    """
    labels = list(_ROLE.finditer(text))
    ends = [*(label.start() for label in labels[1:]), len(text)]
    asked = [
        text[label.end() : end].strip()
        for label, end in zip(labels, ends, strict=False)
        if label[1].lower() in USER_ROLES
    ]
    return "\n".join(asked) if asked and len(asked) < len(labels) else text


def leading_words(text: str, size: int) -> str:
    """Return the first words of a text, at most `size` characters.

    Empty if they are white space.

    >>> leading_words("one two three", 8)
    'one two'
    """
    if len(text) <= size:
        return text
    cut = next(iter(text[: size + 1].rsplit(maxsplit=1)), "") if size > 0 else ""
    return cut if len(cut) <= size else text[:size]


def trailing_words(text: str, size: int) -> str:
    """Return the last words of a text, at most `size` characters.

    Empty if they are white space.

    >>> trailing_words("one two three", 10)
    'two three'
    """
    if len(text) <= size:
        return text
    cut = ["", *text[-size - 1 :].split(maxsplit=1)][-1] if size > 0 else ""
    return cut if len(cut) <= size else text[-size:]


def excerpt(text: str, *, room: int) -> str:
    r"""Return the first and last words of a long text, about `room` characters.

    >>> excerpt("alpha beta gamma delta omega", room=20)
    'alpha beta\n…\nomega'
    """
    if len(text) <= room:
        return text
    return f"{leading_words(text, room * 2 // 3)}\n…\n{trailing_words(text, room // 3)}"
