"""Decide when a memory may stand for an offered text: by its words, its speaker, its title and its time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from clew.ingest.draft import Draft
from clew.ingest.fields import SPEAKERS
from clew.ingest.paraphrase_guard import contains, says_the_same
from clew.settings import DuplicateSettings
from clew.types import Node

CODE = "code"
# Keys of metadata that name who said or wrote something, beside those of chat messages.
_AUTHORS = frozenset(SPEAKERS) | frozenset(
    "participant agent actor person nick nickname handle who by said_by sent_by spoken_by written_by created_by".split()
)
_SUFFIXES = ("id", "name")


def near_threshold(offered: Draft, settings: DuplicateSettings) -> float:
    """Return from where on a memory of this category counts as near, between unrelated (0) and equal (1)."""
    return settings.near_threshold_by_category.get(offered.category, settings.near_threshold)


def same_context(node: Node, offered: Draft) -> bool:
    """Tell whether a memory with the words of an offered text means the same.

    They must have one speaker and no two titles; line breaks and indentation count in chat turns, code and nested lists.
    """
    same_title = node.title == offered.title or not (node.title and offered.title)
    return same_speaker(node, offered) and same_title and (node.text == offered.text or not _has_layout(node, offered))


def is_near_duplicate(node: Node, offered: Draft, *, at: datetime) -> bool:
    """Tell whether an offered text adds nothing to a memory: no word, speaker, title or time of its own.

    Chat turns and code are never merged unless they are equal: there every sign counts.
    """
    return (
        offered.title in ("", node.title)
        and same_speaker(node, offered)
        and same_times(node, offered)
        and holds(node, offered, at=at)
        and says_the_same(node.text, offered.text)
        and not (_is_verbatim(node) or _is_verbatim(offered))
    )


def extends(offered: Draft, node: Node) -> bool:
    """Tell whether an offered text says all that a memory says and more, so that it could take its place."""
    return node.title == offered.title and contains(offered.text, node.text) and not (_is_verbatim(node) or _is_verbatim(offered))


def same_speaker(node: Node, offered: Draft) -> bool:
    """Tell whether the metadata of both name the same speaker, or none."""
    return _speaker(node.metadata) == _speaker(offered.metadata)


def same_times(node: Node, offered: Draft) -> bool:
    """Tell whether the times that somebody gave with an offered text are those of the memory."""
    return offered.valid_from in (None, node.t_valid) and offered.valid_to in (None, node.t_invalid)


def _speaker(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return what metadata tells of who speaks, by the lower-case keys.

    >>> _speaker({"Speaker": "Ann", "userId": 7, "topic": "tea"})
    {'speaker': 'Ann', 'userid': 7}
    """
    return {key.lower(): value for key, value in metadata.items() if _names_speaker(key.lower())}


def _names_speaker(key: str) -> bool:
    plain = key.replace("-", "_").replace(" ", "_")
    return plain in _AUTHORS or any(plain.removesuffix(suffix).rstrip("_") in _AUTHORS for suffix in _SUFFIXES)


def _has_layout(node: Node, offered: Draft) -> bool:
    indented = any(f"\n{blank}" in text for text in (node.text, offered.text) for blank in " \t")
    return indented or _is_verbatim(node) or _is_verbatim(offered)


def _is_verbatim(text: Draft | Node) -> bool:
    """Tell whether a text is a chat turn or code."""
    if text.category == CODE or any(key.lower() in SPEAKERS for key in text.metadata):
        return True
    # Only near duplicates are looked at so closely; a command that stores nothing need not load them.
    from clew.ingest.chunkers.messages import transcript_blocks  # noqa: PLC0415
    from clew.ingest.quality.reading import is_code  # noqa: PLC0415

    return bool(transcript_blocks(text.text)) or is_code(tuple(text.text.splitlines()))


def holds(node: Node, offered: Draft, *, at: datetime) -> bool:
    """Tell whether a memory is true all the time that the offered one is said to be: up to its end, or without one up to now.

    What begins later, or has ended, leaves a time of which only the offered one speaks.
    """
    begins = offered.valid_from or at
    return node.t_valid <= begins and lasts(node, offered, at=at)


def lasts(node: Node, offered: Draft, *, at: datetime) -> bool:
    """Tell whether a memory is true as long as the offered one."""
    if node.t_invalid is None:
        return True
    return offered.valid_to <= node.t_invalid if offered.valid_to else max(offered.valid_from or at, at) < node.t_invalid
