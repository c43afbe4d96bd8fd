"""Markdown: the front matter becomes fields, the first heading the title."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import yaml

from clew.documents.readers.conversation import line, moment
from clew.documents.readers.document import Document

# longer is no front matter; YAML is read at a megabyte a second
FRONT_MATTER_CHARACTERS = 64 * 1024
FIELD_ENTRIES = 100
FIELD_CHARACTERS = 2000
_DATES = ("date", "created", "created_at", "published", "updated")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}#{1,6}[ \t]+(\S.*)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*")


def read_markdown(text: str, notes: tuple[str, ...]) -> Document:
    r"""Return markdown without its front matter, whose title, date, tags and other plain fields are kept beside it.

    >>> made = read_markdown("---\ntitle: On keys\ndate: 2024-03-01\ntags: [a, b]\n---\n# Keys\n\nText.\n", ())
    >>> made.title, made.time.date().isoformat(), made.metadata, made.text
    ('On keys', '2024-03-01', {'tags': ['a', 'b']}, '# Keys\n\nText.\n')
    """
    fields, body, problem = _front_matter(text)
    title, tags, time = fields.pop("title", ""), fields.pop("tags", None), _date(fields)
    metadata: dict[str, Any] = {"tags": _tags(tags)} if tags else {}
    if fields:
        metadata["front_matter"] = fields
    return Document(
        text=body,
        format="markdown",
        title=line(title if isinstance(title, str) else "") or first_heading(body),
        time=time,
        metadata=metadata,
        notes=(*notes, *problem),
    )


def first_heading(text: str) -> str:
    r"""Return the first heading outside of code, without its marks; nothing if there is none.

    >>> first_heading("```\n# a comment\n```\nReal title\n==========\n"), first_heading("## Part *two* ##")
    ('Real title', 'Part *two*')
    """
    fence = ""
    before = ""
    for each in text.split("\n"):
        if found := _FENCE.match(each):
            fence = "" if fence and found[1].startswith(fence) else fence or found[1]
        elif not fence and (heading := _heading(each, before)):
            return heading
        before = "" if fence else each
    return ""


def _heading(each: str, before: str) -> str:
    if found := _ATX.match(each):
        return line(found[1].rstrip().rstrip("#"))
    if (
        _UNDERLINE.fullmatch(each)
        and before.strip()
        and not before.lstrip().startswith((">", "-", "*", "|", "#"))
    ):
        return line(before)
    return ""


def _front_matter(text: str) -> tuple[dict[str, Any], str, tuple[str, ...]]:
    """Return the fields, the text after them, and a note if they look like fields and cannot be read."""
    if not text.startswith("---\n"):
        return {}, text, ()
    found = re.compile(r"\n(?:---|\.\.\.)[ \t]*(?:\n|$)").search(text, 3, FRONT_MATTER_CHARACTERS)
    if found is None:
        return {}, text, ()
    try:
        # Every scalar stays the text it is ("no" is a title), and merge keys, which can grow
        # without bound, mean nothing.
        # It makes texts, lists and mappings only
        value = yaml.load(text[4 : found.start() + 1], Loader=yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}, text, ("front matter that is not YAML kept as text",)
    if not isinstance(value, dict):
        return {}, text, ()
    return _plain(value), text[found.end() :].lstrip("\n"), ()


def _plain(value: dict[Any, Any]) -> dict[str, Any]:
    """Keep texts and lists of texts; what nests deeper is for the program that wrote it."""
    kept: dict[str, Any] = {}
    for key, each in list(value.items())[:FIELD_ENTRIES]:
        if isinstance(each, str):
            kept[str(key).lower()[:FIELD_CHARACTERS]] = each[:FIELD_CHARACTERS]
        elif isinstance(each, list):
            kept[str(key).lower()[:FIELD_CHARACTERS]] = [
                entry[:FIELD_CHARACTERS] for entry in each[:FIELD_ENTRIES] if isinstance(entry, str)
            ]
    return kept


def _date(fields: dict[str, Any]) -> datetime | None:
    named = next((key for key in _DATES if moment(fields.get(key))), "")
    return moment(fields.pop(named)) if named else None


def _tags(value: str | list[str]) -> list[str]:
    parts = (
        re.split(r"[,\s]+" if "," not in value else r",", value)
        if isinstance(value, str)
        else value
    )
    return list(dict.fromkeys(tag for part in parts if (tag := line(part).lstrip("#"))))
