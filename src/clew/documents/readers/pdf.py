"""PDF: the text layer, page by page."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from clew.documents.readers.conversation import line
from clew.documents.readers.document import Document, UnreadableError, load

if TYPE_CHECKING:
    from pypdf import PdfReader

# some 20,000 full pages: beyond, pages repeat themselves to fill the memory
MAX_CHARACTERS = 50_000_000

# the library's complaints about a file are not for the terminal; added again, it is still one
_SILENCE = logging.NullHandler()

# A word broken at the end of a line: letters, a hyphen (or the soft one), and a small letter on the
# next.
_BROKEN = re.compile(r"(?<!\w)([^\W\d_]{2,40})[-\u00ad\u2010]\n([a-zß-öø-ÿ][^\W\d_]{0,40})")
_SPELLED = re.compile(r"(?<![\w-])[^\W\d_]{2,40}-[^\W\d_]{1,41}(?![\w-])")


def read_pdf(data: bytes) -> Document:
    """Return the text of a PDF with a blank line between pages.

    `metadata["page_starts"]` says where each begins.

    Words broken by a hyphen at the end of a line are joined, unless the text elsewhere writes them
    with the hyphen.
    """
    library = load("pypdf", reads="PDF files")
    logging.getLogger("pypdf").addHandler(_SILENCE)
    try:
        reader = library.PdfReader(io.BytesIO(data))
        pages = list(_pages(reader))
        title, time = _facts(reader)
    except UnreadableError:
        raise
    except (
        Exception
    ) as error:  # foreign: a broken file makes the library raise anything, down to KeyError
        raise _damaged(error) from error
    return _document(pages, title, time)


def _pages(reader: PdfReader) -> Iterator[str | None]:
    """Yield each page's text, or nothing for a page that cannot be read."""
    if reader.is_encrypted and not reader.decrypt(""):
        raise _encrypted()
    total = 0
    for page in reader.pages:
        try:
            text = page.extract_text()
        except Exception:  # foreign, as above, of one page: the others may be whole
            yield None
            continue
        total += len(text)
        if total > MAX_CHARACTERS:
            raise UnreadableError(
                f"it holds more than {MAX_CHARACTERS} characters", "Split it and import the parts."
            )
        yield text


def _document(pages: list[str | None], title: str, time: datetime | None) -> Document:
    texts = [(page or "").replace("\r\n", "\n").replace("\r", "\n").strip() for page in pages]
    if not any(texts):
        raise UnreadableError(
            "it holds no text: scanned?",
            "Run it through text recognition (OCR) and import the result.",
        )
    spelled = {word.casefold() for text in texts for word in _SPELLED.findall(text)}
    texts = [_joined(text, spelled) for text in texts]
    starts = accumulate((len(text) + len("\n\n") if text else 0 for text in texts[:-1]), initial=0)
    broken = sum(1 for page in pages if page is None)
    silent = sum(1 for text in texts if not text) - broken
    notes = (broken, "pages that cannot be read"), (silent, "pages without text")
    return Document(
        text="\n\n".join(text for text in texts if text),
        format="text",
        title=title,
        time=time,
        metadata={"original_format": "pdf", "pages": len(pages), "page_starts": list(starts)},
        notes=tuple(f"{number} {what}" for number, what in notes if number),
    )


def _joined(text: str, spelled: set[str]) -> str:
    r"""Join broken words; one that the text also spells with its hyphen keeps it.

    >>> _joined("an exam-\nple of a well-\nknown rule", {"well-known"})
    'an example of a well-known rule'
    """

    def whole(found: re.Match[str]) -> str:
        hyphenated = f"{found[1]}-{found[2]}"
        return hyphenated if hyphenated.casefold() in spelled else found[1] + found[2]

    return _BROKEN.sub(whole, text)


def _facts(reader: PdfReader) -> tuple[str, datetime | None]:
    """Return title and date as the file states them.

    A file may state nonsense, which is then nothing.
    """
    try:
        facts: Any = reader.metadata
        title = line(str(facts.title or "")) if facts else ""
        written = facts.creation_date if facts else None
        time = (
            (written if written.tzinfo else written.replace(tzinfo=UTC)).astimezone(UTC)
            if written
            else None
        )
    except Exception:  # foreign, as above
        return "", None
    return title, time


def _encrypted() -> UnreadableError:
    return UnreadableError(
        "it is encrypted", "Save a copy without a password, for example by printing it to a file."
    )


def _damaged(error: Exception) -> UnreadableError:
    # pypdf's own word for a cipher that needs another library
    if type(error).__name__ == "DependencyError":
        return _encrypted()
    return UnreadableError(
        f"it is not a sound PDF ({type(error).__name__}: {line(str(error), limit=200)})",
        "Open it and save it anew.",
    )
