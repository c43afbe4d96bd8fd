"""Obsidian vaults: a note is known by its file name and its aliases, and its wikilinks and tags are links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from clew.documents.readers.document import Document

VAULT_FOLDER = ".obsidian"
MOST_LINKS = 500
_LINK = re.compile(
    r"!?\[\[([^\[\]|#^\n]{1,200})(?:[#^][^\[\]|\n]{0,200})?(?:\|[^\[\]\n]{0,200})?\]\]"
)
_TAG = re.compile(r"(?<![\w/#&])#([^\W\d][\w/-]{0,80})")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def in_vault(path: Path) -> bool:
    """Tell whether a folder above a file is an Obsidian vault."""
    try:
        return any((above / VAULT_FOLDER).is_dir() for above in path.absolute().parents)
    except (OSError, ValueError):
        return False


def linked(document: Document) -> Document:
    """Return a Markdown document with its wikilinks, inline tags and aliases in its metadata.

    >>> made = linked(Document(text="See [[Pier four|the pier]] and #harbour, not `#code`.", format="markdown"))
    >>> dict(made.metadata)
    {'links': ['Pier four'], 'tags': ['harbour']}
    """
    prose = _CODE.sub(" ", document.text)
    links = list(dict.fromkeys(_target(found) for found in _LINK.finditer(prose)))[:MOST_LINKS]
    metadata: dict[str, Any] = dict(document.metadata)
    if links:
        metadata["links"] = links
        own = metadata.get("tags", [])
        tags = list(dict.fromkeys((*own, *_tags(prose))))
    else:
        tags = list(metadata.get("tags", []))
    if tags or links:
        metadata |= {"tags": tags} if tags else {}
    front = metadata.get("front_matter")
    aliases = _aliases(front) if isinstance(front, dict) else []
    if aliases:
        metadata["aliases"] = aliases
    return replace(document, metadata=metadata)


def as_note(document: Document, path: PurePath) -> Document:
    """Return a note of a vault.

    Titled by its file name, as its links name it, and with its inline tags.
    """
    made = linked(document)
    tags = list(
        dict.fromkeys((*made.metadata.get("tags", []), *_tags(_CODE.sub(" ", document.text))))
    )
    metadata = {**made.metadata, **({"tags": tags} if tags else {})}
    return replace(made, title=path.stem, metadata=metadata)


def _target(found: re.Match[str]) -> str:
    """Return the name of the note that a link leads to, without its folder."""
    return found[1].strip().rpartition("/")[2]


def _tags(prose: str) -> Iterator[str]:
    return (found[1] for found in _TAG.finditer(prose))


def _aliases(front: dict[str, Any]) -> list[str]:
    value = front.get("aliases", front.get("alias", []))
    listed = [each.strip() for each in value.split(",")] if isinstance(value, str) else value
    return [each for each in listed if isinstance(each, str) and each]
