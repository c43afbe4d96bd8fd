"""Plain transcripts: lines that begin with a time and a name, or with a name alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from clew.ingest.readers.conversation import Conversation, Turn
from clew.ingest.readers.headers import header
from clew.ingest.readers.stamps import Stamp, moments, stamped

NAMED_SHARE = 0.7  # of the paragraphs, or else of the lines, must begin with a name
STAMPED_SHARE = 0.3  # of the lines must begin with a time and a name: people write messages of many lines
MIN_TURNS = 3  # two lines with a colon are a letter's head

# Up to four words, the first with a letter; digits, dots and hyphens as in "Dr. Ada King-Noel" and "Speaker 2".
_NAMED = re.compile(r"([^\W\d_][\w.'’\-]{0,29}(?: [\w(][\w.'’\-)]{0,29}){0,3}):(?:[ \t]+|$)")
_BOLD = re.compile(r"\*\*([^*:\n]{1,60})(?::\*\*|\*\*:)[ \t]*")
# Heads of letters, logs and records: where these stand before a colon, nobody speaks.
_FIELDS = frozenset(
    """
    abstract address author bcc category cc city company content-type copyright country critical date debug default description email error
    example fatal fax file filename from host id info input keywords license location message name note notes output path phone price
    ps re reply-to see severe source status subject summary tags time title to todo trace type url usage value version warn warning
    """.split()
)


@dataclass(frozen=True, slots=True)
class _Opening:
    """The beginning of a message: who, when, and where on the line the words start."""

    speaker: str
    stamp: Stamp | None
    words_from: int


def conversation(text: str, *, asked: bool = False) -> Conversation | None:
    r"""Return a transcript as a conversation, or nothing if the text is something else.

    A header that tells when it was held, or that a conversation was `asked` for, settles that names before colons speak.

    >>> [turn.speaker for turn in conversation("Ada: Hello.\nBob: Good day.\nAda: Is it?").turns]
    ['Ada', 'Bob', 'Ada']
    >>> conversation("Name: Ada\nCity: London\nPhone: 12 34") is None
    True
    """
    lines = text.split("\n")
    head = header(lines)
    lines = lines[head.lines :]
    found = _timed(lines) or _named(lines) or (_few(lines) if asked or head.exact else None)
    if found is None or not head.lines:
        return found
    return replace(found, title=head.title, time=head.time, notes=(*head.notes, *found.notes))


def _few(lines: Sequence[str]) -> Conversation | None:
    """Return what begins with a name as a conversation, however short it is."""
    openings = [_by_name(line) for line in lines]
    first = next((opening for line, opening in zip(lines, openings, strict=True) if line.strip()), None)
    return _conversation(lines, openings) if first else None


def _timed(lines: Sequence[str]) -> Conversation | None:
    openings = [_after_stamp(line) for line in lines]
    written = sum(1 for line in lines if line.strip())
    spoken = sum(1 for opening in openings if opening and opening.speaker)
    if spoken < 2 or spoken < STAMPED_SHARE * written:
        return None
    dated = any(opening.stamp and opening.stamp.numbers for opening in openings if opening)
    if not dated and not _talk([opening.speaker for opening in openings if opening and opening.speaker]):  # "10:00 Lunch: soup"
        return None
    return _conversation(lines, openings)


def _after_stamp(line: str) -> _Opening | None:
    """Return the message that begins here; one without a speaker is the program's own news."""
    found = stamped(line)
    if found is None:
        return None
    stamp, rest_from = found
    named = stamp.name.match(line, rest_from)
    if named is None:
        return _Opening("", stamp, rest_from)
    speaker = named.group(1).strip("\u200e\u202a\u202c ~")
    words = speaker.casefold().split()
    if any(word.strip("[]") in _FIELDS for word in words):  # "2024-03-01 10:00 ERROR: …" is a log
        return None
    return _Opening(speaker, stamp, named.end())


def _named(lines: Sequence[str]) -> Conversation | None:
    openings = [_by_name(line) for line in lines]
    starts = [index for index, line in enumerate(lines) if line.strip() and (index == 0 or not lines[index - 1].strip())]
    known = {opening.speaker for index in starts if (opening := openings[index])}
    by_paragraph = len(starts) >= MIN_TURNS and sum(1 for index in starts if openings[index]) >= NAMED_SHARE * len(starts)
    written = sum(1 for line in lines if line.strip())
    by_line = sum(1 for opening in openings if opening) >= NAMED_SHARE * max(1, written)
    if not by_paragraph and not by_line:
        return None
    if not by_line:  # inside a paragraph only somebody who also begins one takes the word
        openings = [opening if opening and opening.speaker in known else None for opening in openings]
    return _conversation(lines, openings) if _talk([opening.speaker for opening in openings if opening]) else None


def _by_name(line: str) -> _Opening | None:
    found = _BOLD.match(line) if line.startswith("**") else _NAMED.match(line)
    if found is None or found.group(1).casefold() in _FIELDS:
        return None
    return _Opening(found.group(1), None, found.end())


def _talk(speakers: Sequence[str]) -> bool:
    """Tell people who take turns from a list of things with colons, where hardly a name comes twice."""
    different = len(set(speakers))
    return len(speakers) >= MIN_TURNS and 2 <= different <= max(2, len(speakers) // 2)


def _conversation(lines: Sequence[str], openings: Sequence[_Opening | None]) -> Conversation:
    first = next(index for index, opening in enumerate(openings) if opening)
    groups = list(_grouped(lines, openings, first))
    times, notes = moments([opening.stamp for opening, _ in groups])
    turns = [Turn(opening.speaker, words, time) for (opening, words), time in zip(groups, times, strict=True) if opening.speaker]
    left_out = {
        "lines before the first message": sum(1 for line in lines[:first] if line.strip()),
        "lines without a speaker": len(groups) - len(turns),
    }
    return Conversation(turns=turns, metadata={"original_format": "transcript"}, left_out=left_out, notes=notes)


def _grouped(lines: Sequence[str], openings: Sequence[_Opening | None], first: int) -> Iterator[tuple[_Opening, str]]:
    """Yield each message with its words; lines that begin none belong to the one before."""
    current, words = openings[first], [""]
    for line, opening in zip(lines[first:], openings[first:], strict=True):
        if opening is None:
            words.append(line)
            continue
        if current is not opening and current is not None:
            yield current, "\n".join(words)
        current, words = opening, [line[opening.words_from :]]
    if current is not None:
        yield current, "\n".join(words)
