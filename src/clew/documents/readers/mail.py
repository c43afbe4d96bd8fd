"""E-mail: one message, or a mailbox whose threads become conversations with senders and times."""

from __future__ import annotations

import email
import email.policy
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from typing import Any

from clew.documents.readers.conversation import Conversation, Turn, documents, line
from clew.documents.readers.document import Document, UnreadableError, decoded
from clew.documents.readers.html import read_html

MAX_PARTS = 1000  # of one message; MIME can nest without end
MAX_HEADER = 20_000  # characters of one header that are decoded
_REPLY = re.compile(r"(?:(?:re|aw|fwd?|wg|sv|antw)(?:\[\d{1,3}\])?: ?)+", re.IGNORECASE)
_ID = re.compile(r"<([^<>\s]{1,400})>")
_POLICY = email.policy.default.clone(max_line_length=None)


@dataclass(frozen=True, slots=True)
class _Mail:
    """One message, decoded."""

    subject: str
    sender: str
    to: str
    time: datetime | None
    text: str
    id: str
    parents: tuple[str, ...]
    attachments: int


def read_eml(data: bytes) -> tuple[Document, ...]:
    """Return one message under its subject, dated by its header."""
    mail = _mail(data)
    if not mail.text and not mail.subject:
        raise UnreadableError("it holds no message", "Export it again as .eml.")
    heads = [
        f"{name}: {value}"
        for name, value in (("From", mail.sender), ("To", mail.to), ("Subject", mail.subject))
        if value
    ]
    text = "\n".join(heads) + "\n\n" + mail.text
    metadata = {
        "original_format": "eml",
        "from": mail.sender,
        "to": mail.to,
        "message_id": mail.id,
        "thread": _thread(mail),
    }
    kept: dict[str, Any] = {key: value for key, value in metadata.items() if value}
    notes = (f"{mail.attachments} attachments left out",) if mail.attachments else ()
    return (
        Document(
            text=text.strip() + "\n",
            format="text",
            title=mail.subject,
            time=mail.time,
            metadata=kept,
            notes=notes,
        ),
    )


def read_mbox(data: bytes) -> tuple[Document, ...]:
    """Return the threads of a mailbox, each as a conversation under the subject of its first message."""
    mails = [_mail(part) for part in _messages(data)]
    mails = [mail for mail in mails if mail.text or mail.subject]
    if not mails:
        raise UnreadableError("it holds no message", "Export it again as mbox.")
    found = documents([_conversation(thread) for thread in _threads(mails)])
    if not found:
        raise UnreadableError("its messages hold no text", "Export it again with their bodies.")
    return found


def _messages(data: bytes) -> Iterator[bytes]:
    """Yield the messages between lines that begin with "From " behind an empty line.

    ">From " is unquoted.
    """
    begun = False
    lines: list[bytes] = []
    blank = True
    for each in data.splitlines(keepends=True):
        if blank and each.startswith(b"From "):
            if begun:
                yield b"".join(lines)
            begun, lines = True, []
        else:
            lines.append(
                each[1:]
                if each.startswith(b">") and each.lstrip(b">").startswith(b"From ")
                else each
            )
        blank = not each.strip()
    if any(each.strip() for each in lines):
        yield b"".join(lines)


def _mail(data: bytes) -> _Mail:
    try:
        message = email.message_from_bytes(data, policy=_POLICY)
        text, attachments = _body(message)
        return _Mail(
            subject=_header(message, "Subject"),
            sender=_header(message, "From"),
            to=_header(message, "To"),
            time=_date(message),
            text=text,
            id=next(iter(_ID.findall(_raw(message, "Message-ID"))), ""),
            parents=tuple(_ID.findall(_raw(message, "References") + _raw(message, "In-Reply-To"))),
            attachments=attachments,
        )
    except UnreadableError:
        raise
    except (
        Exception
    ) as error:  # the library raises what it likes on headers that no program should write
        raise UnreadableError(
            f"it is not a sound message ({type(error).__name__})", "Export it again."
        ) from error


def _raw(message: EmailMessage, name: str) -> str:
    return next(
        (
            str(value)[:MAX_HEADER]
            for key, value in message.raw_items()
            if key.casefold() == name.casefold()
        ),
        "",
    )


def _header(message: EmailMessage, name: str) -> str:
    """Return a header, decoded; one that cannot be is kept as it was written."""
    raw = _raw(message, name)
    try:
        return line(str(_POLICY.header_factory(name, raw.replace("\r", " ").replace("\n", " "))))
    except Exception:
        return line(raw)


def _date(message: EmailMessage) -> datetime | None:
    try:
        found = parsedate_to_datetime(_raw(message, "Date"))
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _body(message: EmailMessage) -> tuple[str, int]:
    """Return the text of a message, of alternatives the plain one, and how many attachments there are."""
    plain: list[str] = []
    pages: list[str] = []
    attachments = 0
    for number, part in enumerate(message.walk()):
        if number >= MAX_PARTS or part.is_multipart():
            continue
        kind = part.get_content_type()
        if part.get_content_disposition() == "attachment" or not kind.startswith("text/"):
            attachments += 1
        elif kind == "text/html":
            pages.append(_decoded(part))
        else:
            plain.append(_decoded(part))
    text = "\n\n".join(each.strip() for each in plain if each.strip())
    return text or "\n\n".join(filter(None, map(_page, pages))), attachments


def _decoded(part: Any) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    charset = part.get_content_charset() or "utf-8"
    try:
        return str(data.decode(charset)).replace("\r\n", "\n")
    except (LookupError, ValueError):
        try:
            return decoded(data)[0]
        except UnreadableError:
            return ""


def _page(text: str) -> str:
    try:
        return read_html(text, ()).text if text.strip() else ""
    except UnreadableError:
        return ""


def _thread(mail: _Mail) -> str:
    return mail.parents[0] if mail.parents else mail.id


def _threads(mails: Sequence[_Mail]) -> list[list[_Mail]]:
    """Return messages joined by the ids that they answer; without ids, by their subject."""
    group: dict[str, int] = {}
    joined: list[int] = []

    def root(at: int) -> int:
        while joined[at] != at:
            joined[at] = joined[joined[at]]
            at = joined[at]
        return at

    for mail in mails:
        subject = _REPLY.sub("", mail.subject).casefold()
        keys = [key for key in (mail.id, *mail.parents) if key] or (
            [f"subject {subject}"] if subject else []
        )
        at = len(joined)
        joined.append(at)
        for key in keys:
            joined[root(group.setdefault(key, at))] = root(at)
    threads: dict[int, list[_Mail]] = {}
    for at, mail in enumerate(mails):
        threads.setdefault(root(at), []).append(mail)
    return list(threads.values())


def _conversation(thread: Sequence[_Mail]) -> Conversation:
    latest = datetime.max.replace(tzinfo=UTC)
    ordered = sorted(enumerate(thread), key=lambda each: (each[1].time or latest, each[0]))
    mails = [mail for _, mail in ordered]
    left_out: Counter[str] = Counter(attachments=sum(mail.attachments for mail in mails))
    return Conversation(
        turns=[Turn(_speaker(mail.sender), mail.text, mail.time) for mail in mails],
        title=_REPLY.sub("", mails[0].subject) or mails[0].subject,
        key=_thread(mails[0]),
        time=mails[0].time,
        metadata={"original_format": "mbox"},
        left_out=left_out,
    )


def _speaker(sender: str) -> str:
    """Return the name of a sender, else the address.

    >>> _speaker('"Ada King" <ada@example.org>'), _speaker("ada@example.org")
    ('Ada King', 'ada@example.org')
    """
    name, _, _ = sender.partition("<")
    return name.strip().strip('"') or sender.strip("<>")
