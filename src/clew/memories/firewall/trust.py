"""Assess how far a reader may trust a memory, from its text.

Trust is computed when it is returned and never stored, so it cannot be forged, and text that was
imported or written before a rule existed is marked too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from clew.memories.firewall.instructions import find_flags
from clew.settings import FirewallSettings
from clew.text.words import sentence_list

NORMAL, LOW = "normal", "low"
ARCHIVE = "archive"
INSTRUCTION = "instruction"
# of metadata that are looked at: it is limited in bytes, and a list of numbers says nothing
MAX_VALUES = 100


class TextFields(Protocol):
    """What a memory, offered or kept, says in words."""

    @property
    def text(self) -> str:
        """What it says."""

    @property
    def title(self) -> str:
        """What it is called."""

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Whatever else stands with it."""


class Trust(NamedTuple):
    """Low where a text gives orders to its reader, with the flags that say in which way."""

    level: str
    flags: tuple[str, ...]


def assess_trust(told: TextFields, context: str = "") -> Trust:
    """Return how far a memory may be trusted, with all that is served of it.

    Title, text, tags, metadata, and what stands around it.
    """
    beside = (
        [each for each in _texts(told.metadata, MAX_VALUES) if " " in each] if told.metadata else []
    )
    flags = find_flags(
        "\n\n".join(filter(None, (told.title, told.text, context, *told.tags, *beside)))
    )
    return Trust(LOW if flags else NORMAL, flags)


def warning(flags: tuple[str, ...], settings: FirewallSettings) -> str:
    """Say in an outcome that a text reads like an order, and what that means for it.

    Nothing without flags.

    >>> warning(("override",), FirewallSettings())
    'It reads like an order to its reader (override): it is kept and served with low trust.'
    """
    if not flags:
        return ""
    fate = (
        "it is in the archive until you unarchive it"
        if settings.instructions == ARCHIVE
        else "it is kept and served with low trust"
    )
    return f"It reads like an order to its reader ({sentence_list(flags)}): {fate}."


def _texts(value: Any, most: int) -> Iterator[str]:
    """Yield the texts in metadata, the first so many values.

    Keys too, for they are served as well.
    """
    waiting = [value]
    while waiting and most > 0:
        each = waiting.pop()
        most -= 1
        if isinstance(each, str):
            yield each
        elif type(each) is dict or isinstance(each, Mapping):  # the first is asked in no time
            waiting += [*each.values(), *each]
        elif isinstance(each, list | tuple):
            waiting += each
